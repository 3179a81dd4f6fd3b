"""Columns of tables: a name with its unit, how a row gives its value, and what sort of value that is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from trtforensics.knowledge.table import rows
from trtforensics.model.older_python import StrEnum
from trtforensics.render.json_text import FORMS, reader

Value = str | float | bool | tuple[str, ...] | None


class Sort(StrEnum):
    """What the values of a column are; each may be missing."""

    TEXT = "text"
    TEXTS = "texts"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"


TYPE_VALUES = ("half", "float", "int8", "bfloat16", "fp8")


@dataclass(frozen=True, slots=True)
class Cell:
    """A column on a screen, in the order of ``place``; on a narrow one those of the highest ``rank`` go first."""

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
    def asked(self) -> Callable[[Any], object]:
        """What returns the value of a row that a filter compares: flags as ``yes`` and ``no``."""
        return self._flag if self.sort is Sort.FLAG else self.get

    def _flag(self, row: object) -> str | None:
        value = self.get(row)
        return None if value is None else "yes" if value else "no"


_SEVERITIES = {"W": "warning", "E": "error"}

_FORMS: Mapping[str, Callable[..., Any]] = {
    **FORMS,
    "from_1": lambda index: None if index is None else index + 1,
    "severity": lambda letter: _SEVERITIES.get(letter, letter),
}


@cache
def _rows(package: str) -> tuple[Mapping[str, str], ...]:
    return tuple(rows("columns", package))


def columns_of(
    table: str, forms: Mapping[str, Callable[..., Any]] = _FORMS, package: str = "trtforensics.tables"
) -> tuple[TableColumn, ...]:
    """Return the columns of a table, rows of a package's ``columns.tsv``; a form may be a NAME with its arguments."""
    return tuple(_column(row, {**_FORMS, **forms}) for row in _rows(package) if table in row["tables"].split())


def _column(row: Mapping[str, str], forms: Mapping[str, Callable[..., Any]]) -> TableColumn:
    read, (name, *words), flags = reader(row["reads"]), row["form"].split() or ("",), row["words"].split()
    form = forms[name](*words) if words else forms[name]
    return TableColumn(
        row["name"],
        read if not name else form if not row["reads"] else lambda record: form(read(record)),
        Sort(row["sort"]),
        row["unit"],
        tuple(row["aliases"].split()),
        types="types" in flags,
        plain="aside" not in flags,
        extra="extra" in flags,
    )
