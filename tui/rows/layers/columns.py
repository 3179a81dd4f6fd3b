"""The columns of the layers pane: which fit a width, their headings with units, their texts, and how they sort."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from rich.cells import cell_len

from trtforensics.engines.facts import LayerFacts
from trtforensics.model.layer_types import REFORMATS, UNTUNED
from trtforensics.model.timings import NEAR_TIE_RATIO, TimeSource
from trtforensics.render.headline import computed_type
from trtforensics.tables.columns import Cell, TableColumn
from trtforensics.tables.layers import LAYER_CELLS, LAYER_COLUMNS, UNKNOWN
from trtforensics.tables.table import sorted_rows
from trtforensics.tui.rows.pieces import TYPE_ROLE, Line, Piece, Role, Row, bar, clip, fit, flush

_DIMMED = REFORMATS.union(UNTUNED)

LEAST_NAME = 16
"""Fewest cells of a layer's name."""

_LEAST_OPERATORS = 6
"""Fewest cells in which operators stand behind a name."""

_MOST_CELLS = 26
"""Most cells of a column that has no width of its own, until it is widened."""
_ASCENDING = frozenset({"margin", "other"})
"""Numbers that sort with the smallest first: the closest ties."""
NAME = "layer"
_BAR = "share bar"
_SAME_ORDER = frozenset({"%", _BAR})
"""The columns that sort as the time does."""
_ROLES = {"kind": Role.DIM, "compute": Role.ACCENT, "%": Role.DIM, "other type": Role.DIM}


def _share_bar(entry: LayerFacts) -> str:
    slowest = next(iter(entry.engine.ledger.slowest), None)
    return bar((entry.share or 0.0) / (slowest.share or 1.0), 9) if slowest is not None and slowest.share else ""


def value_text(column: TableColumn, entry: LayerFacts) -> str:
    """Spell a value of a column for people; "" where it is not known."""
    value = column.get(entry)
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _cell(column: TableColumn) -> Cell:
    width = min(max(len(column.name) + 1, 9), _MOST_CELLS)
    return column.cell or Cell(column.name, width, 9, 9, partial(value_text, column), right=column.is_number)


_COLUMN_OF = {_cell(column).title: column for column in LAYER_COLUMNS if column.name not in {NAME, "number"}}
SHOWN = (*LAYER_CELLS, Cell(_BAR, 9, 8, 8, _share_bar))
"""The cells of a list whose columns nobody has chosen."""
CHOICES = {cell.title: cell for cell in (*SHOWN, *map(_cell, _COLUMN_OF.values()))}
"""Every cell that can be chosen, by its title."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order of rows by a column, by its title; rows of which ``value`` is None come last."""

    column: str
    value: Callable[[Any], Any]
    descending: bool = False

    @property
    def mark(self) -> str:
        """What stands behind the title of the column."""
        return "▼" if self.descending else "▲"

    @property
    def reversed(self) -> Order:
        return replace(self, descending=not self.descending)

    def sorted(self, entries: Iterable[Row]) -> list[Row]:
        return sorted_rows(entries, self.value, reverse=self.descending)


ENGINE_ORDER = Order("#", lambda entry: entry.number)
_BY_NAME = Order(NAME, lambda entry: entry.name.casefold())


def _text_of(cell: Cell, entry: LayerFacts) -> str | None:
    text = cell.text(entry)
    return None if text in {"", UNKNOWN} else text


def _order(cell: Cell) -> Order:
    column = _COLUMN_OF[cell.title]
    if column.is_number:
        return Order(cell.title, column.get, descending=column.name not in _ASCENDING)
    return Order(cell.title, partial(_text_of, cell))


@dataclass(frozen=True)
class ColumnLayout:
    """How layers are laid out in a width: cells of numbers, chosen columns, near ties up to the ratio ``tie``."""

    width: int
    digits: int
    tie: float = NEAR_TIE_RATIO
    cells: tuple[Cell, ...] = SHOWN

    @cached_property
    def shown(self) -> tuple[Cell, ...]:
        """The columns that fit, the least important left out until the names have room."""
        shown = list(self.cells)
        for cell in sorted(self.cells, key=lambda cell: -cell.rank):
            if self._name_width(shown) >= LEAST_NAME:
                break
            shown.remove(cell)
        return tuple(shown)

    def _name_width(self, shown: Iterable[Cell]) -> int:
        return self.width - 4 - self.digits - sum(column.width + 1 for column in shown)

    @property
    def name_width(self) -> int:
        return self._name_width(self.shown)

    @property
    def orders(self) -> tuple[Order, ...]:
        """What ``s`` goes through, all in view, so that the mark of the one in use is seen: numbers, name, texts."""
        orders = [_order(cell) for cell in self.shown if cell.title not in _SAME_ORDER]
        numbers = [order for order in orders if _COLUMN_OF[order.column].is_number]
        return (ENGINE_ORDER, *numbers, _BY_NAME, *(order for order in orders if order not in numbers))

    def order_at(self, place: int) -> Order:
        """Return the order by the column at a cell of the heading; a share sorts as its time does."""
        end = 4 + self.digits
        title = "#" if place < end else NAME
        end += self.name_width
        for cell in self.shown if place >= end else ():
            title, end = cell.title, end + cell.width + 1
            if place < end:
                break
        title = "ms" if title in _SAME_ORDER else title
        return next((order for order in self.orders if order.column == title), ENGINE_ORDER)

    def heading(self, order: Order, source: TimeSource | None) -> Line:
        """Return the titles of the columns; the sorted column has its mark, and ms says where times are from."""
        number = f"#{order.mark}" if order.column == "#" else "#"
        name = f"{NAME}{order.mark}" if order.column == NAME else NAME
        pieces = [f"   {flush(number, self.digits)} {fit(name, self.name_width)}"]
        for column in self.shown:
            mark = order.mark if order.column == column.title else ""
            title = f"{column.title} {source}" if column.title == "ms" and source else column.title
            title = title if cell_len(title + mark) <= column.width else column.title
            text = clip(title, column.width - len(mark)) + mark
            pieces.append(flush(text, column.width) if column.right else fit(text, column.width))
        return (Piece(" ".join(pieces)),)


_MARKED = frozenset({"ms", "margin"})
"""The columns that mark near ties: the last of them that has room."""


def layer_pieces(name: str, entry: LayerFacts, layout: ColumnLayout, *, expanded: bool) -> Line:
    """Lay out a layer in its columns."""
    shown = layout.shown
    arrow = " ▾ " if expanded else " ▸ "
    mark = "│ " if entry.inside else "◈ " if entry.foreign_node else ""
    quiet = entry.in_engine and entry.layer.type in _DIMMED
    number = flush(str(entry.number or ""), layout.digits)
    room = layout.name_width - len(mark)
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
        if column.title == _BAR and entry.unit is not None:
            role = TYPE_ROLE.get(computed_type(entry.engine.build, entry.unit), Role.BAR)
        pieces.append(Piece(" " + (flush(text, column.width) if column.right else fit(text, column.width)), role))
    return tuple(pieces)


def _untold(name: str, entry: LayerFacts) -> str:
    """Return the operators of a layer's ONNX nodes that its name does not tell."""
    spelling = name.casefold()
    operators = dict.fromkeys(entry.operators)
    return ", ".join(name for name in operators if not re.search(rf"(?<![a-z]){re.escape(name.casefold())}", spelling))
