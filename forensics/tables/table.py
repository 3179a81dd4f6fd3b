"""A table: rows under columns, which can be filtered, sorted and selected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from trtforensics.errors import UsageError
from trtforensics.tables.filtering import parse_filter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trtforensics.tables.columns import TableColumn, Value


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
        """Return the rows that a filter keeps; it knows all columns.

        Raises:
            FilterError: the filter cannot be read.
        """
        keep = parse_filter(expression, self.columns).keeps
        return replace(self, rows=(row for row in self.rows if keep(row)))

    def sorted_by(self, names: Sequence[str]) -> Table:
        """Return the rows in the order of columns, the first counts most; ``-`` before a name: largest first.

        Rows without a value come last.

        Raises:
            UsageError: there is no such column.
        """
        rows = list(self.rows)
        for name in reversed(names):
            get: Callable[[Any], Any] = self._column(name.removeprefix("-")).get
            down = name.startswith("-")
            known = [row for row in rows if get(row) is not None]
            unknown = [row for row in rows if get(row) is None]
            rows = sorted(known, key=get, reverse=down) + unknown
        return replace(self, rows=rows)

    def selected(self, names: Sequence[str]) -> Table:
        """Return the table with these columns, in this order.

        Raises:
            UsageError: there is no such column.
        """
        return replace(self, shown=tuple(self._column(name) for name in names))

    def _column(self, name: str) -> TableColumn:
        by_name = {word: column for column in reversed(self.columns) for word in (*column.aliases, column.name)}
        if name not in by_name:
            listed = ", ".join(column.name for column in self.columns)
            raise UsageError(f"column {name!r}", "is not in this table", f"Its columns are {listed}")
        return by_name[name]
