"""An artifacts directory written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.journals import made
from trtforensics.bisect.runner.options import RunOptions
from trtforensics.bisect.session import index_sets
from trtforensics.bisect.session.history import folder_name
from trtforensics.bisect.session.job import Job, write_job
from trtforensics.bisect.session.journal import Journal
from trtforensics.bisect.session.view import view_directory

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.bisect.search import Verdict
    from trtforensics.bisect.session.view import DirectoryView


class Lines:
    """A log as a list of lines."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        """Return a line."""
        return self._lines[number - 1]

    def find(self, needle: str, start: int, *, backwards: bool = False) -> int | None:
        """Find a line."""
        numbers = range(start, 0, -1) if backwards else range(start, len(self) + 1)
        return next((number for number in numbers if needle in self.line(number)), None)


class Directory:
    """An artifacts directory written by hand, and the session on it; ``names`` are the probes' folders."""

    def __init__(self, path: Path) -> None:
        self.path = path
        items: list[dict[str, object]] = [
            {"item": f"layer{n}", "good": {"tactic": "0x1"}, "bad": {"tactic": "0x2"}} for n in range(8)
        ]
        job = Job("tactics", items, "content", "make", {})
        write_job(path, job, RunOptions(check="try"))
        self._key = job.key()
        self.names: list[str] = []

    def start(self, active: str, suspects: str) -> Path:
        """Begin a probe with a log."""
        number = len(self.names) + 1
        name = folder_name(number, index_sets.from_text(active, 8), 0)
        self.names.append(name)
        folder = self.path / "probes" / name
        folder.mkdir(parents=True)
        (folder / "build.log").write_text(f"log of {name}\n\x1b[31mred\n")
        (folder / "check.log").write_text(f"check of {name}\n")
        asked = {"active": active, "suspects": suspects, "build": 0, "check": 0, "purpose": "narrow", "builds": True}
        self._write("start", **asked)
        return folder

    def end(self, verdict: Verdict, reason: str = "check: exit status 1") -> None:
        """End the last probe."""
        judged = {"verdict": verdict, "reason": reason, "judge": "try", "check": 0, "seconds": 2.5}
        self._write("end", **judged, timed_out=False, timeout=None, made=made(), log_checks=1)

    def _write(self, event: str, **fields: object) -> None:
        with Journal(self.path, self._key) as journal:
            journal.write(event, probe=len(self.names), **fields)

    def look(self) -> DirectoryView:
        """Read the directory."""
        return view_directory(self.path)

    def log(self, path: Path) -> Lines:
        """Read a log."""
        return Lines(path.read_text())
