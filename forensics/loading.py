"""From a path to a parsed log, with progress and a way to stop."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.errors import NotABuildLogError, UsageError
from trtforensics.parsers import halves
from trtforensics.parsers.assembler import assemble
from trtforensics.parsers.scanner import Scanner
from trtforensics.parsers.source import MAX_BYTES, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.model import BuildLog, SourceInfo
    from trtforensics.parsers.source import Source, Window


@dataclass(frozen=True, slots=True)
class Progress:
    """How far reading is: stored bytes done and in all (None for a pipe), and lines read."""

    bytes_done: int
    bytes_total: int | None
    lines: int


_STDIN = "/dev/stdin"
_REST_S = 2.0
"""Seconds from one log handed out while reading to the next; a person reads no faster."""

_REST_FACTOR = 5
"""How many times as long as putting such a log together takes, so that reading keeps four fifths of the time."""

_WHAT_TO_GIVE = "Give the output of `trtexec --verbose`, of Polygraphy -vv or of a verbose trt.Logger"


class Cancelled(Exception):  # noqa: N818 - not an error: somebody asked for it
    """Reading was stopped before its end."""


def load_build_log(
    paths: Sequence[str],
    *,
    max_bytes: int = MAX_BYTES,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> BuildLog:
    """Open, read and parse a build log; a large file is read by two processes.

    Raises:
        SourceError: the source cannot be read.
        NotABuildLogError: no line carries a TensorRT or trtexec prefix.
        UsageError: there are several sources.
    """
    if len(paths) != 1:
        raise UsageError(" ".join(paths), "several sources as parts of one build are not supported yet", "Name one log")
    source = open_source(paths[0], max_bytes=max_bytes)
    middle = halves.middle_of(source)
    if middle is None:
        return read_build_log(source, on_progress=on_progress)

    def report(reading: Source, scanner: Scanner) -> None:
        share = (source.size or 0) / middle
        on_progress(Progress(int(reading.position * share), source.size, int(scanner.counts.total * share)))

    with source:
        scanner = halves.scan(source, middle, report)
        info = source.info()
    return _assembled(scanner, info)


def read_build_log(
    source: Source,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_window: Callable[[Window], None] = lambda _: None,
    on_log: Callable[[BuildLog], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> BuildLog:
    """Read an open source to its end, close it, and parse what it says.

    ``on_progress`` and ``on_window`` are called after each window of lines, and ``on_log`` every few seconds with what
    the log says so far where nobody knows how long it will be (a pipe, a FIFO); all in the caller's thread.

    Raises:
        SourceError: the source cannot be read on.
        NotABuildLogError: no line carries a TensorRT or trtexec prefix.
        Cancelled: ``cancelled`` said so.
    """
    scanner = Scanner()
    live = _Live(scanner, source, on_log) if on_log is not None and source.size is None else None

    def attend() -> None:
        if live is not None:
            live.hand_out()
        if cancelled():
            raise Cancelled

    with source:
        source.while_waiting(attend)
        for window in source.windows():
            scanner.feed(window)
            on_window(window)
            on_progress(Progress(source.position, source.size, scanner.counts.total))
            attend()
        info = source.info()
    return _assembled(scanner, info)


class _Live:
    """Hands out what was read so far, now and then, while the program that writes the log still runs."""

    def __init__(self, scanner: Scanner, source: Source, on_log: Callable[[BuildLog], None]) -> None:
        self._scanner = scanner
        self._source = source
        self._on_log = on_log
        self._lines = 0
        self._due = 0.0

    def hand_out(self) -> None:
        """Put the log together if it is time to and there are new lines."""
        lines, begin = self._scanner.counts.total, time.monotonic()
        if begin < self._due or lines == self._lines or not self._scanner.recognised:
            return
        self._lines = lines
        self._on_log(assemble(self._scanner, self._source.so_far()))
        self._due = begin + max(_REST_S, (time.monotonic() - begin) * _REST_FACTOR)


def _assembled(scanner: Scanner, info: SourceInfo) -> BuildLog:
    if not scanner.recognised:
        what = "no line carries a TensorRT or trtexec prefix" if info.lines else "the file is empty"
        raise NotABuildLogError(info.path, what, _WHAT_TO_GIVE)
    scanner.forget()
    return assemble(scanner, info)


def keep_sources(paths: Sequence[str], output: str) -> None:
    """Refuse to write a result over what it is read from.

    Raises:
        UsageError: the output is one of the sources.
    """
    with suppress(OSError):  # one of them does not exist or cannot be looked at: whoever opens them says what is wrong
        target = Path(output)
        if any(target.is_file() and target.samefile(_STDIN if path == "-" else path) for path in paths):
            raise UsageError(output, "is the source itself and would be overwritten", "Name another file")
