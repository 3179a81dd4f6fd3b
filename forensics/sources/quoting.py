"""Parsed logs whose lines can be quoted: from text that was kept, or from the file again."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from trtforensics.console.progress import Progress
from trtforensics.console.secrets import masked
from trtforensics.model.log import BuildLog
from trtforensics.parsers.text.source import Source, open_source
from trtforensics.parsers.text.text import LogText
from trtforensics.parsers.text.windows import CUT_LINE, LONGEST_LINE, Window
from trtforensics.sources.build_log import load_build_log, read_build_log

LONGEST_QUOTE = 1000
"""Characters of a line that are quoted; longer lines are cut."""


@dataclass(frozen=True)
class ShownLog:
    """A parsed log whose text is kept, for display or because it came through a pipe."""

    log: BuildLog
    text: LogText

    def quote(self, lines: Collection[int]) -> Mapping[int, str]:
        """Return the text of some lines (from 1), without endings, secrets masked, cut to :data:`LONGEST_QUOTE`."""
        return {line: _cut(self.text.line(line)) for line in lines}

    def whole(self) -> LogText:
        """Return the whole text."""
        return self.text


@dataclass(frozen=True)
class ReadLog:
    """A parsed log whose text is read again from ``path``."""

    log: BuildLog
    path: str
    max_bytes: int

    def quote(self, lines: Collection[int]) -> Mapping[int, str]:
        """Return the text of some lines as :meth:`ShownLog.quote` does; of a plain file only these lines are read."""
        with open_source(self.path, max_bytes=self.max_bytes) as source:
            whole = not self.log.source.parts and len(self.log.line_starts) == self.log.source.lines
            if whole and source.holds_its_text:
                return {line: _quoted(self._raw(source, line)) for line in lines}
            return _quotes(source.windows(), lines)

    def whole(self) -> LogText:
        """Return the whole text, read again."""
        text = LogText()
        with open_source(self.path, max_bytes=self.max_bytes) as source:
            for window in source.windows():
                text.append(window)
        return text

    def _raw(self, source: Source, line: int) -> bytes:
        starts = self.log.line_starts
        begin = int(starts[line - 1])
        size = int(starts[line] if line < len(starts) else self.log.source.bytes) - begin
        return Window(line, begin, source.peek(begin, size if size <= LONGEST_LINE else CUT_LINE)).lines[0]


QuotedLog = ShownLog | ReadLog
"""A parsed log whose lines can be quoted."""


def quote_file(path: str, lines: Collection[int]) -> Mapping[int, str]:
    """Return the text of some lines of any file, as :meth:`ReadLog.quote` does."""
    with open_source(path) as source:
        return _quotes(source.windows(), lines)


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


def read_log(path: str, *, max_bytes: int, on_progress: Callable[[Progress], None]) -> QuotedLog:
    """Read a log so that its lines can be quoted; the text that a pipe sends is kept."""
    if path != "-" and not _is_pipe(path):
        log = load_build_log([path], max_bytes=max_bytes, on_progress=on_progress, excerpt=True)
        return ReadLog(log, path, max_bytes)
    text = LogText()
    source = open_source(path, max_bytes=max_bytes)
    return ShownLog(read_build_log(source, on_progress=on_progress, on_window=text.append, excerpt=True), text)


def _is_pipe(path: str) -> bool:
    with suppress(OSError):  # opening it reports what is wrong
        return Path(path).exists() and not Path(path).is_file()
    return False
