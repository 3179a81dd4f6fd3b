"""Parsed logs whose lines can be quoted: from memory, from the file again, or from a copy of what a pipe sent."""

from __future__ import annotations

import tempfile
from bisect import bisect_left
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.secrets import masked
from trtforensics.parsers.text.source import MAX_BYTES, open_source
from trtforensics.parsers.text.windows import CUT_LINE, LONGEST_LINE, Window
from trtforensics.sources.build_log import load_build_log, read_build_log

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from typing_extensions import Self

    from trtforensics.console.progress import Progress
    from trtforensics.model.log import BuildLog
    from trtforensics.parsers.text.source import Source
    from trtforensics.parsers.text.text import LogText

LONGEST_QUOTE = 1000
"""Characters of a line that are quoted; longer lines are cut."""


@dataclass(frozen=True)
class ShownLog:
    """A parsed log whose text is kept in memory for display."""

    log: BuildLog
    text: LogText

    def quote(self, lines: Collection[int]) -> Mapping[int, str]:
        """Return the text of some lines (from 1), without endings, secrets masked, cut to :data:`LONGEST_QUOTE`."""
        return {line: _cut(self.text.line(line)) for line in lines}


@dataclass(frozen=True)
class ReadLog:
    """A parsed log whose text is read again from ``path``, or from ``spool`` where it came through a pipe."""

    log: BuildLog
    path: str
    max_bytes: int
    spool: Spool | None = None

    def quote(self, lines: Collection[int]) -> Mapping[int, str]:
        """Return the text of some lines as :meth:`ShownLog.quote` does; of a plain file only these lines are read.

        Raises:
            SourceError: The source cannot be read again.
        """
        if self.spool is not None:
            return _quotes(self.spool.windows(), lines)
        with open_source(self.path, max_bytes=self.max_bytes) as source:
            whole = not self.log.source.parts and len(self.log.line_starts) == self.log.source.lines
            if whole and source.holds_its_text:
                return {line: _quoted(self._raw(source, line)) for line in lines}
            return _quotes(source.windows(), lines)

    def _raw(self, source: Source, line: int) -> bytes:
        starts = self.log.line_starts
        begin = int(starts[line - 1])
        size = int(starts[line] if line < len(starts) else self.log.source.bytes) - begin
        return Window(line, begin, source.peek(begin, size if size <= LONGEST_LINE else CUT_LINE)).lines[0]

    def close(self) -> None:
        """Remove the copy of what a pipe sent; no more lines can be quoted from it."""
        if self.spool is not None:
            self.spool.close()


QuotedLog = ShownLog | ReadLog
"""A parsed log whose lines can be quoted."""


def quote_file(path: str, lines: Collection[int], *, max_bytes: int = MAX_BYTES) -> Mapping[int, str]:
    """Return the text of some lines of any file, as :meth:`ReadLog.quote` does.

    Raises:
        SourceError: The file cannot be read.
    """
    with open_source(path, max_bytes=max_bytes) as source:
        return _quotes(source.windows(), lines)


class Spool:
    """A temporary file that keeps windows of lines; a context manager that removes it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is open as long as the log is used
        self._kept: list[tuple[int, int]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the file."""
        self._file.close()

    def keep(self, window: Window) -> None:
        """Append a window."""
        self._kept.append((window.first_line, len(window.data)))
        self._file.write(window.data)

    def windows(self) -> Iterator[Window]:
        """Give the windows again; their offsets are not those of the source."""
        self._file.seek(0)
        for first_line, length in self._kept:
            yield Window(first_line, 0, self._file.read(length))


def _quotes(windows: Iterable[Window], lines: Collection[int]) -> Mapping[int, str]:
    wanted = sorted(lines)
    quotes: dict[int, str] = {}
    for window in windows:
        if not wanted:
            break
        behind = window.first_line + window.data.count(b"\n") + (not window.data.endswith(b"\n"))
        here = wanted[: bisect_left(wanted, behind)]
        texts = window.lines if here else []
        quotes |= {line: _quoted(texts[line - window.first_line]) for line in here}
        wanted = wanted[len(here) :]
    return quotes


def _quoted(raw: bytes) -> str:
    return _cut(raw.decode("utf-8", "replace"))


def _cut(text: str) -> str:
    text = masked(text)  # first: half a secret could not be recognised
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def read_log(path: str, *, max_bytes: int, on_progress: Callable[[Progress], None]) -> ReadLog:
    """Read a log so that its lines can be quoted; a temporary file keeps what a pipe sends.

    Raises:
        SourceError: The source cannot be read.
        NotABuildLogError: It is not a build log.
    """
    if path != "-" and not _is_pipe(path):
        log = load_build_log([path], max_bytes=max_bytes, on_progress=on_progress, excerpt=True)
        return ReadLog(log, path, max_bytes)
    with ExitStack() as undo:
        spool = undo.enter_context(Spool())
        source = open_source(path, max_bytes=max_bytes)
        log = read_build_log(source, on_progress=on_progress, on_window=spool.keep, excerpt=True)
        undo.pop_all()
    return ReadLog(log, path, max_bytes, spool)


def _is_pipe(path: str) -> bool:
    with suppress(OSError):  # opening it reports what is wrong
        return Path(path).exists() and not Path(path).is_file()
    return False
