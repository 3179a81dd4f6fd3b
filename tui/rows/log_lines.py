"""Lines of a log as they stand in the file, split into prefix, message and matches; warnings and errors as rows."""

import re
from collections.abc import Sequence

from trtforensics.console.terminal import visible
from trtforensics.model.log import Message
from trtforensics.tui.rows.pieces import Line, Piece, Presentation, Role, line_digits, list_columns

LONGEST = 20_000
"""Characters of a line that are shown; a line may be as long as the file."""

_MARGIN = 1_000
"""Characters that are read beyond those shown, so that a secret is masked before it is cut."""

_AROUND = 60
"""Characters that are shown on either side of a match beyond the longest line."""

_ROLES = {"E": Role.ERROR, "W": Role.WARNING}
_HEAD = 512
"""Characters of a line that may be its prefix."""


def log_pieces(text: str, sought: re.Pattern[str] | None = None, *, prefixes: bool = True) -> Line:
    """Split a line, cut if long, into prefix, message and matches; without ``prefixes`` it starts at its message."""
    from trtforensics.parsers.lines.dialects import prefix_of, severity_of

    shown = visible(text[: LONGEST + _MARGIN])[:LONGEST]
    rest = len(text) - LONGEST
    head = shown[:_HEAD].encode("utf-8", "replace")
    role = _ROLES.get(severity_of(head), Role.PLAIN)
    prefix = prefix_of(head)
    start = len(head[: prefix.end].decode("utf-8", "replace")) if prefix else 0
    pieces = [Piece(shown[:start], Role.DIM)] if start and prefixes else []
    pieces += _marked(shown[start:], role, sought)
    if rest > 0:
        pieces += _beyond(text, role, sought)
        pieces.append(Piece(f" … {rest:,} more characters", Role.DIM))
    return tuple(pieces)


def _beyond(text: str, role: Role, sought: re.Pattern[str] | None) -> list[Piece]:
    """Return the first match beyond the characters that are shown, between the characters around it."""
    match = sought.search(text, LONGEST) if sought is not None else None
    if sought is None or match is None or not match[0]:
        return []
    start = max(match.start() - _MARGIN, 0)
    near = visible(text[start : match.end() + _MARGIN])
    # What becomes visible, or is masked, moves the match: it is the one nearest to where it was.
    moved = min(sought.finditer(near), key=lambda other: abs(other.start() - match.start() + start), default=None)
    if moved is None:
        return []
    where = Piece(f" … at character {match.start() + 1:,}: ", Role.DIM)
    before, after = near[max(moved.start() - _AROUND, 0) : moved.start()], near[moved.end() : moved.end() + _AROUND]
    return [where, Piece(before, role), Piece(moved[0][:LONGEST], Role.MATCH), Piece(after, role)]


def _marked(text: str, role: Role, sought: re.Pattern[str] | None) -> list[Piece]:
    """Split a text at the matches of a pattern; empty matches are no matches."""
    if sought is None:
        return [Piece(text, role)]
    pieces = []
    end = 0
    for match in sought.finditer(text):
        if match[0]:
            pieces += [Piece(text[end : match.start()], role), Piece(match[0], Role.MATCH)]
            end = match.end()
    return [*pieces, Piece(text[end:], role)]


_FILTERS = list_columns("messages")


def messages(rows: Sequence[Message]) -> Presentation[Message]:
    """Return how the warnings and errors of a build look in a list."""
    gutter = line_digits(message.span.line for message in rows)

    def pieces(message: Message, _: int) -> Line:
        role = Role.WARNING if message.severity == "W" else Role.ERROR
        number = Piece(f"{message.span.line:>{gutter}} ", Role.DIM)
        return (number, Piece(f" {message.severity}  ", role), Piece(message.text))

    return Presentation(
        pieces=pieces,
        line=lambda message: message.span.line,
        heading=lambda kept, *_: ((Piece(f"{'line':>{gutter}} E/W message"),),) if kept else (),
        widest=None,
        pinned=gutter + 1,
        noun="message",
        filters=_FILTERS,
    )
