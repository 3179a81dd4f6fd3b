"""The raw log: every line as it stands in the file, with its number, its severity, and what was searched for."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from trtforensics.tui.rows.log_lines import log_pieces
from trtforensics.tui.rows.pieces import Line, Piece, Role, width_of
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from trtforensics.tui.widgets.numbered_lines import NumberedLines

REMEMBERED = 1_000
"""Lines kept as pieces: several screens, so that scrolling back and forth costs nothing."""


class LogView(VirtualList):
    """The log's lines under a cursor; the line in question is the cursor's."""

    def __init__(self, text: NumberedLines, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._text = text
        self._needle = ""
        self._prefixes = True
        self._widest = 0
        self._known = len(text)
        self._lines: OrderedDict[int, Line] = OrderedDict()

    @property
    def text(self) -> NumberedLines:
        """The lines themselves."""
        return self._text

    @property
    def current_line(self) -> int:
        """The line under the cursor, from 1."""
        return self.cursor + 1

    def show_text(self, text: NumberedLines) -> None:
        """Show another file from its first line on."""
        if text is self._text:
            return
        self._text = text
        self._widest = 0
        self._lines.clear()
        self.cursor = 0
        self._known = len(text)
        self.rows_changed()
        self.scroll_to(x=0, y=0, animate=False, immediate=True)

    def show_line(self, number: int) -> None:
        """Move to a line without telling anybody: it was the others who asked for it."""
        if number > self._known:
            self.grow()
        self.go_to(number - 1, center=True, announce=False)

    def show_match(self, number: int) -> None:
        """Move to a line that was found, and sideways to the first match in it."""
        self.show_line(number)
        line = self.row(self.cursor, 0)
        found = next((i for i, piece in enumerate(line) if piece.role is Role.MATCH), None)
        if found is None:
            return
        start, end = width_of(line[:found]), width_of(line[: found + 1])
        left, width = self.scroll_offset.x, self.scrollable_content_region.width
        if not self.pinned_width() + left <= start <= end < left + width:
            self._resize_content()
            self.scroll_to(x=max(0, end - width // 2) if end >= width else 0, animate=False, immediate=True)

    def mark(self, needle: str) -> None:
        """Mark every occurrence of a searched text."""
        self._needle = needle
        self._lines.clear()
        self.refresh()

    def toggle_prefixes(self) -> None:
        """Hide what the loggers put before each message, which is half the width of a small screen, or show it."""
        self._prefixes = not self._prefixes
        self._lines.clear()
        self._widest = 0
        self.scroll_to(x=0, animate=False, immediate=True)
        self.refresh()

    def grow(self) -> None:
        """Look again at how many lines there are; a cursor on the last one stays there, as `tail -f` does."""
        at_end = 1 < self.current_line == self._known
        self._known = len(self._text)
        self._lines.clear()
        self.rows_changed()
        if at_end:
            self.go_to(self._known - 1, announce=False)

    def row_count(self) -> int:
        """Return how many lines there were at the last look: no key sees a line that the list has not grown by."""
        return self._known

    def log_line(self, index: int) -> int:
        """Return the number of the line."""
        return index + 1

    def pinned_width(self) -> int:
        """Return the width of the line numbers."""
        return len(str(max(self.row_count(), 1))) + 1

    def content_width(self) -> int:
        """Return the width of the widest line that was in view so far."""
        return self._widest

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - lines scroll, they are not cut
        """Return a line behind its number."""
        line = self._lines.get(index)
        if line is None:
            line = self._remember(index)
        digits = self.pinned_width() - 1
        return (Piece(f"{index + 1:>{digits}} ", Role.DIM), *line)

    def clicked(self, index: int, column: int) -> None:
        """Leave it at the cursor: a click in a text is no wish to go elsewhere."""

    def _remember(self, index: int) -> Line:
        """Prepare a line, and keep it while it is among the last ones shown."""
        line = self._lines[index] = log_pieces(self._text.line(index + 1), self._needle, prefixes=self._prefixes)
        if len(self._lines) > REMEMBERED:
            self._lines.popitem(last=False)
        width = width_of(line) + self.pinned_width() + 1
        if width > self._widest:
            self._widest = width
            self.call_later(self._resize_content)  # not now: this is called while painting
        return line
