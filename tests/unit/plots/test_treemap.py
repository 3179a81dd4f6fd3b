"""Treemaps: areas are in proportion, tiles cover the rectangle and do not overlap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trtforensics.plots.treemap import squarified


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30).map(lambda values: sorted(values, reverse=True)))
def test_tiles_cover_the_rectangle_in_proportion(values: list[float]) -> None:
    tiles = squarified(values, 560, 360)
    assert [tile.item for tile in tiles] == list(range(len(values)))
    for tile in tiles:
        assert abs(tile.width * tile.height / (560 * 360) - values[tile.item] / sum(values)) < 1e-6
        assert tile.x >= -1e-6
        assert tile.y >= -1e-6
        assert tile.x + tile.width <= 560 + 1e-6
        assert tile.y + tile.height <= 360 + 1e-6
    for one in tiles:
        for other in tiles:
            apart = one.x + one.width <= other.x + 1e-6 or one.y + one.height <= other.y + 1e-6
            before = other.x + other.width <= one.x + 1e-6 or other.y + other.height <= one.y + 1e-6
            assert one is other or apart or before


def test_tiles_are_nearly_square() -> None:
    tiles = squarified([1.0] * 12, 560, 360)
    assert max(max(tile.width / tile.height, tile.height / tile.width) for tile in tiles) < 2


def test_no_values_make_no_tiles() -> None:
    assert squarified([], 10, 10) == squarified([0.0], 10, 10) == []
