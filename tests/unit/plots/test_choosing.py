"""Which figures there are."""

from __future__ import annotations

from tests.support.build_views import build as view
from tests.support.build_views import layer
from tests.support.graph_builds import small_build, span
from trtforensics.comparison.times import layer_times
from trtforensics.engines.facts import EngineFacts
from trtforensics.model.profile import InferenceSamples, InferenceTimes
from trtforensics.model.span import SourceInfo
from trtforensics.plots.engine_figures import NEEDS, figures_of, side_by_side, waterfall
from trtforensics.plots.times_figures import figures_of_times


def test_every_figure_is_known_by_its_name_and_says_what_it_needs() -> None:
    names = [figure.name for figure in figures_of(EngineFacts(small_build(), "x"))]
    times = layer_times([view(layer("a", measured_ms=1.0))], [view(layer("a", measured_ms=2.0))], None)
    assert times is not None
    names += [waterfall(times, "a", "b").name, side_by_side(times, "a", "b").name]
    samples = InferenceSamples((1.0,), (1.0,), 1.0, span(1))
    names += [figure.name for figure in figures_of_times([InferenceTimes(SourceInfo("x", 0, 0, ""), (samples,))])]
    drawn = {"layers", "types", "memory", "waterfall", "compare", "inferences", "spread"}
    assert drawn <= set(names) <= set(NEEDS)
