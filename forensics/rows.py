"""Records that a table holds in columns: who wants a column takes it, and who looks at a record has it made.

A log may hold a hundred thousand lines of one kind, of which a document prints two fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_T = TypeVar("_T")


class Table(NamedTuple):
    """A table's columns by what they hold of a record (``name``, ``span.line``), and what makes a record of a row."""

    make: Callable[..., Any]
    columns: Mapping[str, tuple[Any, ...]]


class Rows(Sequence[_T]):
    """Some rows of a table as records, equal to a tuple of these; they are made together when one is looked at."""

    __slots__ = ("_made", "span", "table")

    def __init__(self, table: Table, first: int, behind: int) -> None:
        self.table = table
        self.span = slice(first, behind)
        self._made: tuple[_T, ...] | None = None

    def _records(self) -> tuple[_T, ...]:
        if self._made is None:
            self._made = tuple(map(self.table.make, *[column[self.span] for column in self.table.columns.values()]))
        return self._made

    def __len__(self) -> int:
        return self.span.stop - self.span.start

    def __iter__(self) -> Iterator[_T]:
        return iter(self._records())

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_T, ...]: ...
    def __getitem__(self, index: int | slice) -> _T | tuple[_T, ...]:
        return self._records()[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Rows):
            other = other._records()
        return self._records() == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._records())

    def __repr__(self) -> str:
        return repr(self._records())

    def __reduce__(self) -> tuple[type, tuple[tuple[_T, ...]]]:
        return tuple, (self._records(),)


def columns(records: Sequence[Any], *paths: str) -> list[tuple[Any, ...]]:
    """Return what records have under some names, a column each, without making the records."""
    if isinstance(records, Rows):
        held, span = records.table.columns, records.span
        return [held[path][span] for path in paths]
    return [tuple(map(attrgetter(path), records)) for path in paths]
