"""Which figures there are."""

from __future__ import annotations

from tests.support.build_views import build as view
from tests.support.build_views import layer
from tests.support.graph_builds import small_build
from trtforensics.diff.times.deltas import layer_times
from trtforensics.engines.deriving import facts_of
from trtforensics.plots.choosing import NEEDS, figures_of, figures_of_two


def test_every_figure_is_known_by_its_name_and_says_what_it_needs() -> None:
    names = [figure.name for figure in figures_of(facts_of(small_build(), "x"))]
    times = layer_times([view(layer("a", measured_ms=1.0))], [view(layer("a", measured_ms=2.0))], None)
    assert times is not None
    names += [figure.name for figure in figures_of_two(times)]
    assert {"layers", "types", "memory", "waterfall", "compare"} <= set(names) <= set(NEEDS)
