"""The rows of a profile find the layers of their names."""

from __future__ import annotations

from tests.support.graph_builds import span
from trtforensics.model.timings import LayerTime, ProfileRun


def run(*names: str) -> ProfileRun:
    rows = tuple(LayerTime(name, 1.0, 0.1, None, 10.0, span(i)) for i, name in enumerate(names))
    return ProfileRun(10, rows, span(1))


def test_layers_of_one_name_take_its_rows_in_order() -> None:
    joined = run("a", "b", "a", "a").joined(("b", "a", "a"))
    assert [row.engine_layer for row in joined.layers] == [1, 0, 2, None]


def test_a_profile_fits_where_most_rows_are_of_the_engine() -> None:
    assert run("a", "b", "c").joined(("a", "b")).fits
    assert not run("a", "b", "c", "d").joined(("a", "b")).fits
