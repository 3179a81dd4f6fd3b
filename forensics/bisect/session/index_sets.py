"""Sets of item indexes as text: ``0-149,151``. A subset of 10,000 items stays a short line of the journal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_RUN = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def to_text(indexes: Collection[int]) -> str:
    """Return a set as text."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def from_text(text: str, count: int) -> frozenset[int]:
    """Read back a set of indexes below ``count``; runs ascend, as :func:`to_text` writes them.

    Raises:
        ValueError: the text is no such set.
    """
    indexes: list[int] = []
    for written in text.split(",") if text else ():
        run = _RUN.fullmatch(written)
        first, last = (int(run[1]), int(run[2] or run[1])) if run else (-1, -1)
        if not (indexes[-1] if indexes else -1) < first <= last < count:
            raise ValueError(f"{written!r} is no run of indexes below {count}")
        indexes.extend(range(first, last + 1))
    return frozenset(indexes)
