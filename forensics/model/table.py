"""Records that a table holds in columns: who wants a column takes it, and who looks at a record has it made.

A log may hold twenty thousand builds, and a hundred thousand lines of one kind, of which a document prints two fields.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    import numpy.typing as npt

_HALF = 32
_LOW = (1 << _HALF) - 1

_T = TypeVar("_T")
_S = TypeVar("_S")
_H = TypeVar("_H", bound="Hashable")


class Column(Sequence[_T]):
    """A value for each row. ``codes`` are eight bytes wide and equal where the values are; ``read`` reads one."""

    __slots__ = ("codes", "read")

    def __init__(self, codes: npt.NDArray[Any], read: Callable[[Any], _T]) -> None:
        self.codes = codes
        self.read = read

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[_T]:
        return map(self.read, self.codes.tolist())

    def is_constant(self) -> bool:
        """Whether all values are known to be one."""
        bits = self.codes.view(np.int64)
        return len(bits) > 0 and bool((bits == bits[0]).all())

    def then(self, change: Callable[[_T], _S]) -> Column[_S]:
        """Return a column of what is made of each value."""
        read = self.read
        return Column(self.codes, lambda code: change(read(code)))

    def each(self, change: Callable[[_T], _S]) -> list[_S]:
        """Return what is made of each value; what is made of one that several share is made once."""
        codes = self.codes.tolist()
        made = {code: change(self.read(code)) for code in set(codes)}
        return list(map(made.__getitem__, codes))

    def of(self, rows: npt.NDArray[np.bool_]) -> Column[_T]:
        """Return some rows of it."""
        return type(self)(self.codes[rows], self.read)

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> Column[_T]: ...
    def __getitem__(self, index: int | slice) -> _T | Column[_T]:
        return (
            type(self)(self.codes[index], self.read)
            if isinstance(index, slice)
            else self.read(self.codes[index].item())
        )


class Ranges(Column[_T]):
    """A column of what is made of some rows of another table, which stand together."""

    __slots__ = ()

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many rows each is made of."""
        held: npt.NDArray[np.int64] = (self.codes & _LOW) - (self.codes >> _HALF)
        return held


def ranges(first: npt.NDArray[np.intp], behind: npt.NDArray[np.intp], read: Callable[[range], _T]) -> Ranges[_T]:
    """Return a column of what is made of the rows from a first one to the one before another."""
    return Ranges(first << _HALF | behind, lambda code: read(range(code >> _HALF, code & _LOW)))


def numbers(values: npt.ArrayLike) -> Column[int]:
    """Return a column of integers, which are their own codes."""
    return Column(np.asarray(values, np.int64), int)


def coded(values: Iterable[_H]) -> Column[_H]:
    """Return a column of values that hash."""
    known: dict[_H, int] = {}
    codes = [known.setdefault(value, len(known)) for value in values]
    return Column(np.array(codes, np.int64), [*known].__getitem__)


def same(value: _T, size: int) -> Column[_T]:
    """Return a column that holds one value."""
    return Column(np.zeros(size, np.int64), (value,).__getitem__)


class Table(NamedTuple):
    """A table's columns by what they hold of a record (``name``, ``span.line``), and what makes a record of a row."""

    make: Callable[..., Any]
    columns: Mapping[str, Sequence[Any]]

    def having(self, columns: Mapping[str, Sequence[Any]]) -> Table:
        """Return it with other columns of these names."""
        return Table(self.make, {**self.columns, **columns})

    def column(self, path: str) -> Column[Any]:
        """Return a column that has codes."""
        held: Column[Any] = self.columns[path]  # type: ignore[assignment]  # who asks knows that it has
        return held


def spanned(kind: Any, span: Callable[[int], Any], columns: Mapping[str, Sequence[Any]]) -> Table:  # noqa: ANN401 - any record
    """Return a table of records of a kind that say where they stand: their ``columns``, with ``span.line`` for that."""
    names = ["span.line" if name == "span" else name for name in kind.__dataclass_fields__]
    place = names.index("span.line")

    def made(*values: Any) -> Any:  # noqa: ANN401 - any field
        return kind(*values[:place], span(values[place]), *values[place + 1 :])

    return Table(made, {name: columns[name] for name in names})


class Rows(Sequence[_T]):
    """Some rows of a table as records, equal to a tuple of these; they are made together when one is looked at."""

    __slots__ = ("_made", "span", "table")

    def __init__(self, table: Table, first: int, behind: int) -> None:
        self.table = table
        self.span = slice(first, behind)
        self._made: tuple[_T, ...] | None = None

    def column(self, path: str) -> Sequence[Any]:
        """Return what the records have under a name, without making them."""
        held = self.table.columns[path]
        return held if len(held) == len(self) else held[self.span]

    def _records(self) -> tuple[_T, ...]:
        if self._made is None:
            self._made = tuple(map(self.table.make, *map(self.column, self.table.columns)))
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


class Parts(Sequence[Rows[_T]]):
    """A table parted, by builds say. ``limits`` are where each part begins, and where the last one ends."""

    __slots__ = ("limits", "table")

    def __init__(self, table: Table, limits: npt.NDArray[np.intp]) -> None:
        self.table = table
        self.limits = limits

    def __len__(self) -> int:
        return len(self.limits) - 1

    def __iter__(self) -> Iterator[tuple[_T, ...]]:  # type: ignore[override]  # equal to Rows
        """Give the records of each part: those of the whole table are made together."""
        records = tuple(map(self.table.make, *self.table.columns.values()))
        return (records[first:behind] for first, behind in pairwise(self.limits.tolist()))

    @overload
    def __getitem__(self, index: int) -> Rows[_T]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Rows[_T]]: ...
    def __getitem__(self, index: int | slice) -> Rows[_T] | list[Rows[_T]]:
        if isinstance(index, slice):
            return [Rows(self.table, *limits) for limits in [*pairwise(self.limits.tolist())][index]]
        first, behind = self.limits[range(len(self))[index] :][:2].tolist()
        return Rows(self.table, first, behind)

    def tuples(self, *paths: str) -> list[list[tuple[Any, ...]]]:
        """Return of each part what its records have under some names, without making them."""
        rows = list(zip(*(self.table.columns[path] for path in paths), strict=True))
        return [rows[first:behind] for first, behind in pairwise(self.limits.tolist())]

    def where(self, rows: Iterable[bool]) -> Parts[_T]:
        """Return each part's records of some rows; all columns have codes."""
        kept = np.fromiter(rows, np.bool_)
        before = np.append(0, kept.cumsum())
        columns = {path: self.table.column(path).of(kept) for path in self.table.columns}
        return Parts(self.table.having(columns), before[self.limits])

    def alike(self, paths: Sequence[str]) -> list[list[int]]:
        """Group the parts, by their places, whose records are the same under some names."""
        rows = np.column_stack([self.table.column(path).codes.view(np.int64) for path in paths])
        data, limits = rows.tobytes(), (self.limits * rows.strides[0]).tolist()
        groups: defaultdict[bytes, list[int]] = defaultdict(list)
        for place, (first, behind) in enumerate(pairwise(limits)):
            groups[data[first:behind]].append(place)
        return [*groups.values()]

    def matrix(self, places: list[int], paths: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the numbers that parts of one size have under some names: a row a part, record by record."""
        first = self.limits[places]
        rows = first[:, None] + np.arange(self.limits[places[0] + 1] - first[0])
        return np.stack([self.table.column(path).codes[rows] for path in paths], axis=2).reshape(len(places), -1)


class Named(Sequence["dict[str, Rows[_T]]"]):
    """Tables that are parted alike, by their names: of each part what each of them has of it."""

    __slots__ = ("tables",)

    def __init__(self, tables: Mapping[str, Parts[_T]]) -> None:
        self.tables = tables

    def __len__(self) -> int:
        return min(map(len, self.tables.values()))

    @overload
    def __getitem__(self, index: int) -> dict[str, Rows[_T]]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Rows[_T]]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Rows[_T]] | list[dict[str, Rows[_T]]]:
        if isinstance(index, slice):
            return [self[place] for place in range(len(self))[index]]
        return {name: parts[index] for name, parts in self.tables.items()}


def column(records: Sequence[Any], path: str) -> Sequence[Any]:
    """Return what records have under a name, as it is kept where they are rows of a table."""
    return records.column(path) if isinstance(records, Rows) else tuple(map(attrgetter(path), records))
