"""Totals and circumstances of two sides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.support.build_views import build, layer
from trtforensics.diff.builds.runs import Circumstance, Measured, RunView
from trtforensics.diff.times.comparing import compare_times
from trtforensics.model.span import SourceSpan

if TYPE_CHECKING:
    from trtforensics.diff.builds.views import BuildView

SPAN = SourceSpan("x", 1, 0)


def ran(ms: float, spread: float | None, *circumstances: tuple[str, str, str]) -> BuildView:
    stated = tuple(Circumstance(*one, SPAN) for one in circumstances)
    return replace(build(), run=RunView({"latency_ms": Measured(ms, spread, SPAN)}, stated))


def test_the_wider_spread_of_both_sides_decides() -> None:
    (total,) = compare_times([ran(1.0, 0.01)], [ran(1.1, 0.2)]).totals
    assert (round(total.delta, 6), total.noise, total.within_noise) == (0.1, 0.2, True)
    (total,) = compare_times([ran(1.0, None)], [ran(1.1, None)]).totals
    assert (total.noise, total.within_noise) == (None, False)


def test_builds_of_a_side_that_lie_apart_are_a_spread() -> None:
    (total,) = compare_times([ran(1.0, 0.01), ran(1.4, 0.01), ran(1.1, 0.01)], [ran(1.2, 0.01)]).totals
    assert (total.good.value, round(total.noise or 0, 6)) == (1.1, 0.4)


def test_what_one_side_does_not_state_is_no_difference_and_devices_come_before_options() -> None:
    good = ran(1, None, ("build", "Precision", "FP32"), ("device", "GPU", "A"), ("inference", "Streams", "1"))
    bad = ran(1, None, ("build", "Precision", "FP16"), ("device", "GPU", "B"))
    found = compare_times([good], [bad]).circumstances
    assert [(one.name, one.good[0].value, one.bad[0].value) for one in found] == [
        ("GPU", "A", "B"),
        ("Precision", "FP32", "FP16"),
    ]


def test_models_are_compared_by_the_name_of_the_file() -> None:
    one, other = (ran(1, None, ("model", "Model", path)) for path in ("/a/m.onnx", "/b/m.onnx"))
    assert compare_times([one], [other]).circumstances == ()


def test_the_run_s_spread_is_that_of_each_layer() -> None:
    good, bad = (replace(ran(10.0, 1.0), layers=(layer("a", measured_ms=ms, median_ms=ms),)) for ms in (1.0, 1.05))
    layers = compare_times([good], [bad]).layers
    assert layers is not None
    assert layers.rows[0].within_noise


def test_sides_without_times_tell_nothing() -> None:
    assert not compare_times([build(layer("a"))], [build(layer("a"))]).tells
