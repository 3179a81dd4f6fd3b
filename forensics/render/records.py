"""Facts of one sort as notebooks and consoles show them: how many, and a table."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Generic, TypeVar

from trtforensics.render.markup import html, table
from trtforensics.render.names import shortened

_Item = TypeVar("_Item")
_COLUMNS = 8
_NAMES = 200
"""Characters of names in a ``repr``."""
_ROWS = 30
_PLAIN = (str, int, float, type(None))


class Records(tuple[_Item, ...], Generic[_Item]):
    """A tuple of facts whose ``repr`` is one line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self):,} x {type(self[0]).__name__}>" if self else "()"

    def _repr_html_(self) -> str:
        first: object = self[0] if self else None
        if first is None or not is_dataclass(first):
            return html(table(["#", repr(self)[1:-1]], enumerate(map(repr, self), 1), _ROWS))
        names = [field.name for field in fields(first)]
        names = [name for name in names if all(isinstance(getattr(item, name), _PLAIN) for item in self[:_ROWS])]
        rows = ([getattr(item, name) for name in names[:_COLUMNS]] for item in self)
        return html(table(names[:_COLUMNS], rows, _ROWS))


class RecordsByName(dict[str, _Item]):
    """Facts by name, whose ``repr`` is one line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self):,} facts: {shortened(', '.join(self), _NAMES)}>"

    def _repr_html_(self) -> str:
        return Records(self.values())._repr_html_()
