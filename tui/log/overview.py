"""The overview pane and the messages pane. Each row starts with the number of the log line that states it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from trtforensics.tui.rows.overview_rows import MESSAGE_FIELDS, message_fields, message_pieces
from trtforensics.tui.rows.pieces import Line, Piece, Role, width_of
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import Message
    from trtforensics.tables.filtering import FilterField
    from trtforensics.tui.rows.overview_rows import OverviewRow

NARROWEST = 3
"""Fewest digits of a column of line numbers."""


class Overview(VirtualList):
    """A build as labelled values."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._every: Sequence[OverviewRow] = ()
        self._facts: Sequence[OverviewRow] = ()
        self._rows: list[tuple[OverviewRow, Line]] = []
        self._wrapped_at = 0
        self._gutter = NARROWEST

    def show_rows(self, rows: Sequence[OverviewRow], *, keep: bool = False) -> None:
        """Show other rows. With ``keep`` the cursor stays on the value of the same label; else it goes to the top."""
        cursor, above = self.cursor, self.cursor - self.scroll_offset.y
        label = self._rows[cursor][0].label if self._rows else ""
        self._every = rows
        self._facts = self._kept_rows()
        self._gutter = max(NARROWEST, *(len(str(row.line or "")) for row in rows))
        self.cursor = 0
        self._wrap()
        if keep:
            same = (index for index, (row, _) in enumerate(self._rows) if row.label == label)
            self.stay(min(same, key=lambda index: abs(index - cursor), default=cursor), above)
        else:
            self.scroll_to(x=0, y=0, animate=False, immediate=True)

    def on_resize(self) -> None:
        """Wrap the values again; the cursor stays on its value."""
        if self.scrollable_content_region.width != self._wrapped_at and self._rows:
            fact = self._rows[self.cursor][0]
            self._wrap()
            self.cursor = next(index for index, (row, _) in enumerate(self._rows) if row is fact)
        super().on_resize()

    def refill(self) -> None:
        """List the values that the filter keeps."""
        self._facts = self._kept_rows()
        self.cursor = 0
        self._wrap()

    def _kept_rows(self) -> Sequence[OverviewRow]:
        kept = self.kept_by
        return [row for row in self._every if not kept or kept.keeps({"text": f"{row.label} {row.value}"})]

    def row_count(self) -> int:
        """Return the number of lines, headings and wrapped values included."""
        return len(self._rows)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - it was wrapped before
        """Return a labelled value, or a further line of a wrapped value."""
        return self._rows[index][1]

    def log_line(self, index: int) -> int | None:
        """Return the line that states the value."""
        return self._rows[index][0].line

    def _wrap(self) -> None:
        """Lay the rows out for the current width."""
        width = self._wrapped_at = self.scrollable_content_region.width
        self._rows = [(row, line) for row in self._facts for line in row.lines(self._gutter, width - 1)]
        self.rows_changed()


class MessageList(VirtualList):
    """The warnings and errors of a build."""

    fields: ClassVar[Sequence[FilterField]] = MESSAGE_FIELDS

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._every: Sequence[Message] = ()
        self._messages: Sequence[Message] = ()
        self._width = 0
        self._gutter = NARROWEST

    def show_messages(self, messages: Sequence[Message], *, keep: bool = False) -> None:
        """Show other messages. With ``keep`` messages were only added and the cursor stays; else it goes to the top."""
        self._every = messages
        self._messages = self._kept_messages()
        self._gutter = max(NARROWEST, *(len(str(message.span.line)) for message in messages), NARROWEST)
        self._width = max((width_of(message_pieces(message, self._gutter)) for message in messages), default=0) + 1
        self.cursor = self.cursor if keep else 0
        self.rows_changed()

    def refill(self) -> None:
        """List the messages that the filter keeps."""
        self._messages = self._kept_messages()
        self.cursor = 0
        self.rows_changed()

    def _kept_messages(self) -> Sequence[Message]:
        kept = self.kept_by
        return [message for message in self._every if not kept or kept.keeps(message_fields(message))]

    def header(self, width: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls with the rows
        """Return the titles of the columns."""
        return ((Piece(f"{'line':>{self._gutter}} E/W message"),),) if self._messages else ()

    def row_count(self) -> int:
        """Return the number of messages: 1 when a text replaces them."""
        return max(len(self._messages), 1)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - rows scroll, they are not cut
        """Return a message."""
        if not self._messages:
            empty = f" no message is kept by {self.kept_by.text!r}" if self._every else " no warnings and no errors"
            return (Piece(empty, Role.DIM),)
        return message_pieces(self._messages[index], self._gutter)

    def log_line(self, index: int) -> int | None:
        """Return the message's line."""
        return self._messages[index].span.line if self._messages else None

    def content_width(self) -> int:
        """Return the width of the longest message."""
        return self._width

    def pinned_width(self) -> int:
        """Return the width of the line numbers."""
        return self._gutter + 1 if self._messages else 0
