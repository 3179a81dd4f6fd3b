"""The keys of screens, lists and dialogs: rows of ``tables/bindings.tsv``, by class."""

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from trtforensics.knowledge.table import rows


@cache
def _rows() -> tuple[Mapping[str, str], ...]:
    return tuple(rows("bindings", "trtforensics.tui"))


class Keyed:
    """A base of screens, lists and dialogs; those of the rows that name a class are its keys."""

    BINDINGS: ClassVar[list[BindingType]]

    def __init_subclass__(cls, **declared: Any) -> None:  # noqa: ANN401 - as Textual has it
        cls.BINDINGS = [_binding(row) for row in _rows() if cls.__name__ in row["owners"].split()]
        super().__init_subclass__(**declared)


def _binding(row: Mapping[str, str]) -> Binding:
    return Binding(
        row["keys"],
        row["action"],
        row["does"],
        show="shown" in row["flags"],
        priority="first" in row["flags"],
        key_display=row["display"] or None,
    )
