"""The tables of facts as rows, and releases as numbers that compare."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from typing import Any, TypeVar, cast

Release = tuple[int, ...]
"""A release as numbers, ``(10, 3)``; tables know major and minor, and more numbers do no harm."""
OLDEST: Release = (5, 1)
"""The oldest release that the tables describe."""
NEWEST: Release = (11, 1)
"""The newest release whose importers, options and headers the tables describe; later ones appear as single facts."""
_Row = TypeVar("_Row")
_Reader = Callable[[str], object]


def rows(table: str, package: str = "trtforensics.knowledge") -> Iterator[Mapping[str, str]]:
    """Give the rows of ``tables/TABLE.tsv`` of a package, each a value by column.

    Raises:
        ValueError: A row has not one value for each column.
    """
    folder = import_module(package).__path__[0]
    with open(f"{folder}/tables/{table}.tsv", encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to import
        header, *lines = file.read().splitlines()
    for line in lines:
        yield dict(zip(header.split("\t"), line.split("\t"), strict=True))


def records(table: str, kind: Callable[..., _Row], **readers: _Reader) -> tuple[_Row, ...]:
    """Return the rows as objects of a dataclass whose fields are the columns; they are read once.

    A column is read as its field's type says, or by its reader.
    """
    if table not in _READ:
        of = {each.name: readers.get(each.name) or _READERS.get(each.type, str) for each in fields(cast("Any", kind))}
        _READ[table] = tuple(kind(**{name: of[name](value) for name, value in row.items()}) for row in rows(table))
    return _READ[table]


_READ: dict[str, tuple[Any, ...]] = {}


def release(text: str) -> Release:
    """Return ``10.13.2`` as numbers."""
    return tuple(map(int, text.split(".")))


def known(text: str) -> Release | None:
    """Return a release as numbers; None where the table has no value."""
    return release(text) if text else None


def minor(numbers: Sequence[int]) -> Release:
    """Return major and minor of a release; a missing minor is 0."""
    return (*numbers, 0)[:2]


def words(text: str) -> tuple[str, ...]:
    """Return the words of a value that lists several."""
    return tuple(text.split())


_READERS: Mapping[object, _Reader] = {Release: release, Release | None: known, tuple[str, ...]: words, int: int}
