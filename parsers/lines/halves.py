"""Reads a large plain file with two processes: a worker reads the second half while this process reads the first.

The worker is a fork, which needs no start. Where a fork is not safe or not there, it is a fresh interpreter. It sends
what it read back through a pipe, and ``ScannedLines.join`` puts both halves together.
"""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.source import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trtforensics.parsers.lines.scanned import ScannedLines
    from trtforensics.parsers.text.source import Source

LEAST_BYTES = 16 << 20
"""Below this a second interpreter costs more than it saves."""

_FIRST_SHARE = 0.42
"""The worker reads less: it starts later, and has to send what it read."""


def middle_of(source: Source) -> int | None:
    """Return where the second half of a source would begin; None where the source is read in one go."""
    if _processors() < 2 or source.size is None or source.size < LEAST_BYTES:  # noqa: PLR2004
        return None
    return source.line_at(int(source.size * _FIRST_SHARE))


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def scan(source: Source, middle: int, on_part: Callable[[Source, ScannedLines], None]) -> ScannedLines:
    """Scan a source whose second half begins at ``middle``; ``on_part`` is called as the first half goes on.

    Raises:
        SourceError: the source cannot be read on.
    """
    with _worker(source.path, middle) as worker:
        scanned = _scan_first(source, middle, on_part)
        source.skip_rest()
        later = worker()
    source.count_skipped(len(later.line_starts))
    scanned.join(later)
    return scanned


def _scan_first(source: Source, middle: int, on_part: Callable[[Source, ScannedLines], None]) -> ScannedLines:
    scanner = Scanner()
    for window in source.windows(end=middle):
        scanner.feed(window)
        on_part(source, scanner.scanned)
    return scanner.scanned


@contextmanager
def _worker(path: str, begin: int) -> Iterator[Callable[[], ScannedLines]]:
    """Start a worker on a file from ``begin`` on; give a function that waits for its result.

    Where the worker dies, for want of memory say, this process reads the part.
    """
    with (_forked if _may_fork() else _started)(path, begin) as pipe:

        def result() -> ScannedLines:
            try:
                found: ScannedLines = pickle.load(pipe)  # noqa: S301 - our own process wrote it
            except (EOFError, pickle.UnpicklingError):
                return _scan_from(path, begin)
            return found

        yield result


def _may_fork() -> bool:
    """Whether a fork is safe: a lock that another thread holds would never be released in the child."""
    import threading  # noqa: PLC0415 - only a large file is read by two

    return sys.platform == "linux" and threading.active_count() == 1


@contextmanager
def _forked(path: str, begin: int) -> Iterator[BinaryIO]:
    import signal  # noqa: PLC0415 - only a large file is read by two

    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.close(reading)
            _send(path, begin, os.fdopen(writing, "wb"))
        finally:
            os._exit(0)  # whatever went wrong: the parent sees the pipe close and reads the part itself
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as pipe:
            yield pipe
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


@contextmanager
def _started(path: str, begin: int) -> Iterator[BinaryIO]:
    import subprocess  # noqa: PLC0415 - a fork, which is the rule, does without

    command = [sys.executable, "-m", "trtforensics.parsers.lines.halves", path, str(begin)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # numpy's linear algebra, which is not used, starts none
    with subprocess.Popen(  # noqa: S603 - our own interpreter and module
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as process:
        try:
            yield cast("BinaryIO", process.stdout)
        finally:
            process.kill()


def _send(path: str, begin: int, pipe: BinaryIO) -> None:
    pickle.dump(_scan_from(path, begin), pipe, protocol=5)
    pipe.flush()


def _scan_from(path: str, begin: int) -> ScannedLines:
    scanner = Scanner()
    with open_source(path) as source:
        for window in source.windows(begin=begin):
            scanner.feed(window)
    return scanner.scanned


if __name__ == "__main__":
    _send(sys.argv[1], int(sys.argv[2]), sys.stdout.buffer)
