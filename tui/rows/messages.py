"""Rows of the warnings and errors of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tui.rows.pieces import Line, Piece, Role, line_digits
from trtforensics.tui.rows.presentation import Presentation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import Message


def message_pieces(message: Message, gutter: int) -> Line:
    """Lay out a warning or an error behind its line number, ``gutter`` digits wide."""
    role = Role.WARNING if message.severity == "W" else Role.ERROR
    number = Piece(f"{message.span.line:>{gutter}} ", Role.DIM)
    return (number, Piece(f" {message.severity}  ", role), Piece(message.text))


_SEVERITIES = {"W": "warning", "E": "error"}
_FILTERS = (
    TableColumn("text", lambda message: message.text),
    TableColumn("severity", lambda message: _SEVERITIES.get(message.severity, message.severity)),
    TableColumn("line", lambda message: message.span.line, Sort.INTEGER),
)


def messages(rows: Sequence[Message]) -> Presentation[Message]:
    """Return how the warnings and errors of a build look in a list."""
    gutter = line_digits(message.span.line for message in rows)
    return Presentation(
        pieces=lambda message, _: message_pieces(message, gutter),
        line=lambda message: message.span.line,
        heading=lambda kept, _: ((Piece(f"{'line':>{gutter}} E/W message"),),) if kept else (),
        scrolls=True,
        pinned=gutter + 1,
        noun="message",
        filters=_FILTERS,
    )
