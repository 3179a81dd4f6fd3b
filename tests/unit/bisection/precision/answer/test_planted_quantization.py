"""Planted faults of a quantized network come first, with the reason."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.support.for_each import for_each
from tests.support.zoo.net import Net
from trtforensics.bisection.precision.answer.quantization import (
    CachedRange,
    CalibrationReport,
    PairCost,
    QuantizationCost,
    cost_of,
    held_against,
    read_cache,
    unpaired_nodes,
)
from trtforensics.bisection.precision.answer.range_use import Grid, RangeUse, rank_of, use_of
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.errors import SourceError
from trtforensics.onnx_models.checked import CheckedModel
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

SAMPLES = [{"x": np.random.default_rng(seed).standard_normal((1, 8, 6, 6)).astype(np.float32)} for seed in (1, 2)]
BLOCKS = tuple(f"/{letter}" for letter in "abcdef")
SOUND = {scope: 3.6 / 127 if scope == "/a" else 1.0 / 127 for scope in BLOCKS}


def network(steps: Mapping[str, float], outlier: str = "", unpaired: str = "", suffix: str = "") -> onnx.ModelProto:
    """Return convolutions, each behind a pair with a step of ``steps`` or a sound one, and with weights of a pair."""
    net = Net(seed=9)
    net.tensor("zero", 0, np.int8)
    tensor = "x"
    for scope in BLOCKS:
        if scope == outlier:
            gain = np.ones((1, 8, 1, 1))
            gain[0, 3] = 60.0
            tensor = net.node("Mul", f"{scope}/gain", [tensor, net.tensor(f"{scope}.gain", gain)])
        if scope != unpaired:
            step = net.tensor(f"{scope}.scale", {**SOUND, **steps}[scope])
            narrow = net.node("QuantizeLinear", f"{scope}/Q", [tensor, step, "zero"])
            tensor = net.node("DequantizeLinear", f"{scope}/DQ", [narrow, step, "zero"])
        integers = np.random.default_rng(4).integers(-127, 128, (8, 8, 3, 3))
        if scope == outlier:
            integers[:, 3] //= 60
        stored = net.tensor(f"{scope}.w", integers, np.int8)
        weight = net.node("DequantizeLinear", f"{scope}/W", [stored, net.tensor(f"{scope}.s", 0.0018), "zero"])
        tensor = net.node("Conv", f"{scope}/Conv{suffix}", [tensor, weight], pads=[1, 1, 1, 1])
        tensor = net.node("Tanh", f"{scope}/Tanh{suffix}", [tensor])
    return net.model(net.node("Mul", "/last", [tensor, "x"]), {"x": (1, 8, 6, 6)}, (1, 8, 6, 6))


def oracle(model: onnx.ModelProto, folder: Path) -> Oracle:
    onnx.save(model, folder / "model.onnx")
    return Oracle(Caster(prepare(str(folder / "model.onnx")), FP16), SAMPLES)


def cost(model: onnx.ModelProto, folder: Path) -> QuantizationCost:
    found = cost_of(oracle(model, folder))
    assert found is not None
    return found


@pytest.mark.parametrize("wrong", BLOCKS)
def test_a_scale_of_a_quarter_is_first_and_clips(wrong: str, tmp_path: Path) -> None:
    lines = cost(network({wrong: SOUND[wrong] / 4}), tmp_path).lines()
    assert lines[2].startswith(f"  {wrong}/Q, scale {wrong}.scale: without this pair ")
    assert "; it clips " in lines[2]
    assert not any("clips" in line for line in lines[3:])


@pytest.mark.parametrize("wrong", BLOCKS[1:])
def test_a_channel_that_stretches_the_scale_is_first(wrong: str, tmp_path: Path) -> None:
    lines = cost(network({wrong: 60.0 / 127}, outlier=wrong), tmp_path).lines()
    assert lines[2].startswith(f"  {wrong}/Q, scale {wrong}.scale: without this pair ")
    assert "it has one scale, and channel 3 is far beyond the other channels" in lines[2]


def test_an_outlier_beside_dead_channels_is_one_and_a_living_channel_is_not() -> None:
    grid = Grid(np.asarray([60.0 / 127]), np.zeros(1), -128.0, 127.0)
    spread = np.zeros((1, 3, 32))
    spread[..., :16] = np.linspace(0.5, 1.0, 16)
    assert use_of([spread], grid).outliers == ()
    spread[..., 3] = 60.0
    assert use_of([spread], grid).outliers == (3,)
    assert use_of([np.zeros((1, 3, 32))], grid).outliers == ()
    assert use_of([spread], grid, (1,)).outliers == ()
    assert use_of([spread.transpose(0, 2, 1)], grid, (1,)).outliers == (3,)


def placed_outliers(sizes: Sequence[int], axis: int, product: str, slot: int, folder: Path) -> list[tuple[int, ...]]:
    """Return the outliers of a pair whose channel 5 along an axis stretches it; a gain is taken back behind it."""
    net = Net(seed=9)
    gain = np.ones([16 if place == axis else 1 for place in range(len(sizes))])
    gain.ravel()[5] = 60.0
    tensor = net.node("Mul", "/gain", ["x", net.tensor("gain", gain)])
    narrow = net.node("QuantizeLinear", "/Q", [tensor, net.tensor("step", 2.0), net.tensor("zero", 0, np.int8)])
    wide = net.node("DequantizeLinear", "/DQ", [narrow, "step", "zero"])
    back = net.node("Mul", "/back", [wide, net.tensor("back", 1.0 / gain)])
    other = net.weight("w", 4, 16, 1) if product == "Conv" else "x"
    made = net.node("Transpose", "/turned", [other], perm=[0, 1, 3, 2]) if len(sizes) > 3 else other
    made = net.node(product, "/product", [made, back] if slot else [back, made])
    onnx.save(net.model(made, {"x": sizes}, list("abcd"[: len(sizes)])), folder / "model.onnx")
    samples = [{"x": np.random.default_rng(2).uniform(-1, 1, sizes).astype(np.float32)}]
    found = cost_of(Oracle(Caster(prepare(str(folder / "model.onnx")), FP16), samples))
    assert found is not None
    return [pair.use.outliers for pair in found.pairs if pair.use]


@pytest.mark.parametrize(
    ("sizes", "axis", "product", "slot"),
    [
        ((1, 16, 20), 1, "Conv", 0),
        ((1, 2, 20, 16), 3, "MatMul", 0),
        ((1, 2, 20, 16), 3, "MatMul", 1),
        ((1, 2, 16, 20), 2, "MatMul", 1),
    ],
)
def test_channels_are_where_the_next_product_has_them(
    sizes: Sequence[int], axis: int, product: str, slot: int, tmp_path: Path
) -> None:
    assert placed_outliers(sizes, axis, product, slot, tmp_path) == [(5,)]


@pytest.mark.parametrize(
    ("between", "says"),
    [
        ("Relu", "has no pair, its other operand has"),
        ("Clip", "has no pair, its other operand has"),
        ("MaxPool", ""),
        ("Transpose", ""),
        ("Concat", ""),
    ],
)
def test_a_pair_counts_behind_what_tensorrt_moves_it_across_alone(between: str, says: str, tmp_path: Path) -> None:
    model = network({})
    nodes = {node.name: node for node in model.graph.node}
    attributes: dict[str, dict[str, Any]] = {
        "MaxPool": {"kernel_shape": [1, 1]},
        "Transpose": {"perm": [0, 1, 3, 2]},
        "Concat": {"axis": 0},
    }
    apart = helper.make_node(
        between, [nodes["/c/DQ"].output[0]], ["apart"], name="/apart", **attributes.get(between, {})
    )
    nodes["/c/Conv"].input[0] = "apart"
    model.graph.node.insert(list(model.graph.node).index(nodes["/c/Conv"]), apart)
    found = cost(model, tmp_path)
    assert [(each.node, each.why) for each in found.unpaired] == ([("/c/Conv", f"apart {says}")] if says else [])


@pytest.mark.parametrize(("scale", "unpaired"), [(SOUND["/c"], []), (0.5, ["/d/Conv"])])
def test_pairs_of_one_scale_alone_are_moved_across_a_concat(scale: float, unpaired: list[str]) -> None:
    model = network({"/d": scale})
    nodes = {node.name: node for node in model.graph.node}
    halves = [nodes["/c/DQ"].output[0], nodes["/d/DQ"].output[0]]
    nodes["/d/Conv"].input[0] = "joined"
    joined = helper.make_node("Concat", halves, ["joined"], name="/joined", axis=0)
    model.graph.node.insert(list(model.graph.node).index(nodes["/d/Conv"]), joined)
    assert [each.node for each in unpaired_nodes(CheckedModel("", model))] == unpaired


@pytest.mark.parametrize("wrong", BLOCKS)
def test_a_product_without_its_pair_is_named_before_all_pairs(wrong: str, tmp_path: Path) -> None:
    found = cost(network({}, unpaired=wrong), tmp_path)
    assert [each.node for each in found.unpaired] == [f"{wrong}/Conv"]
    assert found.lines()[2].startswith(f"  {wrong}/Conv computes in floating point: ")
    assert found.lines()[2].endswith(" has no pair, its other operand has.")


def test_a_pair_between_a_product_and_its_activation_is_said_to_end_the_fusion(tmp_path: Path) -> None:
    net = Net(seed=9)
    net.tensor("zero", 0, np.int8)
    step = net.tensor("step", 0.05)
    tensor = net.linear("/a", "x", 6, 6)
    narrow = net.node("QuantizeLinear", "/Q", [tensor, step, "zero"])
    tensor = net.node("Relu", "/relu", [net.node("DequantizeLinear", "/DQ", [narrow, step, "zero"])])
    found = cost(net.model(tensor, {"x": (1, 8, 6, 6)}, (1, 8, 6, 6)), tmp_path)
    assert [each.node for each in found.needless] == ["/relu"]
    assert found.lines()[-1].startswith("  The Q/DQ before /relu stand between ")


def test_a_sound_network_has_no_reasons(tmp_path: Path) -> None:
    found = cost(network({}), tmp_path)
    assert found.unpaired == ()
    assert [pair.use.reason for pair in found.pairs if pair.use] == [""] * len(BLOCKS)
    assert all(pair.use and pair.use.snr_db and pair.use.snr_db > 30 for pair in found.pairs)


def test_scales_of_channels_are_held_to_their_channels() -> None:
    values = np.asarray([[[1.0, -1.0], [10.0, -12.0]]])
    use = use_of([values], Grid(np.asarray([1 / 127, 10 / 127]), np.zeros(1), -128.0, 127.0))
    assert (use.clipped, use.outliers) == (0.25, ())
    assert use.used == pytest.approx(12.0 / 10.0, rel=0.01)


def cache(folder: Path, scales: Mapping[str, float], header: str = "TRT-8501-EntropyCalibration2") -> str:
    lines = [header, *(f"{name}: {struct.pack('>f', scale).hex()}" for name, scale in scales.items())]
    (folder / "calibration.cache").write_text("\n".join(lines) + "\n")
    return str(folder / "calibration.cache")


RANGES = {"x": 3.6 / 127, **{f"{scope}/Tanh_output_0": 1.0 / 127 for scope in BLOCKS}}
"""A sound range for each activation of the network."""


def report(folder: Path, scales: Mapping[str, float]) -> CalibrationReport:
    return held_against(cache(folder, scales), oracle(network({}), folder))


def test_a_range_of_a_quarter_is_first_and_a_wide_one_is_named(tmp_path: Path) -> None:
    lines = report(tmp_path, {**RANGES, "/c/Tanh_output_0": 0.25 / 127, "/d/Tanh_output_0": 1000.0}).lines()
    assert lines[0].endswith("EntropyCalibration2 of TensorRT 8501: 2 of 7 ranges do not suit the samples.")
    told = "\n".join(lines[1:3])
    assert "  /c/Tanh_output_0 clips " in told
    assert "  /d/Tanh_output_0 uses 0.0% of its range" in told


def test_a_channel_that_stretches_a_range_is_no_fault_of_the_cache() -> None:
    ranges = tuple(
        CachedRange(name, 1.0, replace(use(**facts), reason=name))
        for name, facts in (("clips", {"snr_db": 11.0, "clipped": 0.1}), ("stretched", {"outliers": (3,)}))
    )
    lines = CalibrationReport("cache", "8501", "EntropyCalibration2", ranges, (), ()).lines()
    assert lines[0].endswith(": 1 of 2 ranges do not suit the samples.")
    assert [line.split()[0] for line in lines[1:]] == ["clips", "stretched"]


def test_ranges_that_are_missing_are_named(tmp_path: Path) -> None:
    found = report(tmp_path, {name: scale for name, scale in RANGES.items() if not name.startswith("/b")})
    assert "/b/Tanh_output_0" in found.missing
    assert "/a/Tanh_output_0" not in found.missing
    assert (found.unknown, [each.use.reason for each in found.ranges]) == ((), [""] * 6)


def test_a_cache_of_another_network_is_said_to_be(tmp_path: Path) -> None:
    found = report(tmp_path, {"x": 0.03, **{f"layer{number}": 0.1 for number in range(9)}})
    assert "is of another network: the model has 1 of its 10 names." in found.lines()[0]
    assert len(found.unknown) == 9


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not begin with TRT-VERSION-CALIBRATOR"),
        ("TRT-8501-EntropyCalibration2\nx=3\n", "is no line `TENSOR: SCALE`"),
        ("hello\nx: 3c010a14\n", "is no calibration cache"),
    ],
)
def test_what_is_no_cache_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text(text)
    with pytest.raises(SourceError) as caught:
        read_cache(str(tmp_path / "cache"))
    assert said in str(caught.value)


def test_names_may_have_colons_and_blanks_and_scales_few_digits(tmp_path: Path) -> None:
    scales = {"(Unnamed Layer* 3) [Convolution]_output": 0.5, "in:0": 2.0}
    named = cache(tmp_path, scales, "TRT-5105-EntropyCalibration")
    assert read_cache(named) == ("5105", "EntropyCalibration", scales)
    (tmp_path / "calibration.cache").write_text("TRT-7000-MinMaxCalibration\r\nzero: 0\r\n")
    assert read_cache(str(tmp_path / "calibration.cache"))[2] == {"zero": 0.0}


def test_pairs_at_fault_come_before_those_that_cost_more_and_usual_outliers_do_not() -> None:
    usual = [(f"/usual{number}", 0.5 + number / 10, use(stretch=9.0 + number)) for number in range(4)]
    costs = [
        *usual,
        ("/costly", 0.2, use()),
        ("/stretched", 1.0, use(outliers=(3,), stretch=100.0)),
        ("/sparse", 0.9, use(snr_db=40.0, fitted_db=60.0, clipped=0.1)),
        ("/coarse", 1.1, use(snr_db=24.0, fitted_db=36.0, used=0.25)),
        ("/clipped", 1.0, use(snr_db=11.0, fitted_db=36.0, clipped=0.1)),
    ]
    pairs = tuple(PairCost(name, "t", "s", without, 1.0 if of.outliers else 0.1, of) for name, without, of in costs)
    lines = QuantizationCost(1.0, pairs, (), 0).lines()
    ranked = [line.split(",")[0].strip() for line in lines if "without this pair" in line]
    assert ranked[:5] == ["/clipped", "/coarse", "/stretched", "/costly", "/usual0"]
    assert "; 11 dB of 36 dB" in lines[2]


def test_an_outlier_comes_before_what_costs_as_much_in_a_network_of_uneven_channels() -> None:
    costs = [
        *((f"/uneven{number}", 0.6, use(stretch=8.0 + number)) for number in range(4)),
        ("/single", 0.4, use(stretch=78.0)),
        ("/usual", 0.5, use(outliers=(1, 2), stretch=14.0)),
        ("/planted", 0.5, use(outliers=(38,), stretch=65.0)),
    ]
    pairs = tuple(PairCost(name, "t", "s", without, 1.0 if of.outliers else 0.1, of) for name, without, of in costs)
    assert [pair.node for pair in QuantizationCost(1.0, pairs, (), 0).ranked()][:2] == ["/planted", "/usual"]


def test_an_outlier_that_costs_no_more_than_other_pairs_is_foreseen_by_the_weights() -> None:
    wide = use(outliers=(2,), stretch=90.0)
    costs = [("/foreseen", 0.1, wide), ("/planted", 0.9, replace(wide, stretch=60.0)), *(("/usual", 0.1, use()),) * 3]
    pairs = tuple(PairCost(name, "t", "s", 0.9, alone, of) for name, alone, of in costs)
    assert QuantizationCost(1.0, pairs, (), 0).ranked()[0].node == "/planted"


def test_what_one_pair_costs_alone_is_the_error_of_the_model_with_no_other(tmp_path: Path) -> None:
    found = cost(network({"/c": SOUND["/c"] / 4}), tmp_path)
    alone = {pair.node: pair.alone or 0.0 for pair in found.pairs}
    assert max(alone, key=lambda name: alone[name]) == "/c/Q"
    only = cost(network({"/c": SOUND["/c"] / 4}, unpaired="/b"), tmp_path)
    assert {pair.node: pair.alone for pair in only.pairs}["/c/Q"] == pytest.approx(alone["/c/Q"])


@pytest.mark.parametrize(("reader", "reason"), [("Relu", ""), ("Tanh", "clips 50.0% of the values: they reach -4")])
def test_what_a_relu_takes_away_is_not_clipped(reader: str, reason: str, tmp_path: Path) -> None:
    net = Net(seed=9)
    step, zero = net.tensor("step", 1.0 / 255), net.tensor("zero", 0, np.uint8)
    wide = net.node("DequantizeLinear", "/DQ", [net.node("QuantizeLinear", "/Q", ["x", step, zero]), step, zero])
    model = net.model(net.node(reader, "/reader", [wide]), {"x": (1, 4)}, (1, 4))
    onnx.save(model, tmp_path / "model.onnx")
    samples = [{"x": np.asarray([[-4.0, -1.0, 0.5, 1.0]], np.float32)}]
    found = cost_of(Oracle(Caster(prepare(str(tmp_path / "model.onnx")), FP16), samples))
    assert found is not None
    assert found.pairs[0].use is not None
    assert found.pairs[0].use.reason.startswith(reason)
    assert bool(found.pairs[0].use.reason) == bool(reason)


def test_the_end_that_is_told_is_the_one_that_clips() -> None:
    values = np.linspace(-4.0, 10.0, 400).reshape(1, 1, 20, 20)
    reason = use_of([values], Grid(np.asarray([12.0 / 255]), np.asarray([21.0]), 0.0, 255.0)).reason
    assert reason == "clips 21.5% of the values: they reach -4, its range ends at -0.988"


def test_an_outlier_that_its_scale_clips_too_is_told_as_both() -> None:
    values = np.random.default_rng(3).uniform(-1, 1, (1, 16, 8, 8))
    values[:, 5] *= 60.0
    reason = use_of([values], Grid(np.asarray([20.0 / 127]), np.zeros(1), -128.0, 127.0)).reason
    assert reason.startswith("clips 4.")
    assert "; it has one scale, and channel 5 is far beyond the other channels (up to 59" in reason


def use(**facts: Any) -> RangeUse:
    sound = {"clipped": 0.0, "used": 1.0, "snr_db": 34.0, "fitted_db": 35.0, "outliers": (), "stretch": 5.0}
    return RangeUse(largest=1.0, end=1.0, peak=1.0, reason="", **{**sound, **facts})


NORMAL = np.random.default_rng(5).standard_normal((1, 8, 16, 16))
END = np.abs(NORMAL).max()


@for_each(
    ("end", "reason"),
    [
        (1.0, ""),
        (1.3, ""),
        (0.8, ""),
        (0.25, "clips "),
        (4.0, "uses 2"),
        (3.3, "uses 3"),
    ],
)
def test_a_scale_is_held_against_what_a_range_that_fits_would_leave(end: float, reason: str) -> None:
    found = use_of([NORMAL], Grid(np.asarray([END * end / 127]), np.zeros(1), -128.0, 127.0))
    assert found.reason.startswith(reason)
    assert bool(found.reason) == bool(reason)
    assert (rank_of(found, 3.0, 0.0, 0.0)[0] == 0) == bool(reason)


def test_values_below_a_range_that_begins_at_zero_do_not_hide_that_it_is_too_wide() -> None:
    values = np.maximum(NORMAL, -0.001)
    found = use_of([values], Grid(np.asarray([values.max() * 4.0 / 255]), np.zeros(1), 0.0, 255.0))
    assert found.reason.startswith("uses 25")
    assert found.is_at_fault


def test_a_tail_that_is_cut_off_is_a_fault_where_it_is_most_of_the_noise() -> None:
    values = NORMAL.copy()
    values.ravel()[:8] = 14.0
    found = use_of([values], Grid(np.asarray([END / 127]), np.zeros(1), -128.0, 127.0))
    assert found.reason.startswith("clips 0.4% of the values: they reach 14")
    assert found.snr_db == pytest.approx(7.0, abs=2.0)


def test_zero_points_and_scales_of_channels_are_held_against_their_like() -> None:
    channels = np.abs(NORMAL).max(axis=(0, 2, 3)) / 127
    grids = [
        (np.abs(NORMAL), Grid(np.asarray([END / 255]), np.zeros(1), 0.0, 255.0)),
        (np.abs(NORMAL), Grid(np.asarray([END / 255]), np.asarray([-128.0]), -128.0, 127.0)),
        (NORMAL, Grid(channels, np.zeros(1), -128.0, 127.0)),
    ]
    for values, grid in grids:
        found = use_of([values], grid)
        assert found.fitted_db == pytest.approx(found.snr_db, abs=0.2)
    assert use_of([NORMAL], Grid(channels / 4, np.zeros(1), -128.0, 127.0)).excess_db > 9.0
