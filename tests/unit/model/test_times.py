"""Measured times come before tuned ones, and what has no time is counted, not sorted as zero."""

from __future__ import annotations

from tests.support.graph_builds import build, choice, engine, span
from trtforensics.model.profile import LayerTime, ProfileRun, TimeSource
from trtforensics.model.times import slowest_layers, timed_note

LAYERS = (
    engine("a", "x", "t", 1, choice=0, time_ms=0.25, time_is=TimeSource.TUNED),
    engine("b", "t", "u", 2),
    engine("c", "u", "y", 3, type="NoOp"),
)


def test_tuned_times_are_those_of_final_results_with_their_shares() -> None:
    choices = (choice(layer="a", time_ms=0.25), choice(layer="b", time_ms=0.75), choice(time_ms=9.0, final=False))
    found = slowest_layers(build(choices=choices, engine_layers=LAYERS))
    assert [(one.name, one.time_ms, one.share, one.time_is) for one in found] == [
        ("b", 0.75, 0.75, TimeSource.TUNED),
        ("a", 0.25, 0.25, TimeSource.TUNED),
    ]
    assert timed_note(build(engine_layers=LAYERS)) == "1 of 3 layers timed, 1 run no kernel"


def test_measured_times_take_the_place_of_tuned_ones() -> None:
    rows = (LayerTime("b", 3.0, 0.3, None, 75.0, span(7), 1), LayerTime("z", 1.0, 0.1, None, 25.0, span(8)))
    found = slowest_layers(build(choices=(choice(),), engine_layers=LAYERS, profiles=(ProfileRun(10, rows, span(6)),)))
    assert [(one.name, one.share, one.what, one.time_is) for one in found] == [
        ("b", 0.75, "CaskConvolution", TimeSource.MEASURED),
        ("z", 0.25, "", TimeSource.MEASURED),
    ]


def test_without_times_there_is_no_slowest_layer() -> None:
    assert slowest_layers(build()) == []
