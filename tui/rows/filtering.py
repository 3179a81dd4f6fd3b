"""The filters of the lists: the fields that their rows have, and the rows that stay."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tables.filtering import RowFilterExpression, parse_filter

if TYPE_CHECKING:
    from collections.abc import Sequence


class NamedFields(Protocol):
    """A row as named fields: a mapping, or what reads them when a filter asks."""

    def get(self, name: str, /) -> object:
        """Return a field, None where the row does not tell it."""
        ...


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A filter as it was typed; an empty one keeps every row."""

    text: str = ""
    expression: RowFilterExpression | None = None

    def keeps(self, row: object) -> bool:
        """Whether a row stays; the fields read it."""
        return self.expression is None or self.expression.keeps(row)

    def __bool__(self) -> bool:
        """Whether it may leave rows out."""
        return self.expression is not None


NO_FILTER = RowFilter()


def row_filter(text: str, fields: Sequence[TableColumn]) -> RowFilter:
    """Read a filter over rows with these fields.

    Raises:
        FilterError: The text is no filter.
    """
    return RowFilter(text, parse_filter(text, fields)) if text.strip() else NO_FILTER


def texts(*names: str, plain: bool = True) -> tuple[TableColumn, ...]:
    """Return fields of texts; plain words are looked for in them where ``plain``."""
    return tuple(TableColumn(name, partial(_field, name), plain=plain) for name in names)


def types(*names: str) -> tuple[TableColumn, ...]:
    """Return fields of types, which have several spellings."""
    return tuple(TableColumn(name, partial(_field, name), types=True, plain=False) for name in names)


def numbers(unit: str, *names: str, aliases: tuple[str, ...] = ()) -> tuple[TableColumn, ...]:
    """Return fields of numbers in a unit: ``ms``, ``ratio`` or none."""
    return tuple(TableColumn(name, partial(_field, name), Sort.NUMBER, unit, aliases) for name in names)


def _field(name: str, row: NamedFields) -> Any:  # noqa: ANN401 - whatever the row has
    return row.get(name)


ANY_TEXT = texts("text")
"""The fields of rows that are a text and nothing else."""
