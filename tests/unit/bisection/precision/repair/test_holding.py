"""What the search did not see: held-out samples, and other roundings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.support.zoo.net import Net, feeds
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.accumulation import reordered
from trtforensics.bisection.precision.emulation.judging import Judged, rules_for
from trtforensics.bisection.precision.emulation.oracle import Oracle, judge_for
from trtforensics.bisection.precision.repair.certificate import Holding, holding_of, parted
from trtforensics.errors import UsageError
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.onnx_models.samples import Sample


def numbered(count: int) -> list[Sample]:
    return [{"x": np.asarray([number])} for number in range(count)]


def order(samples: tuple[Sample, ...]) -> list[int]:
    return [int(sample["x"][0]) for sample in samples]


def test_every_fourth_sample_is_held_out() -> None:
    assert [order(part) for part in parted(numbered(9), None)] == [[0, 1, 2, 4, 5, 6, 8], [3, 7]]
    assert [order(part) for part in parted(numbered(3), None)] == [[0, 1, 2], []]


def test_the_last_samples_are_held_out_where_a_number_is_given() -> None:
    assert [order(part) for part in parted(numbered(5), 2)] == [[0, 1, 2], [3, 4]]
    assert [order(part) for part in parted(numbered(5), 0)] == [[0, 1, 2, 3, 4], []]


@pytest.mark.parametrize("count", [5, -1])
def test_one_sample_is_left_for_the_search(count: int) -> None:
    with pytest.raises(UsageError, match="cannot be held out"):
        parted(numbered(5), count)


def products() -> onnx.ModelProto:
    """Return products of every kind, the last of which has 4,096 terms."""
    net = Net(seed=4)
    filtered = net.node("Conv", "/Conv", ["x", net.weight("w", 3, 4, 3, 3)], pads=[1, 1, 1, 1])
    flat = net.node("Flatten", "/Flatten", [filtered])
    first = net.node("Gemm", "/Gemm", [flat, net.weight("g", 4096, 108), net.weight("b", 4096)], transB=1)
    return net.model(net.node("MatMul", "/MatMul", [first, net.weight("m", 4096, 5)]), {"x": (1, 4, 6, 6)}, (1, 5))


def test_sums_in_the_other_roundings_differ_in_their_rounding_alone() -> None:
    model, feed = products(), feeds(1, 1, 4, 6, 6)[0]
    turned = reordered(model)
    assert [node.op_type for node in turned.graph.node].count("Slice") == 6
    first, second = (np.asarray(run(each, feed)) for each in (model, turned))
    assert (first != second).any()
    assert np.abs(first - second).max() < 1e-5 * np.abs(first).max()


def run(model: onnx.ModelProto, feed: Sample) -> object:
    runtime = pytest.importorskip("onnxruntime")
    return runtime.InferenceSession(model.SerializeToString()).run(None, dict(feed))[0]


def beside(folder: Path, held: float) -> Holding:
    """Judge a square, of which nothing stays FP32, where the held-out sample reaches ``held``."""
    net = Net(seed=5)
    squared = net.node("Mul", "/Mul", ["x", "x"])
    onnx.save(net.model(net.node("Sqrt", "/Sqrt", [squared]), {"x": (2, 8)}, (2, 8)), folder / "model.onnx")
    caster = Caster(prepare(str(folder / "model.onnx")), FP16)
    oracle = Oracle(caster, feeds(2, 2, 8))
    judge = judge_for(oracle, rules_for({"y": True}, (), ()))
    other = oracle.on([{"x": np.full((2, 8), held, np.float32)}])
    return holding_of(oracle, other, judge, (), [frozenset()], {})


def test_a_repair_that_fails_on_a_held_out_sample_does_not_hold(tmp_path: Path) -> None:
    fails = beside(tmp_path, 300.0)
    assert fails.lost == ("/Mul_output_0",)
    assert fails.on_held_out is not None
    assert (fails.on_held_out.passes, fails.on_held_out.scores) == (False, {"y": None})
    assert "it fails on samples that were held out (y is not finite" in fails.why
    assert "fixed/ loses values inside on samples that were held out (in /Mul_output_0)" in fails.why


def test_a_repair_that_passes_on_both_holds(tmp_path: Path) -> None:
    passes = beside(tmp_path, 2.0)
    assert (passes.held_out, passes.why, passes.lost) == (1, "", ())
    assert passes.on_held_out is not None
    assert passes.on_held_out.passes
    assert passes.other_roundings is not None
    assert passes.other_roundings.passes


def test_a_node_that_only_one_order_needs_is_a_matter_of_rounding() -> None:
    seen = Judged(passes=True, scores={}, why="")
    assert Holding(0, None, seen, needless=("/a", "/b")).why == (
        "by another rounding it passes without /a, /b too, so that rounding decided"
    )


@pytest.mark.parametrize(
    ("held_out", "given", "passes"), [(1.0, None, True), (1.0, 0.0018, False), (0.05, None, False)]
)
def test_a_held_out_sample_may_cost_what_rounding_costs_there_up_to_the_cap(
    held_out: float,
    given: float | None,
    passes: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    net = Net(seed=1)
    up = net.node("Add", "/up", ["x", net.tensor("k", 10.0)])
    onnx.save(net.model(net.node("Sub", "/down", [up, "k"]), {"x": (4, 64)}, (4, 64)), tmp_path / "m.onnx")
    caster = Caster(prepare(str(tmp_path / "m.onnx")), FP16)
    near, far = (feeds(1, 4, 64, scale=scale) for scale in (10.0, held_out))
    oracle = Oracle(caster, near)
    judge = judge_for(oracle, rules_for({"y": True}, ["rel-l2"], [] if given is None else [str(given)]))
    seen = holding_of(oracle, oracle.on(far), judge, (), [frozenset()], {}).on_held_out
    assert seen is not None
    assert seen.passes == passes
