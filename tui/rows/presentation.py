"""How a list shows its rows: what it paints, what a filter can ask of a row, what is exported of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trtforensics.tables.columns import TableColumn
    from trtforensics.tui.rows.pieces import Line

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class CitingLine:
    """A line of a wrapped row, and the line of the log that it cites."""

    pieces: Line
    line: int | None = None
    headline: bool = False
    """Whether it heads the row, which can be opened."""


@dataclass(frozen=True, slots=True)
class Presentation(Generic[Row]):
    """How rows of one sort look in a list."""

    pieces: Callable[[Row, int], Line] = lambda _row, _width: ()
    """Lays a row out in a width."""
    wrapped: Callable[[Row, int], Iterable[CitingLine]] = lambda _row, _width: ()
    """Breaks a row into lines of a width, for a list that wraps its rows."""
    line: Callable[[Row], int | None] = lambda _row: None
    """The line of the log that a row is about."""
    heading: Callable[[Sequence[Row], int], Sequence[Line]] = lambda _rows, _width: ()
    """The lines that stay above the rows, in a width."""
    footing: Callable[[Row | None, int, int], Sequence[Line]] = lambda _row, _width, _height: ()
    """The lines that stay below the rows, about the row under the cursor, in a width and for a height of the pane."""
    scrolls: bool = False
    """Whether rows are as wide as their text and scroll sideways; else they are cut to fit."""
    pinned: int = 0
    """Cells at the left that do not scroll sideways."""
    noun: str = "row"
    """What a row is called where a filter keeps none."""
    key: Callable[[Row], object] | None = None
    """What stays the same of a row when it is read again; None where its position does."""
    filters: tuple[TableColumn, ...] = ()
    """What a filter can ask of a row."""
    columns: tuple[TableColumn, ...] = ()
    """The columns of an exported table; without them it has each row's line and text."""
