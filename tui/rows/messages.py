"""Rows of the warnings and errors of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tui.rows.filtering import numbers, texts
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


MESSAGE_FIELDS = (*texts("text", "severity"), *numbers("", "line"))


def message_fields(message: Message) -> dict[str, object]:
    """Return what a filter can ask of a warning or an error; its severity is a word."""
    severity = {"W": "warning", "E": "error"}.get(message.severity, message.severity)
    return {"text": message.text, "severity": severity, "line": message.span.line}


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
        fields=MESSAGE_FIELDS,
        values=message_fields,
    )
