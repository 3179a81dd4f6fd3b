"""Files that tell of one engine."""

from __future__ import annotations

from dataclasses import replace

from tests.support.build_views import build, layer
from trtforensics.comparison.loading import joined
from trtforensics.comparison.runs import Measured, RunView
from trtforensics.comparison.views import BuildView
from trtforensics.model.span import SourceSpan
from trtforensics.sources.kinds import Kind

SPAN = SourceSpan("x", 1, 0)


def engine(source: str, *names: str, kind: Kind = Kind.LAYER_INFO) -> BuildView:
    return replace(build(*(layer(name) for name in names), kind=kind), source=source)


def profile(source: str, *names: str) -> BuildView:
    rows = [layer(name, n, measured_ms=float(n), time_span=SPAN) for n, name in enumerate(names, 1)]
    return replace(build(*rows, kind=Kind.PROFILE), source=source)


def times(source: str, ms: float) -> BuildView:
    return BuildView(source, Kind.TIMES, "", None, run=RunView({"latency_ms": Measured(ms, None, SPAN)}))


def measured(view: BuildView) -> list[float | None]:
    return [one.measured_ms for one in view.layers or ()]


def test_a_profile_goes_to_the_engine_that_has_its_layers() -> None:
    one, other = joined([engine("a", "x", "y"), engine("b", "u", "v"), profile("p", "u", "v", "w")])
    assert (measured(one), measured(other)) == ([None, None], [1.0, 2.0])
    assert any("1 of its rows name no layer" in note for note in other.notes)


def test_a_profile_that_fits_two_engines_goes_by_the_name_of_the_file_or_stays_alone() -> None:
    engines = [engine("a.graph.json", "x"), engine("b.graph.json", "x")]
    assert [measured(view) for view in joined([*engines, profile("b.profile.json", "x")])] == [
        [None],
        [1.0],
    ]
    assert len(joined([*engines, profile("c.profile.json", "x")])) == 3


def test_of_layers_that_share_a_name_each_takes_a_row() -> None:
    (view,) = joined([engine("a", "x", "x"), profile("p", "x", "x")])
    assert measured(view) == [1.0, 2.0]


def test_times_go_to_the_engine_of_their_stem_or_to_the_only_one() -> None:
    engines = [engine("a.graph.json", "x"), engine("b.graph.json", "y")]
    found = joined([*engines, times("b.timing.json", 2.0)])
    assert [view.run for view in found] == [None, times("", 2.0).run]
    (only,) = joined([engines[0], times("z.json", 1.0)])
    assert only.run == times("", 1.0).run
    assert len(joined([*engines, times("z.json", 1.0)])) == 3
