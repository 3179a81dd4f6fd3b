"""One command through ``/bin/sh``: its own session, no input, a timeout, output into files, no process left running."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import ExitStack
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from trtforensics.bisect.runner.capture import Capture
from trtforensics.bisect.runner.leftovers import kill_leftovers, signal_group
from trtforensics.bisect.runner.room import RoomWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    Halt = Callable[[], "Urgency"]

GRACE_S = 3.0
"""Time for a command to end after SIGINT, before SIGTERM, and again before SIGKILL."""

_TICK_S = 0.05
_LONGEST_TICK_S = 1.0
"""A longer time between two looks at a command is one in which this process was stopped; the timeout has a pause then.
"""

_CHUNK = 1 << 18


class Urgency(IntEnum):
    """Whether a command may go on, should end, or must end at once."""

    GO_ON = 0
    END = 1
    NOW = 2


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    ``status`` is its exit status, or minus the number of the signal that killed it. ``left_behind`` counts the
    processes that outlived it and were killed; ``output_bytes`` counts all its output. ``least_free`` is the least room
    on the disks that it writes to while it ran, in bytes; None: not looked at.
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
    ``cwd`` is its working directory. Without ``errors``, standard error goes into ``output``. ``timeout`` is in
    seconds, ``limit`` in bytes for each file.
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
    """Run a command to its end; none of its processes runs on afterwards.

    Raises:
        OSError: its output cannot be written, to a full disk for example; the command is killed then.
    """
    begin = time.monotonic()
    with ExitStack() as files:
        captures = [_capture(path, command.limit, files) for path in (command.output, command.errors) if path]
        process = subprocess.Popen(  # noqa: S603 - running the user's command is what this is for
            ["/bin/sh", "-c", command.line],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if command.errors else subprocess.STDOUT,
            start_new_session=True,
            cwd=command.cwd,
            env=dict(command.environment),
        )
        with process:
            room = RoomWatch(command.output.parent, command.environment)
            watch = _Watch(process, captures, command.timeout, halt, room)
            try:
                watch.follow()
            finally:
                if process.poll() is None:
                    signal_group(process.pid, signal.SIGKILL)
                    process.wait()
                left_behind = kill_leftovers(process.pid, os.fsencode(command.mark))
            watch.drain()
            room.look()
    return Ended(
        status=process.returncode,
        seconds=time.monotonic() - begin,
        output_bytes=sum(capture.bytes for capture in captures),
        timed_out=watch.timed_out,
        stopped=watch.stopped,
        left_behind=left_behind,
        least_free=room.least,
    )


def _capture(path: Path, limit: int, files: ExitStack) -> Capture:
    capture = Capture(path, limit)
    files.callback(capture.close)
    return capture


class _Watch:
    """Moves a command's output into its files, and ends the command at its timeout or when the run stops."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        captures: Sequence[Capture],
        timeout: float | None,
        halt: Halt,
        room: RoomWatch,
    ) -> None:
        self._process = process
        self._captures = captures
        self._halt = halt
        self._room = room
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
        """Return when the command has ended."""
        while self._process.poll() is None:
            self._attend()
            if self._selector.get_map():
                for key, _ in self._selector.select(_TICK_S):
                    self._move(key)
            else:
                self._wait()

    def drain(self) -> None:
        """Move what the pipes still hold; no process writes to them any more."""
        for key in list(self._selector.get_map().values()):
            while self._move(key):
                pass
        self._selector.close()
        for capture in self._captures:
            capture.finish()

    def _wait(self) -> None:
        try:
            self._process.wait(_TICK_S)
        except subprocess.TimeoutExpired:
            return

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
        self._room.look_now_and_then()
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
