"""Rows of runs, of a dataset or of the logs of a folder: which columns fit a width, their texts, how they sort."""

import os
from collections.abc import Sequence
from dataclasses import replace
from operator import methodcaller
from typing import Any

from trtforensics.datasets.store import columns
from trtforensics.knowledge.table import rows
from trtforensics.render.stated_rows import figure
from trtforensics.tables.columns import Cell, TableColumn
from trtforensics.tui.rows.layers.columns import ColumnLayout, Order
from trtforensics.tui.rows.pieces import Line, Piece, Presentation, Role, fit, flush

RunRow = dict[str, Any]
"""A row of the table ``runs``, by its columns."""

COLUMNS = tuple(replace(column, get=methodcaller("get", column.name)) for column in columns()["runs"])
"""The columns of the table, of such rows."""
_COLUMN_OF = {column.name: column for column in COLUMNS}
_SHOWN = {
    row["column"]: (row["title"], int(row["width"]), int(row["rank"]))
    for row in rows("run_columns", "trtforensics.tui.rows")
}
"""The title, the width in cells and the rank of each column that is shown; the source takes the rest."""


def _cell(column: TableColumn, title: str, width: int, rank: int) -> Cell:
    def text(row: RunRow) -> str:
        value = column.get(row)
        return "" if value is None else figure(value) if isinstance(value, float) else str(value)

    return Cell(title, width, rank, rank, text, right=column.is_number)


CELLS = tuple(_cell(_COLUMN_OF[name], *shown) for name, shown in _SHOWN.items())
_ROLES = {"passed": Role.GOOD, "none": Role.DIM}
SOURCE = Order("source", methodcaller("get", "source"))
_ORDERS = {shown[0]: Order(shown[0], _COLUMN_OF[name].get) for name, shown in _SHOWN.items()}


def orders(width: int) -> tuple[Order, ...]:
    """Return the orders by what is in view in a width."""
    return (SOURCE, *(_ORDERS[cell.title] for cell in _layout(width).shown))


def _layout(width: int) -> ColumnLayout:
    return ColumnLayout(width, 0, cells=CELLS)


def key_of(row: RunRow) -> tuple[str, int]:
    """Return what a run is known by."""
    return row["source"], row["run"]


def _pieces(row: RunRow, width: int, marked: RunRow | None, folder: str) -> Line:
    layout = _layout(width)
    mark = "▸" if marked is not None and key_of(marked) == key_of(row) else " "
    pieces = [Piece(mark, Role.ACCENT)]
    for cell in layout.shown:
        role = _ROLES.get(row["outcome"], Role.ERROR) if cell.title == "outcome" else Role.PLAIN
        pieces.append(Piece((flush if cell.right else fit)(cell.text(row), cell.width) + " ", role))
    several = f":{row['line']}" if row["run"] > 1 else ""
    source = row["source"].removeprefix(folder) + several
    return (*pieces, Piece(fit(source, layout.name_width + 2), Role.DIM))


def _heading(width: int, order: Order) -> Sequence[Line]:
    line = " "
    for cell in _layout(width).shown:
        title = cell.title + (order.mark if cell.title == order.column else "")
        line += (flush if cell.right else fit)(title, cell.width) + " "
    return ((Piece(f"{line}source{order.mark if order.column == SOURCE.column else ''}", Role.DIM),),)


def runs(order: Order, marked: RunRow | None, rows: Sequence[RunRow] = ()) -> Presentation[RunRow]:
    """Return how runs in an order look in a list, without the folder of all; a run may be marked."""
    common = os.path.commonprefix([row["source"] for row in rows])  # noqa: RUF071 - cut at its last step below
    folder = common[: common.rfind("/") + 1]
    return Presentation(
        pieces=lambda row, width: _pieces(row, width, marked, folder),
        line=lambda row: row["line"],
        heading=lambda _, width, __: _heading(width, order),
        noun="run",
        key=key_of,
        filters=COLUMNS,
        columns=COLUMNS,
    )
