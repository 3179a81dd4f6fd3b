"""A table: rows under columns, which can be filtered, sorted and selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, TypeVar

from trtforensics.errors import UsageError
from trtforensics.tables.columns import TableColumn, Value
from trtforensics.tables.filtering import parse_filter

_Row = TypeVar("_Row")


def sorted_rows(rows: Iterable[_Row], get: Callable[[_Row], Any], *, reverse: bool) -> list[_Row]:
    """Return rows by a value of each; those without one come last."""
    values = [(get(row), row) for row in rows]
    known = sorted((pair for pair in values if pair[0] is not None), key=itemgetter(0), reverse=reverse)
    return [row for _, row in (*known, *(pair for pair in values if pair[0] is None))]


@dataclass(frozen=True)
class Table:
    """Rows under columns. Rows may come one by one, and then only once."""

    columns: tuple[TableColumn, ...]
    rows: Iterable[Any]
    shown: tuple[TableColumn, ...] | None = None

    @property
    def header(self) -> tuple[TableColumn, ...]:
        """The columns that are written: those that were selected, else all but the extra ones."""
        return tuple(column for column in self.columns if not column.extra) if self.shown is None else self.shown

    def values(self) -> Iterator[tuple[Value, ...]]:
        """Give the values of the rows under :attr:`header`."""
        getters = [column.get for column in self.header]
        return (tuple(get(row) for get in getters) for row in self.rows)

    def filtered(self, expression: str) -> Table:
        """Return the rows that a filter keeps; it knows all columns."""
        keep = parse_filter(expression, self.columns).keeps
        return replace(self, rows=(row for row in self.rows if keep(row)))

    def sorted_by(self, names: Sequence[str]) -> Table:
        """Return the rows by columns, those without a value last; ``-`` before a name: largest first."""
        rows = list(self.rows)
        for name in reversed(names):
            rows = sorted_rows(rows, self._column(name.removeprefix("-")).get, reverse=name.startswith("-"))
        return replace(self, rows=rows)

    def selected(self, names: Sequence[str]) -> Table:
        """Return the table with these columns, in this order."""
        return replace(self, shown=tuple(self._column(name) for name in names))

    def _column(self, name: str) -> TableColumn:
        by_name = {word: column for column in reversed(self.columns) for word in (*column.aliases, column.name)}
        if name not in by_name:
            listed = ", ".join(column.name for column in self.columns)
            raise UsageError(f"column {name!r}", "is not in this table", f"Its columns are {listed}")
        return by_name[name]
