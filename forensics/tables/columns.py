"""Columns of tables: a name with its unit, how a row gives its value, and what sort of value that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from trtforensics.errors import UsageError
from trtforensics.model.older_python import StrEnum
from trtforensics.tables.filtering import parse_filter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Value = str | float | bool | tuple[str, ...] | None


class Sort(StrEnum):
    """What the values of a column are; each may be missing."""

    TEXT = "text"
    TEXTS = "texts"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"


TYPE_VALUES = ("half", "float", "int8", "bfloat16", "fp8")
"""What a filter suggests for types."""


@dataclass(frozen=True, slots=True)
class Cell:
    """How a list on a screen shows a column: its title, its width in cells and its text for a row.

    Cells stand in the order of ``place``. On a narrow screen they give way in the order of ``rank``, the highest first.
    """

    title: str
    width: int
    place: int
    rank: int
    text: Callable[[Any], str]
    right: bool = False


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column, and a field of filters. ``get`` returns its value of a row, None for "not known".

    The unit of its numbers is part of its name (``time_ms``) where it is not 1; ``unit`` (``ms``, ``bytes``, ``ratio``)
    says which units a filter may give instead. Filters know it by short names too, the ``aliases``; ``types`` have
    several spellings there (``fp16`` finds ``Half``). Plain words are looked for in a text only if it is ``plain``.
    ``searched`` returns what a filter looks in where that is more than the column shows. An ``extra`` column is written
    only where it is asked for.
    """

    name: str
    get: Callable[[Any], Value]
    sort: Sort = Sort.TEXT
    unit: str = ""
    aliases: tuple[str, ...] = ()
    types: bool = False
    plain: bool = True
    searched: Callable[[Any], object] | None = None
    extra: bool = False
    cell: Cell | None = None

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.sort in {Sort.INTEGER, Sort.NUMBER}

    @property
    def is_text(self) -> bool:
        """Whether its values are texts."""
        return self.sort in {Sort.TEXT, Sort.TEXTS}

    @property
    def suggested(self) -> tuple[str, ...]:
        """Values that may be suggested to who writes a filter."""
        return TYPE_VALUES if self.types else ()

    @property
    def asked(self) -> Callable[[Any], object]:
        """What returns the value of a row that a filter compares: flags as ``yes`` and ``no``."""
        return self._flag if self.sort is Sort.FLAG else self.get

    def _flag(self, row: object) -> str | None:
        value = self.get(row)
        return None if value is None else "yes" if value else "no"


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
