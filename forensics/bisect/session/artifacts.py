"""The folders and links of an artifacts directory."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.bisect.runner.options import KeepEngines
from trtforensics.bisect.runner.probe import ENGINE
from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session import index_sets

if TYPE_CHECKING:
    from trtforensics.bisect.runner.probe import ProbeOutcome
    from trtforensics.bisect.search import Ask
    from trtforensics.bisect.session.history import Finished, Probe

PROBES = "probes"
FIXED = "fixed"


def folder_name(number: int, ask: Ask) -> str:
    """Return the name of a probe's folder: its number, and six hex digits of a hash of its subset and build."""
    subset = f"{index_sets.to_text(ask.active)}/{ask.build}"
    return f"{number:04d}-{hashlib.sha256(subset.encode()).hexdigest()[:6]}"


class Artifacts:
    """An artifacts directory. Every method raises OSError if a write to it fails."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def folder(self, name: str) -> Path:
        """Return a probe's folder."""
        return self.directory / PROBES / name

    def make_folder(self, probe: Probe, *, anew: bool) -> Path:
        """Return a probe's folder, ready for a run; ``anew`` removes the engine, since another build follows.

        The files of a probe that never ended are removed; the logs of a finished one stay.
        """
        folder = self.folder(probe.folder)
        if not probe.finished:
            with suppress(FileNotFoundError):
                shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if anew:
            self.drop_engine(probe)
        return folder

    def engine(self, probe: Probe) -> Path:
        """Return the path of a probe's engine, which may not exist."""
        return self.folder(probe.folder) / ENGINE

    def drop_engine(self, probe: Probe) -> None:
        """Remove a probe's engine."""
        engine = self.engine(probe)
        if engine.is_dir() and not engine.is_symlink():
            shutil.rmtree(engine)
        else:
            engine.unlink(missing_ok=True)

    def keep_engine(self, probe: Probe, keep: KeepEngines) -> None:
        """Remove a probe's engine unless it is one of those to keep."""
        bad = probe.last is not None and probe.last.verdict is Verdict.BAD
        if keep is KeepEngines.NONE or (keep is KeepEngines.BAD and not bad):
            self.drop_engine(probe)

    def note_verdict(self, probe: Probe, finished: Finished, outcome: ProbeOutcome | None) -> None:
        """Write ``verdict.json`` beside a probe's logs."""
        document = {
            "probe": probe.number,
            "active": index_sets.to_text(probe.active),
            "build_number": probe.build,
            "purpose": probe.purpose,
            **asdict(finished),
            "build": asdict(outcome.build) if outcome and outcome.build else None,
            "checks": [asdict(ended) for ended in outcome.checks] if outcome else [],
        }
        text = json.dumps(document, indent=1, ensure_ascii=False)
        (self.folder(probe.folder) / "verdict.json").write_text(
            f"{text}\n", encoding="utf-8", errors="backslashreplace"
        )

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

    def free_bytes(self) -> int:
        """Return the free bytes of the directory's disk."""
        return shutil.disk_usage(self.directory).free
