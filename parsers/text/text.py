"""Keeps the lines of a source for display, to be read in any order, without a Python object for each line."""

from __future__ import annotations

import re
import tempfile
import weakref
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from trtforensics.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import numpy.typing as npt

    from trtforensics.model.arrays import Positions
    from trtforensics.parsers.text.windows import Window

SLICE = 1 << 20
"""Bytes that are searched at once: between slices other threads run."""


class Matcher(Protocol):
    """What finds lines in a text."""

    def places(self, text: bytes) -> Iterator[int]:
        """Yield where lines begin that match, in lines joined by line feeds."""
        ...


@dataclass(frozen=True)
class LineMatcher:
    """What is searched for. Case counts only where it has a capital letter; no match goes over the end of a line."""

    text: str
    regex: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern for text.

        Raises:
            re.error: It is no regular expression.
        """
        return re.compile(self.text if self.regex else re.escape(self.text), self._flags)

    @cached_property
    def _bytes(self) -> re.Pattern[bytes]:
        return re.compile(self.text.encode(), self._flags | re.MULTILINE)

    @property
    def _exact(self) -> bool:
        return self._word != self._word.lower()

    @property
    def _word(self) -> str:
        r"""The text without classes such as ``\S``, whose capital is no letter that is searched for."""
        return re.sub(r"\\.", "", self.text) if self.regex else self.text

    @property
    def _flags(self) -> re.RegexFlag:
        return re.RegexFlag(0) if self._exact else re.IGNORECASE

    def places(self, text: bytes) -> Iterator[int]:
        """Yield where lines begin that match, in lines joined by line feeds."""
        start = 0
        while start <= len(text):
            end = text.find(b"\n", start + SLICE)
            end = len(text) if end < 0 else end
            yield from self._places_in(text, start, end)
            start = end + 1

    def _places_in(self, text: bytes, start: int, end: int) -> Iterator[int]:
        if not self.regex:
            places = _found if self.text.isascii() else _shown
            yield from places(text[start:end], self.text, start, exact=self._exact)
            return
        while start <= end:
            match = self._bytes.search(text, start, end)
            if match is None:
                return
            begin = text.rfind(b"\n", 0, match.start()) + 1
            behind = text.find(b"\n", match.start())
            behind = end if behind < 0 else min(behind, end)
            if match.end() <= behind or self._bytes.search(text, begin, behind):
                yield begin
            start = behind + 1


def _found(text: bytes, wanted: str, offset: int, *, exact: bool) -> Iterator[int]:
    """Yield where lines begin that hold an ASCII text; ``offset`` is where ``text`` begins in the whole."""
    folded, needle = text if exact else text.lower(), wanted.encode()
    at = folded.find(needle)
    while at >= 0:
        yield offset + folded.rfind(b"\n", 0, at) + 1
        behind = folded.find(b"\n", at)
        if behind < 0:
            return
        at = folded.find(needle, behind + 1)


def _shown(text: bytes, wanted: str, offset: int, *, exact: bool) -> Iterator[int]:
    """Do what :func:`_found` does for any text, in lines as they are shown: with a mark for bytes that are no text."""
    for line in text.split(b"\n"):
        shown = line.decode("utf-8", "replace")
        if wanted in (shown if exact else shown.lower()):
            yield offset
        offset += len(line) + 1


MEMORY_BYTES = 16 << 20
"""Text held in memory; windows beyond it go to a temporary file."""


@dataclass(frozen=True, slots=True)
class _Block:
    """The lines of one window, joined by line feeds. Line ``i`` is bytes ``starts[i]`` to ``starts[i + 1] - 1``."""

    first_line: int
    starts: npt.NDArray[np.uint32]
    text: bytes | int
    """The text, or its offset in the temporary file."""

    @property
    def last_line(self) -> int:
        return self.first_line + len(self.starts) - 2


class LogText:
    """The lines of a source for display, by number; grows while the source is read.

    Each window is one bytes object and four bytes a line. The first 16 MB stay in memory, so a usual log never touches
    the disk. The text behind them goes to an anonymous temporary file (in ``$TMPDIR``), so a log of gigabytes costs
    memory only for its line starts. One thread may append while another one reads.
    """

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._count = 0
        self._memory = 0
        self._spill = _SpillFile()

    def append(self, window: Window) -> None:
        """Add a window's lines.

        Raises:
            OutputError: the temporary file cannot be written.
        """
        import numpy as np  # noqa: PLC0415 - the TUI's first picture does not wait for numpy

        text = window.text.removesuffix(b"\n")
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
        starts = np.zeros(len(ends) + 2, np.uint32)
        starts[1:-1], starts[-1] = ends + 1, len(text) + 1
        if self._memory + len(text) <= MEMORY_BYTES:
            self._memory += len(text)
            block = _Block(self._count + 1, starts, text)
        else:
            block = _Block(self._count + 1, starts, self._spill.append(text))
        self._blocks.append(block)
        self._count += len(starts) - 1

    def __len__(self) -> int:
        """Lines known so far."""
        return self._count

    def line(self, number: int) -> str:
        """Return a line (from 1); invalid UTF-8 becomes replacement characters.

        Raises:
            IndexError: there is no such line, or not yet.
        """
        if not 1 <= number <= self._count:
            raise IndexError(f"line {number} of {self._count}")
        return self.lines(number, 1)[0]

    def lines(self, first: int, count: int) -> list[str]:
        """Return ``count`` lines from ``first`` (from 1) on, fewer where the text ends.

        Raises:
            IndexError: ``first`` is below 1.
        """
        if first < 1:
            raise IndexError(f"line {first}")
        last = min(first + count - 1, self._count)
        lines: list[str] = []
        while first <= last:
            block = self._blocks[self._block_of(first)]
            end = min(last, block.last_line)
            lines += (line.decode("utf-8", "replace") for line in self._read(block, first, end).split(b"\n"))
            first = end + 1
        return lines

    def find(self, needle: str, start: int, *, backwards: bool = False) -> int | None:
        """Return the number of the next line, from ``start`` (inclusive), that holds ``needle``.

        Case counts only where the needle has a capital letter. The search does not wrap around. A start outside of the
        text is moved to its near end; where the text lies in the other direction, nothing is found.
        """
        matcher = LineMatcher(needle)
        for first, last, block in self._towards_end(start, backwards=backwards) if "\n" not in needle else ():
            text = self._read(block, first, last)
            places = matcher.places(text)
            for place in deque(places, 1) if backwards else places:
                return first + text.count(b"\n", 0, place)
        return None

    def matches(self, matcher: Matcher) -> Iterator[Positions]:
        """Yield the numbers of the lines that match, in order, as many at once as lie close together.

        Raises:
            re.error: The matcher's text is no regular expression.
        """
        for first, last, block in self._towards_end(1, backwards=False):
            places = [*matcher.places(self._read(block, first, last))]
            yield first + block.starts[: last - block.first_line + 1].searchsorted(places)

    def blocks(self) -> Iterator[bytes]:
        """Yield the text in pieces of whole lines, joined by line feeds."""
        for first, last, block in self._towards_end(1, backwards=False):
            yield self._read(block, first, last)

    def _towards_end(self, start: int, *, backwards: bool) -> Iterator[tuple[int, int, _Block]]:
        """Yield blocks in the order of the search, each with the first and the last line to search."""
        count = self._count
        if backwards:
            last = min(start, count)
            while last >= 1:
                block = self._blocks[self._block_of(last)]
                yield block.first_line, last, block
                last = block.first_line - 1
            return
        first = max(start, 1)
        while first <= count:
            block = self._blocks[self._block_of(first)]
            yield first, block.last_line, block
            first = block.last_line + 1

    def _block_of(self, number: int) -> int:
        return bisect_right(self._blocks, number, key=lambda block: block.first_line) - 1

    def _read(self, block: _Block, first: int, last: int) -> bytes:
        """Return lines of a block, joined by line feeds."""
        start = int(block.starts[first - block.first_line])
        end = int(block.starts[last - block.first_line + 1]) - 1
        if isinstance(block.text, bytes):
            return block.text[start:end]
        return self._spill.read(block.text + start, end - start)


class _SpillFile:
    """A temporary file without a name that grows at its end. It is made on first use, and goes with this object."""

    def __init__(self) -> None:
        self._file: BinaryIO | None = None
        self._size = 0
        self._lock = Lock()

    def append(self, data: bytes) -> int:
        """Write at the end and return the offset.

        Raises:
            OutputError: there is no room, or no folder to write to.
        """
        offset = self._size
        try:
            with self._lock:
                file = self._opened()
                file.seek(offset)
                file.write(data)
                file.flush()
        except OSError as error:
            raise OutputError(
                "temporary folder",
                f"the text of the log cannot be kept there ({error.strerror or error})",
                "Set TMPDIR to a folder with more room",
            ) from error
        self._size += len(data)
        return offset

    def read(self, offset: int, size: int) -> bytes:
        with self._lock:
            file = self._opened()
            file.seek(offset)
            return file.read(size)

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self._file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - closed with this object
            weakref.finalize(self, self._file.close)
        return self._file
