"""Scans lines in a further process: the second half of a large file, or all windows of lines while a user types.

The process that reads the second half is a fork, which needs no start. Where a fork is not safe or not there, and for
windows, it is a fresh interpreter. It sends back what the lines hold, and ``ScannedLines.join`` puts halves together.
"""

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import BinaryIO, cast

from trtforensics.errors import SourceError
from trtforensics.parsers.lines.dialects import prefix_of
from trtforensics.parsers.lines.events import ScannedLines, give_back
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.source import Source, open_source
from trtforensics.parsers.text.windows import Window

LEAST_BYTES = 16 << 20
"""Below this a further process costs more than it saves."""
_FIRST_SHARE = 0.49
"""What makes both end at the same time, by measurements."""


class ScanningProcess:
    """A further process that scans lines; see :func:`scanning_process`."""

    def __init__(self, path: str, windows: BinaryIO | None, result: BinaryIO) -> None:
        self._path = path
        self._windows = windows
        self._result = result

    def feed(self, window: Window) -> None:
        """Hand over a window; return once the process has taken nearly all of it.

        Raises:
            SourceError: The process has ended.
        """
        parts = window.first_line, window.offset, bytes(window.data), window.wrapping
        try:
            pickle.dump(parts, cast("BinaryIO", self._windows), protocol=5)
        except BrokenPipeError as error:
            raise self._died() from error

    def scanned(self) -> ScannedLines:
        """Wait until all lines are scanned, and return what they hold; called once.

        Raises:
            SourceError: The process has ended.
        """
        try:
            if self._windows is not None:
                self._windows.close()
            scanned: ScannedLines = pickle.load(self._result)  # noqa: S301 - our own process wrote it
        except (BrokenPipeError, EOFError, pickle.UnpicklingError) as error:
            raise self._died() from error
        return scanned

    def _died(self) -> SourceError:
        what = "the process that reads it has ended too early"
        return SourceError(self._path, what, "Perhaps there is not enough memory; free some and open it again")


def scanning_process(path: str, begin: int | None = None) -> AbstractContextManager[ScanningProcess]:
    """Start a process that scans a file from ``begin`` on, or the windows of ``path`` that it is fed; end it at last.

    Raises:
        OSError: The process cannot be started.
    """
    return _forked(path, begin) if begin is not None and _may_fork() else _started(path, begin)


def _may_fork() -> bool:
    """Whether a fork is safe: a lock that another thread holds would never be released in the child."""
    import threading  # noqa: PLC0415 - only a large file is read by two

    return sys.platform == "linux" and threading.active_count() == 1


@contextmanager
def _forked(path: str, begin: int) -> Iterator[ScanningProcess]:
    import signal  # noqa: PLC0415 - only a large file is read by two

    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.close(reading)
            _send(_file_windows(path, begin), os.fdopen(writing, "wb"))
        finally:
            os._exit(0)  # whatever went wrong: the parent sees the pipe close
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as result:
            yield ScanningProcess(path, None, result)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


@contextmanager
def _started(path: str, begin: int | None) -> Iterator[ScanningProcess]:
    import subprocess  # noqa: PLC0415 - a fork, which is the rule, does without

    from trtforensics.console.processes import StartedProcess  # noqa: PLC0415 - the same

    command = [sys.executable, "-m", "trtforensics.parsers.lines.processes"]
    process = StartedProcess(
        command if begin is None else [*command, path, str(begin)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # numpy's linear algebra, which is not used, starts no threads
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a screen may be shown where it would be printed
        start_new_session=True,  # a Ctrl+C in the terminal is for this process
    )
    windows, result = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
    try:
        yield ScanningProcess(path, windows, result)
    finally:
        process.end()
        result.close()
        with suppress(BrokenPipeError):  # the last window was not taken any more
            windows.close()


def _send(windows: Iterable[Window], pipe: BinaryIO) -> None:
    pickler = pickle.Pickler(pipe, protocol=5)
    pickler.fast = True  # no column is shared; remembering each would keep a copy of all on both sides until the end
    pickler.dump(scan(windows))
    pipe.flush()


def scan(windows: Iterable[Window], on_window: Callable[[ScannedLines], None] = lambda _: None) -> ScannedLines:
    """Scan windows in this process; ``on_window`` is called after each."""
    scanner = Scanner()
    for window in windows:
        scanner.feed(window)
        on_window(scanner.scanned)
    scanned = scanner.scanned
    del scanner
    give_back(len(scanned.line_starts))
    return scanned


def _file_windows(path: str, begin: int) -> Iterator[Window]:
    with open_source(path) as source:
        yield from source.windows(begin=begin)


def _sent_windows(pipe: BinaryIO) -> Iterator[Window]:
    with suppress(EOFError):
        while True:
            yield Window(*pickle.load(pipe))  # noqa: S301 - our own process wrote it


def middle_of(source: Source) -> int | None:
    """Return where the second half of a source would begin; None where the source is read in one go."""
    if _processors() < 2 or source.size is None or source.size < LEAST_BYTES:  # noqa: PLR2004
        return None
    return source.line_at(int(source.size * _FIRST_SHARE), lambda line: prefix_of(line) is not None)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def scan_halves(source: Source, middle: int, on_part: Callable[[ScannedLines], None]) -> ScannedLines:
    """Scan a source whose second half begins at ``middle``; ``on_part`` is called as the first half goes on.

    Where the other process dies, for want of memory say, this one reads the second half too.

    Raises:
        SourceError: the source cannot be read on.
    """
    with scanning_process(source.path, middle) as process:
        scanned = scan(source.windows(end=middle), on_part)
        try:
            later = process.scanned()
        except SourceError:
            later = scan(_file_windows(source.path, middle))
    source.skip_rest(len(later.line_starts))
    scanned.join(later)
    return scanned


if __name__ == "__main__":
    _, *_file = sys.argv
    _send(_file_windows(_file[0], int(_file[1])) if _file else _sent_windows(sys.stdin.buffer), sys.stdout.buffer)
