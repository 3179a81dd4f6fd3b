"""Files that tell of one engine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from trtforensics.comparison.loading import joined, load_side
from trtforensics.comparison.views import BuildView, Measured, RunView
from trtforensics.model.span import SourceSpan
from trtforensics.sources.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Sides = Callable[..., dict[str, BuildView]]

SPAN = SourceSpan("x", 1, 0)


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    """Write engines and profiles (``p_…``) of these layers, and load their folder."""

    def load(**files: str) -> dict[str, BuildView]:
        for name, layers in files.items():
            rows = [
                {"name": layer, "timeMs": n, "averageMs": n, "medianMs": n, "percentage": 1.0}
                for n, layer in enumerate(layers, 1)
            ]
            is_profile = name.startswith("p_")
            whole = [{"count": 1}, *rows] if is_profile else {"Layers": list(layers), "Bindings": []}
            ending = "profile.json" if is_profile else "graph.json"
            (tmp_path / f"{name.removeprefix('p_')}.{ending}").write_text(json.dumps(whole))
        return {view.source.rpartition("/")[2].partition(".")[0]: view for view in load_side(str(tmp_path), "").builds}

    return load


def engine(source: str) -> BuildView:
    return BuildView(source, Kind.LAYER_INFO, "", ())


def times(source: str, ms: float) -> BuildView:
    return BuildView(source, Kind.TIMES, "", None, run=RunView({"latency_ms": Measured(ms, None, SPAN)}))


def measured(view: BuildView) -> list[float | None]:
    return [layer.measured_ms for layer in view.layers or ()]


def test_a_profile_goes_to_the_engine_that_has_its_layers(sides: Sides) -> None:
    views = sides(a="xy", b="uv", p_p="uvw")
    assert {name: measured(view) for name, view in views.items()} == {"a": [None, None], "b": [1.0, 2.0]}
    assert any("names no layer of the engine in 1 row (w)" in note for note in views["b"].notes)


def test_a_profile_that_fits_two_engines_goes_by_the_name_of_the_file_or_stays_alone(sides: Sides) -> None:
    assert {name: measured(view) for name, view in sides(a="x", b="x", p_b="x").items()} == {"a": [None], "b": [1.0]}
    assert len(sides(a="x", b="x", p_c="x")) == 3


def test_of_layers_that_share_a_name_each_takes_a_row(sides: Sides) -> None:
    assert measured(sides(a="xx", p_p="xx")["a"]) == [1.0, 2.0]


def test_times_go_to_the_engine_of_their_stem_or_to_the_only_one() -> None:
    engines = [engine("a.graph.json"), engine("b.graph.json")]
    views = joined([*engines, times("b.timing.json", 2.0)])
    assert [view.run for view in views] == [None, times("", 2.0).run]
    (only,) = joined([engines[0], times("z.json", 1.0)])
    assert only.run == times("", 1.0).run
    assert len(joined([*engines, times("z.json", 1.0)])) == 3
