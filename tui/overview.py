"""The overview and the messages: rows made by presenters, each with the line of the log that states it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tui.pieces import Line, Piece, Role, width_of
from trtforensics.tui.presenters import OverviewRow, message_pieces
from trtforensics.tui.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model import Message


class Overview(VirtualList):
    """What a build is, in labelled values."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._rows: Sequence[OverviewRow] = ()
        self._width = 0

    def show_rows(self, rows: Sequence[OverviewRow]) -> None:
        """Show other rows, from the top."""
        self._rows = rows
        self._width = max((width_of(row.pieces()) for row in rows), default=0) + 1
        self.cursor = 0
        self.rows_changed()
        self.scroll_to(x=0, y=0, animate=False, immediate=True)

    def row_count(self) -> int:
        """Return how many rows there are, headings included."""
        return len(self._rows)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - rows scroll, they are not cut
        """Return a labelled value."""
        return self._rows[index].pieces()

    def log_line(self, index: int) -> int | None:
        """Return the line that states the value."""
        return self._rows[index].line

    def content_width(self) -> int:
        """Return the width of the widest value."""
        return self._width


class MessageList(VirtualList):
    """The warnings and errors of a build."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._messages: Sequence[Message] = ()
        self._width = 0

    def show_messages(self, messages: Sequence[Message]) -> None:
        """Show other messages, from the top."""
        self._messages = messages
        self._width = max((width_of(message_pieces(message)) for message in messages), default=0) + 1
        self.cursor = 0
        self.rows_changed()

    def row_count(self) -> int:
        """Return how many messages there are, or one row that says there are none."""
        return max(len(self._messages), 1)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - rows scroll, they are not cut
        """Return a message."""
        if not self._messages:
            return (Piece(" no warnings and no errors", Role.DIM),)
        return message_pieces(self._messages[index])

    def log_line(self, index: int) -> int | None:
        """Return the message's line."""
        return self._messages[index].span.line if self._messages else None

    def content_width(self) -> int:
        """Return the width of the longest message."""
        return self._width
