"""The columns of the layers pane: which fit a width, their headings with units, their texts, and how they sort."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from trtforensics.model.layer_types import REFORMATS, UNTUNED
from trtforensics.tables.layers import LAYER_CELLS, UNKNOWN
from trtforensics.tui.rows.pieces import Line, Piece, Role, fit, fit_right

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trtforensics.engines.facts import LayerFacts
    from trtforensics.model.profile import TimeSource
    from trtforensics.tables.columns import Cell

_DIMMED = REFORMATS.union(UNTUNED)

LEAST_NAME = 16
"""Fewest cells of a layer's name."""

_LEAST_OPERATORS = 6
"""Fewest cells in which operators stand behind a name."""

DESCENDING = "▼"
ASCENDING = "▲"


@dataclass(frozen=True, slots=True)
class Order:
    """An order of the layers: its column's title, the mark behind that title, and the sort key."""

    column: str
    mark: str
    key: Callable[[LayerFacts], Any]


NAME = "layer"
_ROLES = {"kind": Role.DIM, "compute": Role.ACCENT, "%": Role.DIM, "other type": Role.DIM}
"""The roles of cells by their titles; other cells are plain."""


def _by_text(cell: Cell, entry: LayerFacts) -> tuple[bool, str]:
    """Return what sorts a layer by the text of a cell; those without one come last."""
    text = cell.text(entry)
    return text in {"", UNKNOWN}, text


ORDERS = (
    Order("#", ASCENDING, lambda entry: entry.number or math.inf),
    Order("ms", DESCENDING, lambda entry: -(entry.time_ms if entry.time_ms is not None else -math.inf)),
    Order("margin", ASCENDING, lambda entry: math.inf if entry.margin is None else entry.margin),
    Order("other type", ASCENDING, lambda entry: math.inf if entry.other_type is None else entry.other_type.ratio),
    Order(NAME, ASCENDING, lambda entry: entry.name.casefold()),
    *(
        Order(cell.title, ASCENDING, partial(_by_text, cell))
        for cell in LAYER_CELLS
        if cell.title in {"kind", "in→out", "compute"}
    ),
)
"""What ``s`` cycles through: the engine's order, slowest first, closest tie, fastest other type, then by texts."""


def orders(width: int, digits: int) -> tuple[Order, ...]:
    """Return the orders whose column is in view in a width, so that the mark of the one in use is always seen."""
    shown = {"#", NAME, *(cell.title for cell in fitting(width, digits))}
    return tuple(order for order in ORDERS if order.column in shown)


def title_at(width: int, digits: int, place: int) -> str:
    """Return the title of the column at a cell of the heading; a share sorts as its time does."""
    shown = fitting(width, digits)
    end = 4 + digits
    if place < end:
        return "#"
    end += _name_width(width, digits, shown)
    title = NAME
    for cell in shown if place >= end else ():
        title, end = cell.title, end + cell.width + 1
        if place < end:
            break
    return "ms" if title == "%" else title


def fitting(width: int, digits: int) -> tuple[Cell, ...]:
    """Return the columns that fit a width, the least important left out until the names have room."""
    shown = list(LAYER_CELLS)
    for cell in sorted(LAYER_CELLS, key=lambda cell: -cell.rank):
        if _name_width(width, digits, shown) >= LEAST_NAME:
            break
        shown.remove(cell)
    return tuple(shown)


def heading(width: int, digits: int, order: Order, source: TimeSource | None) -> Line:
    """Return the titles of the columns; the sorted column has its mark, and ms says where times are from."""
    shown = fitting(width, digits)
    number = f"#{ASCENDING}" if order.column == "#" else "#"
    name = f"{NAME}{ASCENDING}" if order.column == NAME else NAME
    pieces = [f"   {fit_right(number, digits)} {fit(name, _name_width(width, digits, shown))}"]
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


def layer_pieces(name: str, entry: LayerFacts, layout: ColumnLayout, *, expanded: bool) -> Line:
    """Lay out a layer in its columns."""
    width, digits = layout.width, layout.digits
    shown = fitting(width, digits)
    arrow = " ▾ " if expanded else " ▸ "
    mark = "│ " if entry.inside else "◈ " if entry.foreign_node else ""
    quiet = entry.in_engine and entry.layer.type in _DIMMED
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
        role = Role.WARNING if text == UNKNOWN else Role.DIM if quiet else _ROLES.get(column.title, Role.PLAIN)
        if column is marked and entry.margin is not None and entry.margin <= layout.tie:
            text, role = f"≈{text}", Role.WARNING
        pieces.append(Piece(" " + (fit_right(text, column.width) if column.right else fit(text, column.width)), role))
    return tuple(pieces)


def _untold(name: str, entry: LayerFacts) -> str:
    """Return the operators of a layer's ONNX nodes that its name does not tell."""
    spelling = name.casefold()
    operators = dict.fromkeys(entry.operators)
    return ", ".join(name for name in operators if not re.search(rf"(?<![a-z]){re.escape(name.casefold())}", spelling))


def _name_width(width: int, digits: int, shown: Iterable[Cell]) -> int:
    return width - 4 - digits - sum(column.width + 1 for column in shown)
