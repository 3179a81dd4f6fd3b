"""Totals and circumstances of two sides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.build_views import build, layer
from trtforensics.comparison.times import ONE_SIDE, SHAPE, compare_times, layer_times
from trtforensics.comparison.views import Circumstance, LayerTensors, LayerView, Measured, RunView
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import TimeSource

if TYPE_CHECKING:
    from trtforensics.comparison.times import LayerTimes
    from trtforensics.comparison.views import BuildView


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


def timed(name: str, ms: float, **fields: Any) -> LayerView:
    return layer(name, measured_ms=ms, median_ms=ms, **fields)


def compared(good: list[LayerView], bad: list[LayerView], spread: float | None = 0.01) -> LayerTimes:
    found = layer_times([build(*good)], [build(*bad)], spread)
    assert found is not None
    return found


def test_layers_that_are_fused_otherwise_are_one_row() -> None:
    found = compared(
        [timed("conv + relu", 1.0), timed("fc", 1.0)], [timed("conv", 1.0), timed("relu", 0.5), timed("fc", 1)]
    )
    (first, second) = found.rows
    assert (first.good.layers, first.bad.layers, first.delta_ms) == (("conv + relu",), ("conv", "relu"), 0.5)
    assert first.changes == ("fused otherwise, 1 -> 2 layers",)
    assert (second.name, second.within_noise) == ("fc", True)
    assert (found.good_ms, found.bad_ms) == (2.0, 2.5)


def test_a_layer_of_one_side_counts_as_nothing_on_the_other() -> None:
    found = compared(
        [timed("conv", 1.0)], [timed("conv", 1.0), timed("Reformatting CopyNode for Input Tensor 0 to x", 0.25)]
    )
    assert (found.rows[0].how, found.rows[0].good.layers, found.rows[0].delta_ms) == (ONE_SIDE, (), 0.25)
    assert [(one.type, one.good_layers, one.bad_layers) for one in found.types] == [("Reformat", 0, 1), ("", 1, 1)]


def test_layers_under_other_names_are_matched_by_operation_and_dimensions() -> None:
    good = [timed(f"Conv_{n}", 1.0, operation="Convolution", shape=((1, n), (1, n + 1))) for n in (3, 8, 16)]
    bad = [timed(f"conv.{n}", 2.0, operation="Convolution", shape=((1, n), (1, n + 1))) for n in (3, 8, 16)]
    cast = timed("QuantizeLinear_1", 0.5, operation="Reformat", shape=((1, 3), (1, 3)))
    found = compared(good, [cast, *bad])
    assert [(row.good.layers, row.bad.layers, row.how) for row in found.rows] == [
        (("Conv_3",), ("conv.3",), SHAPE),
        (("Conv_8",), ("conv.8",), SHAPE),
        (("Conv_16",), ("conv.16",), SHAPE),
        ((), ("QuantizeLinear_1",), ONE_SIDE),
    ]


def test_measured_times_are_never_compared_with_tuned_ones() -> None:
    tuned, measured = build(layer("a", time_ms=1.0)), build(timed("a", 1.0))
    assert layer_times([tuned], [measured], None) is None
    both = build(layer("a", time_ms=3.0, measured_ms=1.0))
    found = layer_times([tuned], [both], None)
    assert found is not None
    assert (found.time_is, found.rows[0].delta_ms) == (TimeSource.TUNED, 2.0)


@pytest.mark.parametrize(("bad_ms", "within"), [(1.02, True), (1.03, False)])
def test_a_run_that_spreads_by_2_percent_hides_differences_up_to_that(bad_ms: float, within: bool) -> None:  # noqa: FBT001 - a table
    assert compared([timed("a", 1.0)], [timed("a", bad_ms)], 0.02).rows[0].within_noise is within


def test_the_builds_of_a_side_lie_apart() -> None:
    goods = [build(timed("a", 1.0)), build(timed("a", 2.0))]
    found = layer_times(goods, [build(timed("a", 2.2))], None)
    assert found is not None
    (row,) = found.rows
    assert (row.good.ms, row.noise_ms, row.within_noise) == (1.5, 1.0, True)


def test_iterations_that_stand_out_are_noise() -> None:
    good, bad = layer("a", measured_ms=1.0, median_ms=1.0), layer("a", measured_ms=1.5, median_ms=1.0)
    assert compared([good], [bad], None).rows[0].within_noise


def test_without_any_spread_nothing_is_called_noise() -> None:
    good, bad = layer("a", measured_ms=1.0), layer("a", measured_ms=1.0001)
    assert compared([good], [bad], None).rows[0].noise_ms is None


def test_a_layer_that_runs_no_kernel_is_no_row() -> None:
    found = compared(
        [timed("a", 1.0), timed("n", 0.0, runner="NoOp")], [timed("a", 1.0), layer("b", runner="Constant")]
    )
    assert [row.name for row in found.rows] == ["a"]
    assert found.untimed == (0, 0)


def test_time_that_one_side_alone_tells_is_left_out_of_every_sum() -> None:
    whole = "{ForeignNode[a...b]}"
    good = [timed("conv", 1.0), timed(whole, 9.0)]
    found = compared(good, [timed("conv", 1.5), layer("__myl_Add", runner="kgen", inside=whole)])
    assert [(row.name, row.delta_ms) for row in found.rows] == [("conv", 0.5)]
    assert ([row.name for row in found.left_out], found.good_ms, found.untimed) == ([whole], 1.0, (0, 1))
    assert sum(each.good_ms for each in found.types) == found.good_ms
    found = compared(good, [timed("conv", 1.5)])
    assert [row.name for row in found.rows] == [whole, "conv"]


def test_a_row_says_what_else_differs_and_cites_the_profile() -> None:
    half, full = (LayerTensors(1, (t, t), texts=(t, t)) for t in ("Half", "Float"))
    place = SourceSpan("p.json", 7, 0)
    good = timed("a", 1.0, tensors=half, tactic=1, time_span=place)
    bad = timed("a", 2.0, tensors=full, tactic=2)
    (row,) = compared([good], [bad]).rows
    assert row.changes == ("Half -> Half became Float -> Float", "other tactic")
    assert (row.good.spans, row.bad.spans) == ((place,), (bad.span,))


def test_layers_in_the_same_position_with_other_dimensions_are_not_the_same() -> None:
    tensors = LayerTensors(1, ("Half", "Half"), texts=("Half", "Half"))

    def named(name: str, size: int, ms: float) -> LayerView:
        shape = ((1, size), (1, size))
        return timed(name, ms, operation="Convolution", runner="Cask", tensors=tensors, shape=shape)

    found = compared([named("a1", 8, 1.0), named("a2", 16, 2.0)], [named("b1", 16, 3.0), named("b2", 8, 4.0)])
    pairs = {(row.good.layers, row.bad.layers) for row in found.rows}
    assert (("a1",), ("b1",)) not in pairs
    assert (found.good_ms, found.bad_ms) == (3.0, 7.0)
