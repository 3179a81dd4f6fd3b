"""Loads build logs from paths, with progress and a way to cancel."""

import gc
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import pairwise

from trtforensics.console.progress import Progress
from trtforensics.errors import NotABuildLogError, UsageError
from trtforensics.model.log import BuildLog
from trtforensics.model.span import SourceInfo
from trtforensics.parsers.builds.assembler import assemble
from trtforensics.parsers.lines import processes
from trtforensics.parsers.lines.events import ScannedLines
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.source import MAX_BYTES, Source, Window, open_source

_STDIN = "/dev/stdin"
_REST_S = 2.0
"""Least seconds between two partial logs of a live source; a person reads no faster."""

_REST_FACTOR = 5
"""Least pause after a partial log, in multiples of the time it took, so that reading keeps most of the time."""

_WHAT_TO_GIVE = "Give the output of `trtexec --verbose`, of Polygraphy -vv or of a verbose trt.Logger"


class ReadingCancelled(Exception):  # noqa: N818 - not an error: the caller asked for it
    """Reading was cancelled before its end."""


def load_build_log(
    paths: Sequence[str],
    *,
    max_bytes: int = MAX_BYTES,
    on_progress: Callable[[Progress], None] = lambda _: None,
    excerpt: bool = False,
) -> BuildLog:
    """Open, read and parse a build log; a large file is read by two processes.

    Several paths are the parts of one build, for example its standard output and its standard error. They are read one
    after the other, and their lines are numbered as if they were one file. ``max_bytes`` limits each file. An
    ``excerpt`` need not hold a whole line of a logger: it is enough that it names TensorRT.

    Raises:
        SourceError: a source cannot be read.
        NotABuildLogError: no line of any source carries a TensorRT or trtexec prefix, or an excerpt names neither.
        UsageError: a source is named twice.
    """
    whole = hashlib.sha256()
    hashes = (whole,) if len(paths) > 1 else ()
    for path in paths:
        if paths.count(path) > 1:
            raise UsageError(path, "is named twice", "Name each part of the build once")
    with ExitStack() as opened:
        sources = [opened.enter_context(open_source(path, max_bytes=max_bytes, hashes=hashes)) for path in paths]
        scanned = _scan(sources[0], on_progress)
        for before, source in pairwise(sources):
            before.info()  # the digest of all goes on where the one before has ended
            scanned.join(_scan(source, on_progress))
        log = _assembled(scanned, _info_of([source.so_far() for source in sources]), excerpt=excerpt)
        info = _info_of([source.info() for source in sources], whole.hexdigest)
    return replace(log, source=info)


def _scan(source: Source, on_progress: Callable[[Progress], None]) -> ScannedLines:
    middle = processes.middle_of(source)
    share = 1.0 if middle is None else (source.size or 0) / middle

    def report(scanned: ScannedLines) -> None:
        on_progress(Progress(int(source.position * share), source.size, int(scanned.counts.total * share)))

    return processes.scan(source.windows(), report) if middle is None else processes.scan_halves(source, middle, report)


def _info_of(parts: Sequence[SourceInfo], sha256: Callable[[], str] = str) -> SourceInfo:
    """Return the facts of a log in one part or several, with the digest of all."""
    if len(parts) == 1:
        return parts[0]
    return SourceInfo(
        path=" + ".join(part.path for part in parts),
        bytes=sum(part.bytes for part in parts),
        lines=sum(part.lines for part in parts),
        sha256=sha256(),
        cut=any(part.cut for part in parts),
        parts=tuple(parts),
    )


def read_build_log(  # noqa: PLR0913 - every caller needs some of them only
    source: Source,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_window: Callable[[Window], None] = lambda _: None,
    on_log: Callable[[BuildLog], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    excerpt: bool = False,
    responsive: bool = False,
) -> BuildLog:
    """Read an open source to its end, close it, and parse its lines.

    When ``responsive``, this process can answer a user meanwhile: another one scans a large file, and Python's search
    for reference cycles does not visit what was parsed. ``on_progress`` and ``on_window`` are called after each window
    of lines; ``cancelled``, which may wait, also many times while the log is put together: True ends that with
    :class:`ReadingCancelled`. ``on_log`` is called every few seconds with the log so far, where the length of the
    source is not known (a pipe, a FIFO). All run in the caller's thread. For an ``excerpt`` see :func:`load_build_log`.

    Raises:
        SourceError: the source cannot be read to its end.
        NotABuildLogError: no line carries a TensorRT or trtexec prefix, or an excerpt names neither.
        ReadingCancelled: ``cancelled`` returned True.
    """
    is_large = responsive and source.size is not None and source.size >= processes.LEAST_BYTES
    live: _Live | None = None

    def attend() -> None:
        if live is not None:
            live.hand_out()
        if cancelled():
            raise ReadingCancelled

    with source, processes.scanning_process(source.path) if is_large else nullcontext(Scanner()) as scanner:
        if isinstance(scanner, Scanner) and on_log is not None and source.size is None:
            live = _Live(scanner.scanned, source, on_log)
        source.on_wait = attend
        for window in source.windows():
            on_window(window)  # first: a line can be shown while another process takes it
            scanner.feed(window)
            on_progress(Progress(source.position, source.size, window.first_line - 1 + window.count))
            attend()
        scanned = scanner.scanned if isinstance(scanner, Scanner) else scanner.scanned()
        info = source.info()
    with _kept_for_good() if responsive else nullcontext():
        return _assembled(scanned, info, attend, excerpt=excerpt)


@contextmanager
def _kept_for_good() -> Iterator[None]:
    """Make objects that stay: Python's search for reference cycles, which stops every thread, never visits them."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class _Live:
    """Hands out the log so far at intervals, while the program that writes it still runs."""

    def __init__(self, scanned: ScannedLines, source: Source, on_log: Callable[[BuildLog], None]) -> None:
        self._scanned = scanned
        self._source = source
        self._on_log = on_log
        self._lines = 0
        self._due = 0.0

    def hand_out(self) -> None:
        """Assemble the log if it is due and there are new lines."""
        lines, begin = self._scanned.counts.total, time.monotonic()
        if begin < self._due or lines == self._lines or not self._scanned.recognised:
            return
        self._lines = lines
        counts, starts = replace(self._scanned.counts), self._scanned.line_starts[:]
        so_far = replace(self._scanned, counts=counts, line_starts=starts)
        self._on_log(assemble(so_far, self._source.so_far()))
        self._due = begin + max(_REST_S, (time.monotonic() - begin) * _REST_FACTOR)


def _assembled(
    scanned: ScannedLines, info: SourceInfo, attend: Callable[[], None] = lambda: None, *, excerpt: bool
) -> BuildLog:
    if not (scanned.recognised or (excerpt and scanned.mentioned)):
        what = "no line carries a TensorRT or trtexec prefix" if info.lines else "the file is empty"
        raise NotABuildLogError(info.path, what, _WHAT_TO_GIVE)
    scanned.events.close()
    return assemble(scanned, info, attend)


def keep_sources(paths: Iterable[str | None], output: str | None) -> None:
    """Refuse to write a result over one of its sources; None is a source or an output that is not named.

    Raises:
        UsageError: the output is one of the sources.
    """
    if output is None:
        return
    from pathlib import Path  # noqa: PLC0415 - only commands that write a file need it

    with suppress(OSError):  # one of them does not exist or cannot be read: opening it reports that
        target = Path(output)
        named = [_STDIN if path == "-" else path for path in paths if path is not None]
        if target.is_file() and any(map(target.samefile, named)):
            raise UsageError(output, "is the source itself and would be overwritten", "Name another file")
