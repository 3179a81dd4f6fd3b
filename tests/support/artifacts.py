"""An artifacts directory written by hand."""

from __future__ import annotations

import json
import os
import platform
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tests.support.journals import made
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.session.artifacts import LOCK
from trtforensics.bisection.session.history import folder_name, indexes_of
from trtforensics.bisection.session.job import Job, write_job
from trtforensics.bisection.session.journal import Journal
from trtforensics.bisection.session.lever import DescribedItem
from trtforensics.bisection.session.view import view_directory

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.bisection.search import Verdict
    from trtforensics.bisection.session.view import DirectoryView


class Directory:
    """An artifacts directory written by hand, and its clock; ``names`` are the probes' folders."""

    def __init__(self, path: Path) -> None:
        self.path = path
        sides = {"good": {"tactic": "0x1"}, "bad": {"tactic": "0x2"}}
        items = [DescribedItem(f"layer{n}", sides=sides) for n in range(8)]
        job = Job("tactics", items, "content", "make", {})
        write_job(path, job, RunOptions(check="try"))
        self._key = job.key()
        self._began = ""
        self.names: list[str] = []

    def start(self, active: str, suspects: str) -> Path:
        """Begin a probe with a log."""
        number = len(self.names) + 1
        name = folder_name(number, indexes_of(active, 8), 0)
        self.names.append(name)
        folder = self.path / "probes" / name
        folder.mkdir(parents=True)
        (folder / "build.log").write_text(f"log of {name}\n\x1b[31mred\n")
        (folder / "check.log").write_text(f"check of {name}\n")
        asked = {"active": active, "suspects": suspects, "build": 0, "check": 0, "purpose": "narrow", "builds": True}
        self._write("start", **asked)
        return folder

    def hold(self) -> None:
        """Let this process work on the directory, as its lock says."""
        (self.path / LOCK).write_text(f"process {os.getpid()} on {platform.node()}\n")

    def answer(self, **fields: object) -> None:
        """Write ``result.json``."""
        whole = {"status": "inconclusive", "why": "the search has not ended", "culprits": [], "suspects": []}
        (self.path / "result.json").write_text(json.dumps({**whole, **fields}))

    def end(self, verdict: Verdict, reason: str = "check: exit status 1") -> None:
        """End the last probe."""
        judged = {"verdict": verdict, "reason": reason, "judge": "try", "check": 0, "seconds": 2.5}
        self._write("end", **judged, timed_out=False, timeout=None, made=made(), log_checks=1)

    def _write(self, event: str, **fields: object) -> None:
        with Journal(self.path, self._key) as journal:
            journal.write(event, probe=len(self.names), **fields)

    def look(self) -> DirectoryView:
        """Read the directory."""
        seen = view_directory(self.path)
        self._began = self._began or seen.probes[0].began
        return seen

    def now(self) -> datetime:
        """Return a moment 25 s after the first probe began."""
        began = self._began or self.look().probes[0].began
        return datetime.fromisoformat(began) + timedelta(seconds=25)
