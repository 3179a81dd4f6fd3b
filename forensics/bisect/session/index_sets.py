"""Sets of item indexes as text: ``0-149,151``. A subset of 10,000 items stays a short line of the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


def to_text(indexes: Collection[int]) -> str:
    """Return a set as text."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def from_text(text: str) -> frozenset[int]:
    """Read a set back.

    Raises:
        ValueError: the text is no set.
    """
    indexes: set[int] = set()
    for run in filter(None, text.split(",")):
        first, _, last = run.partition("-")
        indexes.update(range(int(first), int(last or first) + 1))
    return frozenset(indexes)
