"""Horizontal bars with their labels above them, so that long names of layers fit on narrow screens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.plots.figure import WIDTH, Box, Canvas, width_of, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE, _BAR, _GAP = 15, 9, 7


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a bar. It begins where the one before it ends, or at ``start``."""

    value: float
    colour: str
    name: str = ""
    start: float | None = None


@dataclass(frozen=True, slots=True)
class BarRow:
    """A label of a line or two with one or more bars below; ``text`` stands at the right end of its first line."""

    label: str
    text: str
    bars: tuple[tuple[BarPart, ...], ...]


def draw_bars(canvas: Canvas, rows: Sequence[BarRow], base: float = 0.0) -> None:
    """Draw rows of bars on one scale, which holds ``base``; what lies below it is not drawn."""
    ends = [end for row in rows for bar in row.bars for end in _ends(bar)]
    low, high = (base, max(ends)) if base else (min([0.0, *ends]), max([0.0, *ends]))
    unit = WIDTH / (high - low) if high > low else 0.0
    top = canvas.y
    for row in rows:
        canvas.text(WIDTH, canvas.y + 10, row.text, anchor="end", tone="pale")
        for line in wrapped(row.label, WIDTH - width_of(f"{row.text}  "), WIDTH):
            canvas.text(0, canvas.y + 10, line)
            canvas.y += _LINE
        for bar in row.bars:
            at = 0.0
            for part in bar:
                begin = at if part.start is None else part.start
                at = begin + part.value
                left, right = ((max(end, low) - low) * unit for end in sorted((begin, at)))
                tip = f"{row.label}: {part.name or row.text}"
                canvas.rectangle(Box(left, canvas.y, max(right - left, 0.5), _BAR), part.colour, tip)
            canvas.y += _BAR + 1
        canvas.y += _GAP
    if low < 0:
        canvas.line((-low * unit, top), (-low * unit, canvas.y))


def _ends(bar: Sequence[BarPart]) -> list[float]:
    at = 0.0
    found = []
    for part in bar:
        begin = at if part.start is None else part.start
        at = begin + part.value
        found += [begin, at]
    return found
