"""The filter of a list: which rows stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A filter as it was typed; an empty one keeps every row."""

    text: str = ""

    def keeps(self, fields: Mapping[str, object]) -> bool:
        """Whether a row stays, by its named fields."""
        needle = self.text.casefold()
        return any(needle in str(value).casefold() for value in fields.values())

    def keeps_name(self, name: str) -> bool:
        """Whether a row that has a name only stays."""
        return self.keeps({"name": name})


NO_FILTER = RowFilter()
