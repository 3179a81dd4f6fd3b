"""Rectangles whose areas are shares, as square as can be: Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000)."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

Item = TypeVar("Item")


class Tile(NamedTuple):
    """Where an item lies, by its place among the values."""

    item: int
    x: float
    y: float
    width: float
    height: float


def squarified(values: list[float], width: float, height: float) -> list[Tile]:
    """Lay out positive values, largest first, in a rectangle; their areas are in proportion."""
    whole = sum(values)
    if not whole:
        return []
    areas = [value * width * height / whole for value in values]
    tiles: list[Tile] = []
    x = y = 0.0
    first = 0
    while first < len(areas):
        side = min(width, height)
        last = first + 1
        while last < len(areas) and _worst(areas[first : last + 1], side) <= _worst(areas[first:last], side):
            last += 1
        row = areas[first:last]
        thick = sum(row) / side
        along = 0.0
        for index, area in enumerate(row, first):
            long = area / thick
            place = (x, y + along, thick, long) if width >= height else (x + along, y, long, thick)
            tiles.append(Tile(index, *place))
            along += long
        if width >= height:
            x, width = x + thick, width - thick
        else:
            y, height = y + thick, height - thick
        first = last
    return tiles


def _worst(row: list[float], side: float) -> float:
    """Return the largest ratio of sides in a row of areas along a side."""
    whole = sum(row)
    return max(side * side * max(row) / (whole * whole), whole * whole / (side * side * min(row)))
