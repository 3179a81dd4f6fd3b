"""The columns of the layers pane: which fit a width, their headings with units, their texts, and how they sort."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from trtforensics.engines.alternatives import WORDS
from trtforensics.model.profile import TimeSource
from trtforensics.model.times import NO_KERNEL
from trtforensics.tui.rows.layers.entries import UNKNOWN, LayerEntry
from trtforensics.tui.rows.pieces import Line, Piece, Role, fit, fit_right, milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

UNTUNED = {"Reformat", "NoOp", "Constant", "TrainStation", "signal", "wait", "shape_call"}
"""Types of layers that compute nothing; they are dimmed."""

LEAST_NAME = 16
"""Fewest cells of a layer's name."""

_LEAST_OPERATORS = 6
"""Fewest cells in which operators stand behind a name."""

DESCENDING = "▼"
ASCENDING = "▲"


@dataclass(frozen=True, slots=True)
class Column:
    """A column behind the names: its title, its width in cells, and its text for a layer.

    ``rank`` says in which order columns give way on a narrow screen: the highest first.
    """

    title: str
    width: int
    rank: int
    text: Callable[[LayerEntry], str]
    right: bool = False
    role: Role = Role.PLAIN


@dataclass(frozen=True, slots=True)
class Order:
    """An order of the layers: the title of the column that it is told by, the mark behind it, and the sort key."""

    column: str
    mark: str
    key: Callable[[LayerEntry], float]


def _time(entry: LayerEntry) -> str:
    if entry.time_ms is None:
        return "" if entry.kind in NO_KERNEL else UNKNOWN
    return milliseconds(entry.time_ms)


def _share(entry: LayerEntry) -> str:
    return f"{entry.share * 100:.1f}" if entry.share is not None else ""


def _margin(entry: LayerEntry) -> str:
    return _percent(entry.margin)


def _other(entry: LayerEntry) -> str:
    other = entry.other
    return f"{WORDS.get(other.type, other.type)} {_percent(other.ratio)}" if other else ""


def _percent(ratio: float | None) -> str:
    if ratio is None:
        return ""
    percent = (ratio - 1) * 100
    return f"{percent:+,.0f} %" if abs(percent) >= 100 else f"{percent:+.1f} %"  # noqa: PLR2004 - three digits suffice


NAME = "layer"
COLUMNS = (
    Column("kind", 14, 6, lambda entry: entry.kind, role=Role.DIM),
    Column("in→out", 11, 3, lambda entry: entry.types_text),
    Column("compute", 8, 4, lambda entry: entry.compute, role=Role.ACCENT),
    Column("ms", 9, 1, _time, right=True),
    Column("%", 5, 2, _share, right=True, role=Role.DIM),
    Column("margin", 8, 5, _margin, right=True),
    Column("other type", 13, 7, _other, role=Role.DIM),
)
"""In the order of the screen. ``margin`` is the runner-up's lag in the same formats; ``other type`` the fastest of
another type, compared with the engine's."""

ORDERS = (
    Order("#", ASCENDING, lambda entry: entry.number or math.inf),
    Order("ms", DESCENDING, lambda entry: -(entry.time_ms if entry.time_ms is not None else -math.inf)),
    Order("margin", ASCENDING, lambda entry: math.inf if entry.margin is None else entry.margin),
    Order("other type", ASCENDING, lambda entry: math.inf if entry.other is None else entry.other.ratio),
)
"""What ``s`` cycles through: the engine's order, slowest first, closest tie first, fastest other type first."""


def fitting(width: int, digits: int) -> tuple[Column, ...]:
    """Return the columns that fit a width, the least important left out until the names have room."""
    shown = list(COLUMNS)
    for column in sorted(COLUMNS, key=lambda column: -column.rank):
        if _name_width(width, digits, shown) >= LEAST_NAME:
            break
        shown.remove(column)
    return tuple(shown)


def heading(width: int, digits: int, order: Order, source: TimeSource | None) -> Line:
    """Return the titles of the columns; the sorted column has its mark, and ms says where times are from."""
    shown = fitting(width, digits)
    number = f"#{ASCENDING}" if order.column == "#" else "#"
    pieces = [f"   {fit_right(number, digits)} {fit(NAME, _name_width(width, digits, shown))}"]
    for column in shown:
        mark = order.mark if order.column == column.title else ""
        title = f"{column.title} {source}" if column.title == "ms" and source else column.title
        text = f"{title}{mark}" if cell_len(title + mark) <= column.width else f"{column.title}{mark}"
        pieces.append(fit_right(text, column.width) if column.right else fit(text, column.width))
    return (Piece(" ".join(pieces)),)


_MARKED = frozenset({"ms", "margin"})
"""The columns that mark near ties: the last of them that has room."""


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """How layers are laid out: cells in all, cells of their numbers, and up to which ratio runners-up are near ties."""

    width: int
    digits: int
    tie: float


def layer_pieces(name: str, entry: LayerEntry, layout: ColumnLayout, *, expanded: bool) -> Line:
    """Lay out a layer in its columns."""
    width, digits = layout.width, layout.digits
    shown = fitting(width, digits)
    arrow = " ▾ " if expanded else " ▸ "
    mark = "◈ " if entry.foreign else "│ " if entry.inside else ""
    quiet = entry.layer is not None and entry.layer.type in UNTUNED
    number = fit_right(str(entry.number or ""), digits)
    room = _name_width(width, digits, shown) - len(mark)
    marked = next((column for column in reversed(shown) if column.title in _MARKED), None)
    operators = _untold(name, entry)
    named = cell_len(name) + 2 if operators and cell_len(name) + 2 + _LEAST_OPERATORS <= room else max(room, 1)
    pieces = [
        Piece(arrow, Role.DIM),
        Piece(f"{number} ", Role.DIM),
        Piece(mark, Role.ACCENT),
        Piece(fit(name, named), Role.DIM if quiet else Role.PLAIN),
    ]
    if named < room:
        pieces.append(Piece(fit(operators, room - named), Role.DIM))
    for column in shown:
        text = column.text(entry)
        role = Role.WARNING if text == UNKNOWN else Role.DIM if quiet else column.role
        if column is marked and entry.margin is not None and entry.margin <= layout.tie:
            text, role = f"≈{text}", Role.WARNING
        pieces.append(Piece(" " + (fit_right(text, column.width) if column.right else fit(text, column.width)), role))
    return tuple(pieces)


def _untold(name: str, entry: LayerEntry) -> str:
    """Return the operators of a layer's ONNX nodes that its name does not tell."""
    told = name.casefold()
    return ", ".join(one for one in entry.operators if not re.search(rf"(?<![a-z]){re.escape(one.casefold())}", told))


def _name_width(width: int, digits: int, shown: Iterable[Column]) -> int:
    return width - 4 - digits - sum(column.width + 1 for column in shown)


def time_source(entries: Sequence[LayerEntry]) -> TimeSource | None:
    """Return where the times of layers are from: one source for all layers of an engine."""
    known = {entry.time_is for entry in entries}
    return next((source for source in TimeSource if source in known), None)
