"""The keys of screens, lists and dialogs: rows of ``tables/bindings.tsv``, by class."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from textual.binding import Binding

from trtforensics.knowledge.table import rows

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def _rows() -> tuple[Mapping[str, str], ...]:
    return tuple(rows("bindings", "trtforensics.tui"))


def bound(owner: str) -> list[Binding]:
    """Return the keys of a class, those of the footer with how they are shown."""
    return [
        Binding(
            row["keys"],
            row["action"],
            row["does"],
            show="shown" in row["flags"],
            priority="first" in row["flags"],
            key_display=row["display"] or None,
        )
        for row in _rows()
        if row["owner"] == owner
    ]
