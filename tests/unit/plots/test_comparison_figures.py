"""Figures of two engines."""

from __future__ import annotations

import pytest

from tests.support.build_views import build, layer
from trtforensics.comparison.times import LayerTimes, layer_times
from trtforensics.plots.engine_figures import side_by_side, waterfall


def times(good: dict[str, float], bad: dict[str, float]) -> LayerTimes:
    first, second = (
        [build(*(layer(name, measured_ms=ms, operation=name[0]) for name, ms in one.items()))] for one in (good, bad)
    )
    found = layer_times(first, second, None)
    assert found is not None
    return found


def test_the_steps_lead_from_the_one_time_to_the_other() -> None:
    good = {f"c{n}": 1.0 for n in range(40)}
    bad = {name: ms + n / 8 for n, (name, ms) in enumerate(good.items())}
    figure = waterfall(times(good, bad), "fast.log", "slow.log")
    texts = [one.text or "" for one in figure.svg.iter("text")]
    steps = [float(text.removesuffix(" ms")) for text in texts if text[:1] in "+-" and text.endswith(" ms")]
    assert sum(steps) == pytest.approx(sum(bad.values()) - sum(good.values()))
    assert sum(row[4] for row in figure.rows if isinstance(row[4], float)) == pytest.approx(sum(steps))
    assert {"15 smaller differences", "fast.log", "slow.log"} <= {*texts}
    assert "The largest step: c39, +4.875 ms." in figure.alt


def test_small_steps_get_a_scale_of_their_own() -> None:
    figure = waterfall(times({"a": 10.0, "b": 10.0}, {"a": 11.0, "b": 10.0}), "x", "y")
    assert figure.note == "The scale begins at 19.75 ms."
    assert waterfall(times({"a": 1.0}, {"a": 9.0}), "x", "y").note == ""


def test_types_stand_side_by_side() -> None:
    figure = side_by_side(times({"a1": 1.0, "b1": 2.0}, {"a1": 4.0, "b1": 2.0}), "fast.log", "slow.log")
    assert figure.rows == (("a", 1.0, 1.0, 1.0, 4.0, 3.0), ("b", 1.0, 1.0, 2.0, 2.0, 0.0))
