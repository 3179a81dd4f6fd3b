"""Cuts blocks of text into windows of whole, numbered lines; removes line endings and escape sequences from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from trtforensics.model.older_python import compiled
from trtforensics.parsers.text.decoding import pieces
from trtforensics.parsers.text.wrapping import HEAD, Wrapping, wrapping_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.parsers.text.line_index import LineIndex

LONGEST_LINE = 16 << 20
"""The most bytes of a line that is not cut. The longest lines of TensorRT are far below a megabyte."""

CUT_LINE = 64 << 10
"""Bytes that are kept of a line that is cut."""

_ESCAPE_SEQUENCES = compiled(
    rb"\x1b(?:"
    rb"\[[0-?]*+[ -/]*+[@-~]"  # CSI: colours, cursor movements, erasing
    rb"|\][^\x07\x1b\n]*+(?:\x07|\x1b\\)"  # OSC: window titles, hyperlinks
    rb"|[ -/]++[0-~]"  # choice of a character set, which `tput sgr0` prints
    rb")"
)
"""Complete sequences only; none holds a line feed, so removing them never joins lines."""


@dataclass(frozen=True)
class Window:
    r"""Whole lines of a source, a few megabytes of them.

    ``first_line`` is the number (from 1) of the first line, ``offset`` the byte where it begins in the decoded text.
    ``data`` is the decoded text with line endings and escape sequences. The other attributes are made on first use.

    A line of more than :data:`LONGEST_LINE` bytes is alone in its window and cut to its first :data:`CUT_LINE` bytes,
    in ``data`` too; the numbers and offsets of the lines after it are right.
    """

    first_line: int
    offset: int
    data: bytes = field(repr=False)
    wrapping: Wrapping | None = None
    """What stands around the lines of the source."""

    @cached_property
    def text(self) -> bytes:
        r"""The lines, each ended by ``\n`` alone (the last perhaps by nothing), without ANSI escape sequences."""
        text = self.data.replace(b"\r\n", b"\n") if b"\r" in self.data else self.data
        if b"\x1b" not in text:
            return text
        clean = _ESCAPE_SEQUENCES.sub(b"", text)
        vanished = not text.endswith(b"\n") and (not clean or clean.endswith(b"\n"))
        return clean + b"\n" if vanished else clean  # a last line of nothing but escape sequences is still a line

    @cached_property
    def bare(self) -> bytes:
        """The text without its wrapping: what a parser reads. It has the same lines."""
        return self.text if self.wrapping is None else self.wrapping.undo(self.text)

    @cached_property
    def index(self) -> LineIndex:
        """The places of the bare text's lines and separators."""
        from trtforensics.parsers.text.line_index import LineIndex  # noqa: PLC0415 - the TUI's first picture needs none

        return LineIndex(self.bare)

    @property
    def count(self) -> int:
        """How many lines there are."""
        if "index" in self.__dict__:
            return len(self.index)
        import numpy as np  # noqa: PLC0415 - as above

        ends = int(np.count_nonzero(np.frombuffer(self.data, np.uint8) == ord("\n")))  # much faster than bytes.count
        return ends + (not self.data.endswith(b"\n"))

    @cached_property
    def lines(self) -> list[bytes]:
        """Each line without its ending and without escape sequences."""
        lines = self.text.split(b"\n")
        if self.text.endswith(b"\n"):
            lines.pop()
        return lines

    @cached_property
    def starts(self) -> list[int]:
        """The byte offset of each line's start in the decoded text."""
        import numpy as np  # noqa: PLC0415 - as above

        ends = np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord("\n"))
        if self.data.endswith(b"\n"):
            ends = ends[:-1]
        starts: list[int] = (ends + (self.offset + 1)).tolist()
        return [self.offset, *starts]


class WindowCutter:
    r"""Cuts a text that arrives in blocks at its last line feeds.

    ``lines`` counts the lines so far, and ``cut`` says whether the last one had no line feed. Only ``\n`` ends a line,
    because names and metadata hold 0x1E, form feeds and the like.
    """

    def __init__(self, offset: int = 0) -> None:
        self.cut = False
        self.wrapping: Wrapping | None = None
        """What stands around the lines, as the first window shows it."""
        self._counted = 0
        self._last: Window | None = None
        """The last window. Its lines are counted when the next one is made: by then its reader has indexed them."""
        self._offset = offset
        self._held: list[bytes] = []
        self._held_bytes = 0

    @property
    def lines(self) -> int:
        """The number of lines so far."""
        return self._counted + (self._last.count if self._last is not None else 0)

    def skip(self, lines: int) -> None:
        """Add lines that another process read."""
        self._counted, self._last = self.lines + lines, None

    def windows(self, blocks: Iterable[bytes]) -> Iterator[Window]:
        """Yield the whole lines of each block at once; the text behind its last line feed waits for the next block."""
        for block in blocks:
            for piece in pieces(block, LONGEST_LINE):
                yield from self._feed(piece)
        if self._held_bytes:
            self.cut = True
            yield self._whole(b"")
        self.skip(0)

    def _feed(self, piece: bytes) -> Iterator[Window]:
        """Cut a piece at its last line feed. Only the held line can be too long, because a piece never is."""
        first_end = piece.find(b"\n")
        if first_end >= 0 and self._held_bytes + first_end > LONGEST_LINE:
            self._hold(piece[:first_end])
            yield self._window(b"".join(self._held), self._held_bytes)
            self._offset += 1
            piece = piece[first_end + 1 :]
        end = piece.rfind(b"\n") + 1
        if end:
            yield self._whole(piece if end == len(piece) else memoryview(piece)[:end])
        self._hold(piece[end:])

    def _hold(self, piece: bytes) -> None:
        self._held_bytes += len(piece)
        if piece:
            self._held.append(piece)
        if self._held_bytes > LONGEST_LINE:
            self._held = [b"".join(self._held)[:CUT_LINE]]

    def _whole(self, rest: bytes | memoryview) -> Window:
        """Make a window of the held text and the rest of its lines."""
        data = b"".join((*self._held, rest)) if self._held or not isinstance(rest, bytes) else rest
        return self._window(data, len(data))

    def _window(self, data: bytes, length: int) -> Window:
        """Make a window of ``data``, which stands for ``length`` bytes of the text."""
        self._counted, self._last = self.lines, None
        if not self._counted and not self._offset:
            self.wrapping = wrapping_of(_ESCAPE_SEQUENCES.sub(b"", data[:HEAD]).replace(b"\r\n", b"\n"))
        self._last = window = Window(self._counted + 1, self._offset, data, self.wrapping)
        self._offset += length
        self._held, self._held_bytes = [], 0
        return window
