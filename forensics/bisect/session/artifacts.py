"""The folders and links of an artifacts directory."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.bisect.runner.probe import ENGINE
from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session import index_sets
from trtforensics.bisect.session.job import json_bytes
from trtforensics.console.output import is_temporary, write_bytes
from trtforensics.console.own_files import flush_folder, flush_tree, size_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.bisect.runner.probe import ProbeOutcome
    from trtforensics.bisect.search import Ask
    from trtforensics.bisect.session.history import Probe

PROBES = "probes"
FIXED = "fixed"


class Artifacts:
    """An artifacts directory. Every method raises OSError if a write to it fails."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def folder(self, name: str) -> Path:
        """Return a probe's folder."""
        return self.directory / PROBES / name

    def settle(self, probes: Iterable[Probe], file: str) -> None:
        """Bring the directory in line with its journal after a run that was cut off anywhere.

        Engines of builds that did not end and temporary files are removed; links to ``file`` are made where they are
        missing.
        """
        folders = [self.directory, self.directory / FIXED]
        for probe in probes:
            if probe.building:
                self.drop_engine(probe)
            if probe.running:
                folders.append(self.folder(probe.folder))
            if probe.last is not None:
                self.link(probe, probe.last.verdict, file)
        for folder in folders:
            for path in folder.iterdir() if folder.is_dir() else ():
                if is_temporary(path.name):
                    path.unlink()

    def make_folder(self, probe: Probe, *, anew: bool) -> Path:
        """Return a probe's folder, ready for a run; ``anew`` removes the engine, since another build follows.

        The files of a probe that never ended are removed; the logs of a finished one stay.
        """
        folder = self.folder(probe.folder)
        if anew and not probe.finished:
            with suppress(FileNotFoundError):
                shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if anew:
            self.drop_engine(probe)
        return folder

    def engine(self, probe: Probe) -> Path:
        """Return the path of a probe's engine, which may not exist."""
        return self.folder(probe.folder) / ENGINE

    def engine_bytes(self, probe: Probe) -> int | None:
        """Return the size of a probe's engine; None if there is none."""
        return size_of(self.engine(probe))

    def flush_engine(self, probe: Probe) -> None:
        """Flush a probe's engine to the disk, with the folders that lead to it."""
        engine = self.engine(probe)
        if engine.exists():
            flush_tree(engine)
            flush_folder(engine.parent)
            flush_folder(engine.parent.parent)

    def drop_engine(self, probe: Probe) -> None:
        """Remove a probe's engine."""
        engine = self.engine(probe)
        if engine.is_dir() and not engine.is_symlink():
            shutil.rmtree(engine)
        else:
            engine.unlink(missing_ok=True)

    def note_verdict(self, probe: Probe, ask: Ask, outcome: ProbeOutcome, judge: str) -> None:
        """Write ``verdict.json`` beside a probe's logs."""
        document = {
            "probe": probe.number,
            "active": index_sets.to_text(probe.active),
            "build_number": probe.build,
            "check": ask.check,
            "purpose": probe.purpose,
            "verdict": outcome.verdict,
            "reason": outcome.reason,
            "judge": judge,
            "seconds": round(outcome.seconds, 6),
            "build": asdict(outcome.build) if outcome.build else None,
            "checks": [asdict(ended) for ended in outcome.checks],
        }
        write_bytes(self.folder(probe.folder) / "verdict.json", json_bytes(document))

    def link(self, probe: Probe, verdict: Verdict, file: str) -> None:
        """Link a probe's file, if it exists, into the folder of its verdict, and into no other."""
        target = Path("..", PROBES, probe.folder, file)
        name = f"{probe.folder}{target.suffix}"
        for each in Verdict:
            link = self.directory / each.value / name
            if each is not verdict:
                link.unlink(missing_ok=True)
            elif not link.is_symlink() and (self.folder(probe.folder) / file).exists():
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(target)
