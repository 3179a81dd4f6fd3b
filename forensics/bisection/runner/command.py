"""One command through ``/bin/sh``: its own session, no input, a timeout, output into files, no process left running.

The space on its disks is looked at: a command that fails without it says nothing about the items.
"""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from trtforensics.bisection.runner.leftovers import kill_leftovers
from trtforensics.console.own_files import open_own
from trtforensics.console.processes import StartedProcess, signal_group

DEFAULT_NEED = 64 << 20
"""Bytes that must be free where probes are kept."""

_FULL = 1 << 20
"""A disk of temporary files with fewer free bytes counts as full; on some systems it is always small."""

_PERIOD_S = 0.2


def free_bytes(folder: Path) -> int:
    """Return the bytes that may still be written to a folder's disk; none if it can hold no more files."""
    disk = os.statvfs(folder)
    if disk.f_files and not disk.f_favail:
        return 0
    return disk.f_bavail * disk.f_frsize


def said_bytes(size: int) -> str:
    """Return a size as an error says it: in MiB, a small one in KiB."""
    return f"{size / (1 << 20):,.0f} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


class DiskWatch:
    """The least free space seen while a command runs: ``least`` in bytes."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._temporary = Path(environment.get("TMPDIR") or "/tmp")  # noqa: S108 - where commands put theirs
        self._due = 0.0
        self.least = sys.maxsize
        self.look()

    def look(self, *, if_due: bool = False) -> None:
        """Look at the disks; ``if_due``: only if the last look is long enough ago."""
        if if_due and time.monotonic() < self._due:
            return
        self.least = min(self.least, free_bytes(self._folder))
        with suppress(OSError):  # there is no such folder: the command puts its files elsewhere
            free = free_bytes(self._temporary)
            self.least = min(self.least, free) if free < _FULL else self.least
        self._due = time.monotonic() + _PERIOD_S


Halt = Callable[[], "Urgency"]

GRACE_S = 3.0
"""Time for a command to end after SIGINT, before SIGTERM, and again before SIGKILL."""

_TICK_S = 0.05
_LONGEST_TICK_S = 1.0
"""A longer time between two looks at a command is one in which this process was stopped: the timeout pauses."""

_CHUNK = 1 << 18
TAIL = 1 << 20
"""Bytes kept of the end of an output that is longer than its limit."""


class Urgency(IntEnum):
    """Whether a command may go on, should end, or must end at once."""

    GO_ON = 0
    END = 1
    NOW = 2


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    ``status`` is its exit status, or minus the number of the signal that killed it. ``left_behind`` counts the
    processes that outlived it and were killed; ``least_free`` is the least free space seen on its disks, in bytes.
    """

    status: int
    seconds: float
    output_bytes: int
    timed_out: bool = False
    stopped: bool = False
    left_behind: int = 0
    least_free: int | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A command line and how to run it.

    ``environment`` is the whole environment; only this command's processes have its entry ``mark`` (``NAME=value``).
    Without ``errors``, standard error goes into ``output``. ``timeout`` is in seconds, ``limit`` in bytes for each
    file.
    """

    line: str
    cwd: str
    environment: Mapping[str, str]
    mark: str
    output: Path
    errors: Path | None
    timeout: float | None
    limit: int


def run(command: Command, halt: Halt) -> Ended:
    """Run a command to its end; none of its processes runs on afterwards."""
    begin = time.monotonic()
    with ExitStack() as files:
        paths = [path for path in (command.output, command.errors) if path]
        captures = [files.enter_context(closing(Capture(path, command.limit))) for path in paths]
        with _Shell(command) as process:
            try:
                disk = DiskWatch(command.output.parent, command.environment)
                watch = _Watch(process, captures, command.timeout, halt, disk)
                watch.follow()
            finally:
                process.end()
            watch.drain()
            disk.look()
    return Ended(
        status=process.returncode,
        seconds=time.monotonic() - begin,
        output_bytes=sum(capture.bytes for capture in captures),
        timed_out=watch.timed_out,
        stopped=watch.stopped,
        left_behind=process.left_behind,
        least_free=disk.least,
    )


class _Shell(StartedProcess):
    """The shell of a command; its end is that of all that it started, a start that fails included."""

    def __init__(self, command: Command) -> None:
        self._mark = os.fsencode(command.mark)
        self.left_behind = 0
        super().__init__(
            ["/bin/sh", "-c", command.line],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if command.errors else subprocess.STDOUT,
            cwd=command.cwd,
            env=dict(command.environment),
            start_new_session=True,
        )

    def end(self) -> None:
        super().end()
        if self.pid is not None:
            self.left_behind = kill_leftovers(self.pid, self._mark)


class Capture:
    """A command's output in a file of at most ``limit`` bytes: its beginning and its last ``TAIL`` bytes.

    The file says how much was left out between them. It is unbuffered, so that readers see the output so far.
    """

    def __init__(self, path: Path, limit: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        self._descriptor = open_own(path, flags)
        self._open = max(limit - TAIL, 0)
        self._tail: deque[bytes] = deque()
        self._kept = 0
        self._left_out = 0
        self.bytes = 0

    def write(self, data: bytes) -> None:
        """Write some output."""
        self.bytes += len(data)
        now, later = data[: self._open], data[self._open :]
        self._open -= len(now)
        write_whole(self._descriptor, now)
        if later:
            self._tail.append(later)
            self._kept += len(later)
            while self._kept - len(self._tail[0]) >= TAIL:
                gone = self._tail.popleft()
                self._kept -= len(gone)
                self._left_out += len(gone)

    def finish(self) -> None:
        """Write what was kept of the end."""
        if self._left_out:
            notice = f"\n[trtforensics: {self._left_out:,} bytes of output left out here]\n"
            write_whole(self._descriptor, notice.encode())
        for chunk in self._tail:
            write_whole(self._descriptor, chunk)
        self._tail.clear()

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def write_whole(descriptor: int, data: bytes) -> None:
    """Write all of some bytes: the system may take a part of them at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class _Watch:
    """Moves a command's output into its files, and ends the command at its timeout or when the run stops."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        captures: Sequence[Capture],
        timeout: float | None,
        halt: Halt,
        disk: DiskWatch,
    ) -> None:
        self._process = process
        self._captures = captures
        self._halt = halt
        self._disk = disk
        self._left = timeout or float("inf")
        self._looked = time.monotonic()
        self._steps = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
        self._next_step = 0.0
        self._selector = selectors.DefaultSelector()
        self.timed_out = False
        self.stopped = False
        for stream, capture in zip((process.stdout, process.stderr), captures, strict=False):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, capture)

    def follow(self) -> None:
        while self._process.poll() is None:
            self._attend()
            if self._selector.get_map():
                for key, _ in self._selector.select(_TICK_S):
                    self._move(key)
            else:
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_TICK_S)

    def drain(self) -> None:
        """Move what the pipes still hold; no process writes to them any more."""
        for key in list(self._selector.get_map().values()):
            while self._move(key):
                pass
        self._selector.close()
        for capture in self._captures:
            capture.finish()

    def _move(self, key: selectors.SelectorKey) -> bool:
        """Move what a pipe holds; return False if it is empty or closed."""
        try:
            data = os.read(key.fd, _CHUNK)
        except BlockingIOError:
            return False
        if data:
            key.data.write(data)
        else:
            self._selector.unregister(key.fileobj)
        return bool(data)

    def _attend(self) -> None:
        """Send the next signal if the command should have ended by now."""
        now = time.monotonic()
        self._left -= min(now - self._looked, _LONGEST_TICK_S)
        self._looked = now
        self._disk.look(if_due=True)
        urgency = self._halt()
        if self._left <= 0 and not self.stopped:
            self.timed_out = True
        if urgency and not self.timed_out:
            self.stopped = True
        if urgency is Urgency.NOW and self._steps:
            del self._steps[:-1]
            self._next_step = now
        if (self.stopped or self.timed_out) and self._steps and now >= self._next_step:
            signal_group(self._process.pid, self._steps.pop(0))
            self._next_step = now + GRACE_S
