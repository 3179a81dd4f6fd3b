"""A view of a text file, every line with its number, coloured by severity; a pane that shows one file at a time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical

from trtforensics.console.terminal import visible
from trtforensics.errors import ForensicsError
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.text.text import LineMatcher, LogText
from trtforensics.tui.rows.log_lines import log_pieces
from trtforensics.tui.rows.pieces import Line, Piece, Presentation, Role, clip, width_of
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList
from trtforensics.tui.widgets.work import in_thread

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Sequence

    from trtforensics.tui.live_text import LiveText

BOOKMARK = "•"
"""Stands behind the number of a line that has a bookmark."""
PREFIXES_FROM = 84
"""Width in cells from which the loggers' prefixes are shown at first."""

REMEMBERED = 1_000
"""Number of lines kept as pieces: several screens, so that scrolling back and forth is fast."""


class LogView(VirtualList[int]):
    """The lines of a text by their numbers; 10⁷ that grow are neither laid out nor filtered before they are in view."""

    def __init__(self, text: LogText | LiveText, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(Presentation(pieces=lambda number, _: self._pieces(number), line=int), id=id)
        self.text = text
        self.line_count = len(text)
        """The lines of the file at the last :meth:`grow`, also those that are hidden; keys reach no line beyond."""
        self.rows = range(1, self.line_count + 1)
        self._sought: re.Pattern[str] | None = None
        self._prefixes = True
        self._prefixes_asked = False
        self.bookmarked: Collection[int] = ()
        """The lines that have a mark behind their number."""
        self._line = lru_cache(REMEMBERED)(self._lay_out)

    @property
    def current_line(self) -> int:
        """The line under the cursor, from 1."""
        return int(self.rows[self.cursor]) if len(self.rows) else 1

    def show_only(self, lines: Sequence[int] | None) -> None:
        """Show only some lines, by their sorted numbers; None shows all. The cursor stays as near as it can."""
        line = self.current_line
        self.rows = range(1, self.line_count + 1) if lines is None else lines
        self._line.cache_clear()
        self.rows_changed()
        self.go_to(self.place_of(line), center=True, announce=False)

    def shows(self, number: int) -> bool:
        place = self.place_of(number)
        return isinstance(self.rows, range) or (place < len(self.rows) and self.rows[place] == number)

    def place_of(self, row: int) -> int:
        """Return the row of a line, or of the next line that is kept."""
        return bisect_left(self.rows, row)

    def refill(self) -> None:
        """Keep the lines: no filter is read of them."""

    def show_text(self, text: LogText | LiveText) -> None:
        """Show another file from its first line on."""
        if text is self.text:
            return
        self.text = text
        self._widest = 0
        self.rows, self.cursor = range(0), 0
        self.grow()
        self.scroll_to(x=0, y=0, animate=False, immediate=True)

    def replace_text(self, text: LogText | LiveText) -> None:
        """Show the lines of the same file read again: the cursor stays, or follows the end if it is there."""
        self.text = text
        self.grow()

    def show_line(self, number: int) -> None:
        """Move to a line without announcing it, as the move follows another pane."""
        if number > self.line_count:
            self.grow()
        self.go_to(self.place_of(number), center=True, announce=False)

    def show_match(self, number: int) -> None:
        """Move to the line of a match, and sideways to the first match in it."""
        self.show_line(number)
        line = self.row(self.cursor, 0)
        match = next((i for i, piece in enumerate(line) if piece.role is Role.MATCH), None)
        if match is None:
            return
        start, end = width_of(line[:match]), width_of(line[: match + 1])
        left, width = self.scroll_offset.x, self.scrollable_content_region.width
        if not self.pinned_width() + left <= start <= end < left + width:
            self._resize_content()
            self.scroll_to(x=max(0, end - width // 2) if end >= width else 0, animate=False, immediate=True)

    def mark(self, needle: str, *, regex: bool = False) -> None:
        """Mark every match of a regular expression (else an ``re.error``); an empty text marks nothing."""
        self._sought = LineMatcher(visible(needle), regex).pattern if needle else None
        self._line.cache_clear()
        self.refresh()

    def toggle_prefixes(self) -> None:
        """Hide the loggers' prefixes, which take half the width of a small screen, or show them again."""
        self._prefixes_asked = True
        self._show_prefixes(shown=not self._prefixes)

    def on_resize(self) -> None:
        """Hide the prefixes where they would leave little room, unless the user has decided."""
        shown = self.size.width >= PREFIXES_FROM
        if not self._prefixes_asked and self.size.width and shown != self._prefixes:
            self._show_prefixes(shown=shown)

    def _show_prefixes(self, *, shown: bool) -> None:
        self._prefixes = shown
        self._line.cache_clear()
        self._widest = 0
        self.scroll_to(x=0, animate=False, immediate=True)
        self.refresh()

    def grow(self) -> None:
        """Update the number of lines; a cursor on the last line moves to the new last line, as with `tail -f`."""
        shows_all = isinstance(self.rows, range)
        at_end = shows_all and 1 < self.current_line == self.line_count
        self._line.cache_clear()  # the last line may still be written
        self.line_count = len(self.text)
        self.rows = range(1, self.line_count + 1) if shows_all else self.rows
        self.rows_changed()
        if at_end:
            self.go_to(self.line_count - 1, announce=False)

    def pinned_width(self) -> int:
        return len(str(max(self.line_count, 1))) + 1

    def _pieces(self, number: int) -> Line:
        mark = Piece(BOOKMARK if number in self.bookmarked else " ", Role.ACCENT)
        return (Piece(f"{number:>{self.pinned_width() - 1}}", Role.DIM), mark, *self._line(number))

    def action_jump_to_start(self) -> None:
        """Scroll back to the first column; from there, move to the first line."""
        if self.scroll_offset.x:
            self.scroll_to(x=0, animate=False, immediate=True)
        else:
            super().action_jump_to_start()

    def clicked(self, index: int, column: int) -> None:
        """Only move the cursor: a click in a text does not choose the line."""

    def _lay_out(self, number: int) -> Line:
        """Lay a line out; the lines shown last are kept."""
        line = log_pieces(self.text.line(number), self._sought, prefixes=self._prefixes)
        width = width_of(line) + self.pinned_width() + 1
        if width > self._widest:
            self._widest = width
            self.call_later(self._resize_content)  # later, because this runs while painting
        return line


_FILES = 8
"""Number of files whose text is kept, so that going back and forth does not read them again."""


class TextPane(Vertical):
    """Shows one file at a time. ``read`` returns the lines of a path and is called in a thread."""

    def __init__(
        self,
        read: Callable[[str], LogText],
        label: str,
        role: Role,
        *,
        id: str,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(id=id, classes="pane")
        self._read = read
        self._label = label
        self._role = role
        self._texts: dict[str, LogText] = {}
        self._wanted: SourceSpan | None = None
        self._heading = LineBar(classes="heading")
        self.view = LogView(LogText(), id=f"{id}-text")

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self.view

    def on_mount(self) -> None:
        self._show_heading("")

    def on_resize(self) -> None:
        self._show_heading("")

    @property
    def text(self) -> LogText:
        path = self._wanted.file if self._wanted else ""
        return self._texts.get(path, LogText())

    def cited(self) -> tuple[str, int, str] | None:
        """Return file, number and text of the line under the cursor; None if no line is in view."""
        text, number = self.text, self.view.current_line
        if self._wanted is None or number > len(text):
            return None
        return self._wanted.file, number, text.line(number)

    def open(self, span: SourceSpan | None) -> None:
        """Show a line of a file; None if this side has no line."""
        self._wanted = span
        if span is None:
            self.view.show_text(LogText())
            self._show_heading("no line on this side")
        elif span.file in self._texts:
            self._show()
        else:
            self._show_heading("reading")
            read, keep = partial(self._read, span.file), partial(self._keep, span.file)
            in_thread(self, read, keep, group="text", failed=partial(self._fail, span.file))

    def _keep(self, path: str, text: LogText) -> None:
        self._texts[path] = text
        while len(self._texts) > _FILES:
            self._texts.pop(next(iter(self._texts)))
        if self._wanted is not None and self._wanted.file == path:
            self._show()

    def _fail(self, path: str, error: ForensicsError) -> None:
        if self._wanted is not None and self._wanted.file == path:
            self._show_heading(error.what)

    def _show(self) -> None:
        if self._wanted is not None:
            self.view.show_text(self._texts[self._wanted.file])
            self._show_heading("")
            self.call_after_refresh(self._go)  # the list knows the length of a new text only then

    def _go(self) -> None:
        if self._wanted is not None and self._wanted.file in self._texts:
            self.view.show_line(self._wanted.line)

    def _show_heading(self, state: str) -> None:
        place = f"{self._wanted.file}:{self._wanted.line}" if self._wanted else ""
        room = max(self.size.width - len(self._label) - len(state) - 5, 1)
        name = Piece(f" {clip(place, room)}" if place else "")
        self._heading.show(Piece(f" {self._label} ", self._role), name, Piece(f" {state}" if state else "", Role.DIM))
