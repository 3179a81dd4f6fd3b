"""Lines of a log as they stand in the file, split into prefix, message and matches of a search."""

from __future__ import annotations

import re

from trtforensics.console.terminal import visible
from trtforensics.tui.rows.pieces import Line, Piece, Role

LONGEST = 20_000
"""Characters of a line that are shown; nobody scrolls further, and a line may be the whole file."""

_PREFIX = re.compile(r"(?:\[[^][]{1,60}\] ?){1,5}")
_SEVERITY = re.compile(r"\[([EFIVW])[\]:]|\b(ERROR|FATAL|CRITICAL|WARNING)\b")
_ROLES = {
    "E": Role.ERROR,
    "F": Role.ERROR,
    "W": Role.WARNING,
    "WARNING": Role.WARNING,
    "I": Role.PLAIN,
    "V": Role.PLAIN,
}
_HEAD = 80


def severity_role(text: str) -> Role:
    """Tell an error line and a warning line by the marks all loggers around TensorRT put near its start."""
    found = _SEVERITY.search(text, 0, _HEAD)
    return _ROLES.get(found[1] or found[2], Role.ERROR) if found else Role.PLAIN


def log_pieces(text: str, needle: str = "", *, prefixes: bool = True) -> Line:
    """Split a line into prefix, message and matches of ``needle``; the text comes back sanitised and bounded.

    Without ``prefixes`` the line starts at its message; the severity is still in its colour.
    """
    shown = visible(text[:LONGEST])
    rest = len(text) - LONGEST
    role = severity_role(shown)
    prefix = _PREFIX.match(shown)
    start = prefix.end() if prefix else 0
    pieces = [Piece(shown[:start], Role.DIM)] if start and prefixes else []
    pieces += _marked(shown[start:], role, visible(needle))
    if rest > 0:
        pieces.append(Piece(f" … {rest:,} more characters", Role.DIM))
    return tuple(pieces)


def _marked(text: str, role: Role, needle: str) -> list[Piece]:
    """Cut a text at the occurrences of ``needle``; case counts only where the needle has a capital."""
    if not needle:
        return [Piece(text, role)]
    flags = re.NOFLAG if needle != needle.lower() else re.IGNORECASE
    pieces = []
    end = 0
    for match in re.finditer(re.escape(needle), text, flags):
        pieces += [Piece(text[end : match.start()], role), Piece(match[0], Role.MATCH)]
        end = match.end()
    return [*pieces, Piece(text[end:], role)]
