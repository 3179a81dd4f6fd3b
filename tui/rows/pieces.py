"""Lines of text with roles and no markup, which rows modules build and widgets paint; how a list shows its rows."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Any, Generic, TypeVar

from rich.cells import cell_len, set_cell_size

from trtforensics.console.terminal import visible
from trtforensics.model.older_python import StrEnum
from trtforensics.tables.columns import TableColumn, columns_of

EIGHTHS = " ▏▎▍▌▋▊▉"
KIBI = 1024
UNNAMED = "(the log gives no name)"

_FEWEST_DIGITS = 3
_INDENT = " " * 3
_WORDS = re.compile(r"\s*\S+|\s+$")


class Role(StrEnum):
    """The role of a piece of text; the style sheet defines its look."""

    PLAIN = "plain"
    DIM = "dim"
    STRONG = "strong"
    TITLE = "title"
    ACCENT = "accent"
    GOOD = "good"
    WARNING = "warning"
    ERROR = "error"
    BAR = "bar"
    CHOSEN_BAR = "chosen-bar"
    MATCH = "match"
    FULL = "full"
    HALF = "half"
    QUARTER = "quarter"


TYPE_ROLE = {
    "FP32": Role.FULL,
    **dict.fromkeys(("FP16", "BF16"), Role.HALF),
    **dict.fromkeys(("INT8", "FP8", "INT4", "FP4"), Role.QUARTER),
}
"""The colours of compute types; the row names the type too, as colours may not be seen."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text in one role."""

    text: str
    role: Role = Role.PLAIN


Line = tuple[Piece, ...]


def width_of(line: Line) -> int:
    """Return how many terminal cells a line takes."""
    return sum(cell_len(piece.text) for piece in line)


def broken(line: Line, width: int) -> list[Line]:
    """Break a line at its blanks into lines of at most ``width`` cells, the further ones indented; words stay whole."""
    lines: list[Line] = [()]
    for piece in line:
        for word in _WORDS.findall(piece.text):
            if lines[-1] and width_of(lines[-1]) + cell_len(word) > width:
                lines.append((Piece(_INDENT + word.lstrip(), piece.role),))
            else:
                lines[-1] += (Piece(word, piece.role),)
    return lines


def clip(text: str, width: int) -> str:
    """Cut the middle out of a text wider than ``width`` cells; fused names differ at both ends.

    Secrets are masked first, because half a secret could not be recognised, and characters that are not painted as they
    are become what is painted, because a joined emoji takes more cells when it is taken apart. A character that asks
    for the wide form of the sign before it goes: terminals differ in how many cells that takes.
    """
    text = visible(text).replace("\ufe0f", "")
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    head = width // 2
    return set_cell_size(text, head) + "…" + _tail(text, width - 1 - head)


def fit(text: str, width: int) -> str:
    """Clip or pad a text to exactly ``width`` cells."""
    return set_cell_size(clip(text, width), width)


def flush(text: str, width: int) -> str:
    """Clip or pad a text to exactly ``width`` cells, flush right."""
    clipped = clip(text, width)
    return " " * (width - cell_len(clipped)) + clipped


def line_digits(lines: Iterable[int | None]) -> int:
    """Return the width of a column of line numbers."""
    return max(_FEWEST_DIGITS, *(len(str(line or "")) for line in lines), _FEWEST_DIGITS)


def bar(fraction: float, width: int) -> str:
    """Draw a bar of ``width`` cells, filled to ``fraction`` in eighths of a cell, above 0 to one at least."""
    steps = round(min(max(fraction, 0.0), 1.0) * width * 8)
    steps = max(steps, 1) if fraction > 0 else 0
    whole, rest = divmod(steps, 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(width)


def stacked_bar(parts: Iterable[tuple[Role, float]], width: int) -> tuple[Piece, ...]:
    """Draw fractions of ``width`` cells one behind the other, in whole cells, each in its role."""
    pieces: list[Piece] = []
    end = 0.0
    for role, fraction in parts:
        before, end = end, min(end + fraction, 1.0)
        pieces.append(Piece("█" * (round(end * width) - round(before * width)), role))
    return (*pieces, Piece(" " * (width - round(end * width))))


def size(count: int) -> str:
    """Spell a number of bytes."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < KIBI:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= KIBI
    return f"{value:.1f} GiB"


def _tail(text: str, width: int) -> str:
    """Return the end of a text, at most ``width`` cells of it."""
    used = accumulate(map(cell_len, reversed(text)))
    return text[len(text) - sum(1 for _ in takewhile(lambda cells: cells <= width, used)) :]


Row = TypeVar("Row")


def list_columns(table: str, **named: Callable[..., Any]) -> tuple[TableColumn, ...]:
    """Return what a list can be filtered by, or exported as: rows of ``tables/columns.tsv``."""
    return columns_of(table, named, "trtforensics.tui.rows")


@dataclass(frozen=True, slots=True)
class CitingLine:
    """A line of a wrapped row, and the line of the log that it cites; a ``headline`` can be opened."""

    pieces: Line
    line: int | None = None
    headline: bool = False


@dataclass(frozen=True, slots=True)
class Presentation(Generic[Row]):
    """How rows of one sort look in a list.

    ``pieces`` lays a row out in a width; ``wrapped`` breaks it into lines, for a list that wraps. ``line`` is that of
    the log that it is about. ``heading`` and ``footing`` stay above and below the rows, in a width and for a height of
    the pane; the footing is about the row under the cursor. ``widest`` is the width from which rows scroll sideways, 0
    where they are cut to fit, None to measure it; ``pinned`` cells at the left stay. A row is called ``noun`` where a
    filter, which can ask ``filters``, keeps none; ``key`` is what stays the same of it when it is read again, None
    where its position does. ``columns`` are those of an exported table; without them it has each row's line and text.
    """

    pieces: Callable[[Row, int], Line] = lambda _row, _width: ()
    wrapped: Callable[[Row, int], Iterable[CitingLine]] = lambda _row, _width: ()
    line: Callable[[Row], int | None] = lambda _row: None
    heading: Callable[[Sequence[Row], int, int], Sequence[Line]] = lambda _rows, _width, _height: ()
    footing: Callable[[Row | None, int, int], Sequence[Line]] = lambda _row, _width, _height: ()
    widest: int | None = 0
    pinned: int = 0
    noun: str = "row"
    key: Callable[[Row], object] | None = None
    filters: tuple[TableColumn, ...] = ()
    columns: tuple[TableColumn, ...] = ()
