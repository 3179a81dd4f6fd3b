"""An artifacts directory written by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

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
    """An artifacts directory written by hand, and the session on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        items = [{"item": f"layer{n}", "good": {"tactic": "0x1"}, "bad": {"tactic": "0x2"}} for n in range(8)]
        job = {"schema": 1, "kind": "bisection", "mode": "tactics", "build": "make", "check": "try", "items": items}
        (path / "job.json").write_text(json.dumps(job))
        self.probes = 0

    def event(self, **fields: object) -> None:
        """Append to the journal."""
        with (self.path / "journal.jsonl").open("a") as journal:
            journal.write(json.dumps({"at": "2026-11-21T10:00:00+00:00", **fields}) + "\n")

    def start(self, active: str, suspects: str) -> Path:
        """Begin a probe with a log."""
        self.probes += 1
        name = f"{self.probes:04d}-abcdef"
        folder = self.path / "probes" / name
        folder.mkdir(parents=True)
        (folder / "build.log").write_text(f"log of {name}\n\x1b[31mred\n")
        (folder / "check.log").write_text(f"check of {name}\n")
        fields = {"folder": name, "active": active, "suspects": suspects, "build": 0, "check": 0, "purpose": "narrow"}
        self.event(event="start", probe=self.probes, **fields)
        return folder

    def end(self, verdict: Verdict, reason: str = "check: exit status 1") -> None:
        """End the last probe."""
        judged = {"verdict": verdict, "reason": reason, "judge": "try", "check": 0, "seconds": 2.5}
        flags = {"timed_out": False, "timeout": None, "build_failed": False, "built": True, "log_checks": 1}
        self.event(event="end", probe=self.probes, **judged, **flags)

    def look(self) -> DirectoryView:
        """Read the directory."""
        return view_directory(self.path)

    def log(self, path: Path) -> Lines:
        """Read a log."""
        return Lines(path.read_text())
