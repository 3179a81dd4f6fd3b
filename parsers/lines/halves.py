"""A large plain file read by two processes: the second half by a worker, while this one reads the first.

Any line feed is a safe cut, because everything that a line means for another is worked out afterwards from columns;
the little that the scanner carries from line to line is joined in ``Scanner.join``. The worker is a fork, which needs
no start; where there are threads, or no fork, a fresh interpreter. It sends its columns back through a pipe.
"""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from trtforensics.parsers.lines.scanner import Part, Scanner
from trtforensics.parsers.text.source import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trtforensics.parsers.text.source import Source

LEAST_BYTES = 16 << 20
"""Below this a second interpreter costs more than it saves."""

_FIRST_SHARE = 0.42
"""The worker has to send what it found, and to wait for whoever starts it."""


def middle_of(source: Source) -> int | None:
    """Return where the second half of a source would begin; None where it is better or only read in one go."""
    if _processors() < 2 or source.size is None or source.size < LEAST_BYTES:  # noqa: PLR2004
        return None
    return source.line_at(int(source.size * _FIRST_SHARE))


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def scan(source: Source, middle: int, on_part: Callable[[Source, Scanner], None]) -> Scanner:
    """Scan a source whose second half begins at ``middle``; ``on_part`` is called as the first half goes on.

    Raises:
        SourceError: the source cannot be read on.
    """
    scanner = Scanner()
    with _worker(source.path, middle) as worker:
        for window in source.windows(end=middle):
            scanner.feed(window)
            on_part(source, scanner)
        scanner.forget()
        source.skip_rest()
        part = worker()
    source.count_skipped(len(part.line_starts))
    scanner.join(part)
    return scanner


@contextmanager
def _worker(path: str, begin: int) -> Iterator[Callable[[], Part]]:
    """Start a worker on a file from ``begin`` on; gives a function that waits for what it found.

    A worker that dies, for want of memory say, is replaced by reading its part here.
    """
    with (_forked if _may_fork() else _started)(path, begin) as pipe:

        def result() -> Part:
            try:
                found: Part = pickle.load(pipe)  # noqa: S301 - our own process wrote it
            except (EOFError, pickle.UnpicklingError):
                return _scan_from(path, begin)
            return found

        yield result


def _may_fork() -> bool:
    """Whether a fork is safe: another thread may hold a lock at that moment, which nobody would give back."""
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


def _scan_from(path: str, begin: int) -> Part:
    scanner = Scanner()
    with open_source(path) as source:
        for window in source.windows(begin=begin):
            scanner.feed(window)
    return scanner.part()


if __name__ == "__main__":
    _send(sys.argv[1], int(sys.argv[2]), sys.stdout.buffer)
