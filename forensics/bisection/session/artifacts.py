"""The folders, links and engines of an artifacts directory, and its lock, for one run at a time."""

import fcntl
import os
import platform
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trtforensics.bisection.runner.placeholders import mentions
from trtforensics.bisection.runner.probe import ENGINE
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search import Verdict
from trtforensics.bisection.session.history import Probe, ProbeEnd
from trtforensics.bisection.session.job import json_bytes
from trtforensics.console import own_files
from trtforensics.console.output import explained, is_temporary, write_bytes
from trtforensics.errors import SourceError, UsageError

PROBES = "probes"
FIXED = "fixed"
RESULT = "result.json"
LOCK = ".lock"
PAUSED = "paused"
"""A file whose presence keeps a run from starting probes."""


class Artifacts:
    """An artifacts directory. Every method raises OSError if a write to it fails.

    It keeps the engines that ``--keep-engines`` names, and in a run with noisy outcomes all: each may be checked again.
    """

    def __init__(self, directory: Path, options: RunOptions) -> None:
        self.directory = directory
        self._options = options
        self._judged: dict[int, tuple[Probe, Verdict]] = {}
        own_files.owned(directory)
        for name in (PROBES, FIXED, RESULT, *(verdict.value for verdict in Verdict)):
            own_files.require_no_link(directory / name)

    def folder(self, name: str) -> Path:
        """Return a probe's folder."""
        folder = self.directory / PROBES / name
        own_files.require_no_link(folder)
        return folder

    def settle(self, probes: Iterable[Probe], file: str) -> None:
        """Remove what a run that was cut off left half done, by the journal, and make the missing links to ``file``."""
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
        """Return a probe's folder, ready for a run; ``anew`` removes engine and links, since another build follows.

        The files of a probe that never ended are removed; the logs of a finished one stay.
        """
        folder = self.folder(probe.folder)
        if anew and not probe.finished:
            with suppress(FileNotFoundError):
                shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if anew:
            self.drop_engine(probe)
            for link in filter(Path.is_symlink, folder.iterdir()):
                link.unlink()
        return folder

    def engine(self, probe: Probe) -> Path:
        """Return the path of a probe's engine, which may not exist."""
        return self.folder(probe.folder) / ENGINE

    def engine_bytes(self, probe: Probe) -> int | None:
        """Return the size of a probe's engine; None if there is none."""
        return own_files.size_of(self.engine(probe))

    def can_check(self, probe: Probe) -> bool:
        """Whether another check can use a probe's build: the build ended well, and its engine is there and whole."""
        made = probe.made
        if made is None or made.decides or not reads_build(self._options.check):
            return False
        return self.engine_bytes(probe) == made.engine_bytes

    def settle_engine(self, probe: Probe, verdict: Verdict) -> None:
        """Flush a probe's engine to the disk if it stays; else remove it, before the journal says that it is there."""
        engine = self.engine(probe)
        if self._options.confidence is None and not self._is_kept(verdict):
            self.drop_engine(probe)
        elif own_files.is_there(engine):
            own_files.flush_tree(engine)
            own_files.flush_folder(engine.parent)
            own_files.flush_folder(engine.parent.parent)

    def note(self, probe: Probe, verdict: Verdict) -> None:
        """Take note of a probe's verdict."""
        self._judged[probe.number] = (probe, verdict)

    def drop_engines(self) -> None:
        """Remove all engines that ``--keep-engines`` does not keep."""
        for probe, verdict in self._judged.values():
            if not self._is_kept(verdict):
                self.drop_engine(probe)

    def _is_kept(self, verdict: Verdict) -> bool:
        keep = self._options.keep_engines
        return keep == "all" or (keep == "bad" and verdict is Verdict.BAD)

    def drop_engine(self, probe: Probe) -> None:
        """Remove a probe's engine."""
        engine = self.engine(probe)
        if engine.is_dir() and not engine.is_symlink():
            shutil.rmtree(engine)
        else:
            engine.unlink(missing_ok=True)

    def note_verdict(self, end: ProbeEnd) -> None:
        """Write ``verdict.json`` beside a probe's logs."""
        write_bytes(self.folder(end.probe.folder) / "verdict.json", json_bytes(end.document("verdict")))

    def link(self, probe: Probe, verdict: Verdict, file: str) -> None:
        """Link a probe's file, if it exists, into the folder of its verdict, and into no other."""
        target = Path("..", PROBES, probe.folder, file)
        name = f"{probe.folder}{target.suffix}"
        for each in Verdict:
            link = self.directory / each.value / name
            own_files.require_no_link(link.parent)
            if each is not verdict:
                link.unlink(missing_ok=True)
            elif not link.is_symlink() and own_files.is_there(self.folder(probe.folder) / file):
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(target)


def reads_build(check: str | None) -> bool:
    """Whether a check reads what the build left in the probe's folder."""
    return check is not None and (mentions(check, ENGINE) or mentions(check, "dir"))


def is_paused(directory: Path) -> bool:
    """Whether runs on a directory wait before their next probe."""
    return os.path.lexists(directory / PAUSED)


def set_paused(directory: Path, *, paused: bool) -> None:
    """Let runs on a directory wait before their next probe, or go on."""
    path = directory / PAUSED
    with explained(str(path)):
        if paused:
            os.close(own_files.open_own(path, os.O_WRONLY | os.O_CREAT))
        else:
            path.unlink(missing_ok=True)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the directory's lock; meanwhile the lock file names the holder.

    Raises:
        UsageError: another process holds it.
        OutputError: the directory cannot be written to.
    """
    path = directory / LOCK
    with explained(str(path)):
        descriptor = own_files.open_own(path, os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = holder_of(directory) or "another process"
            raise UsageError(str(directory), f"is in use by {holder}", "Wait for it, or name another one") from error
        with explained(str(path)):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} on {platform.node()}\n".encode(), 0)
        yield
        with suppress(OSError):  # the name only informs readers; closing the file releases the lock
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def holder_of(directory: Path) -> str:
    """Return which process works on a directory, or ""; one on another machine is taken to be alive."""
    try:
        text = own_files.read_own(directory / LOCK).decode().strip()
    except (FileNotFoundError, SourceError, UnicodeDecodeError):
        return ""
    process, _, host = text.removeprefix("process ").partition(" on ")
    gone = host == platform.node() and process.isdecimal() and not Path("/proc", process).exists()
    return "" if gone else text
