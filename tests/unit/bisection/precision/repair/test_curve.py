"""The curve of error against what stays FP32 costs two probes a group, and its knee is where the error ends to fall."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest

from tests.support.zoo.net import Net, feeds
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.judging import rules_for
from trtforensics.bisection.precision.emulation.oracle import Oracle, judge_for
from trtforensics.bisection.precision.items import atoms_of
from trtforensics.bisection.precision.repair.curve import rounding_curve
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")


def blocks(count: int, cancelling: int) -> onnx.ModelProto:
    """Blocks of a product and an Add; in one of them what is added is taken away again."""
    net, tensor = Net(seed=2), "x"
    for index in range(count):
        scope = f"/blocks.{index}"
        tensor = net.linear(scope, tensor, 32, 32)
        shift = 4000.0 if index == cancelling else 0.1
        tensor = net.node("Add", f"{scope}/Add", [tensor, net.tensor(f"{scope}.b", shift)])
        if index == cancelling:
            tensor = net.node("Sub", f"{scope}/Sub", [tensor, f"{scope}.b"])
    return net.model(tensor, {"x": (4, 32)}, (4, 32))


def test_two_probes_a_group_find_the_block_that_costs(tmp_path: Path) -> None:
    onnx.save(blocks(20, 13), tmp_path / "model.onnx")
    caster = Caster(prepare(str(tmp_path / "model.onnx")), FP16)
    oracle = Oracle(caster, feeds(2, 4, 32))
    judge = judge_for(oracle, rules_for({"y": True}, (), ()))
    assert judge.floors_above
    curve = rounding_curve(oracle, judge, atoms_of(caster), frozenset())
    assert (len(curve.groups), len(curve.points)) == (12, 13)
    assert sum(group.share for group in curve.groups) == pytest.approx(1.0)
    assert {node for group in curve.groups for node in group.nodes} == set(atoms_of(caster))
    assert {"/blocks.13/Add", "/blocks.13/Sub"} <= curve.kept
    assert (curve.knee, curve.chosen) == (1, 1)
    assert curve.points[1].passes
    assert curve.points[-1].scores == {"y": 0.0}


def test_where_only_nearly_all_in_fp32_passes_the_knee_is_chosen(tmp_path: Path) -> None:
    net, tensor = Net(seed=2), "x"
    for index in range(2):
        tensor = net.node(
            "Add", f"/up.{index}", [net.linear(f"/{index}", tensor, 32, 32), net.tensor(f"b{index}", 9e3)]
        )
        tensor = net.node("Sub", f"/down.{index}", [tensor, f"b{index}"])
    onnx.save(net.model(tensor, {"x": (4, 32)}, (4, 32)), tmp_path / "model.onnx")
    caster = Caster(prepare(str(tmp_path / "model.onnx")), FP16)
    oracle = Oracle(caster, feeds(2, 4, 32))
    judge = judge_for(oracle, rules_for({"y": True}, (), ["1e-7"]))
    curve = rounding_curve(oracle, judge, atoms_of(caster), frozenset())
    assert [point.passes for point in curve.points[:-1]] == [False] * (len(curve.points) - 1)
    assert curve.points[-1].passes
    assert curve.chosen == (curve.knee or 0) < len(curve.groups)


def test_what_stays_fp32_anyway_is_no_part_of_the_curve(tmp_path: Path) -> None:
    onnx.save(blocks(6, 2), tmp_path / "model.onnx")
    caster = Caster(prepare(str(tmp_path / "model.onnx")), FP16)
    oracle = Oracle(caster, feeds(2, 4, 32))
    judge = judge_for(oracle, rules_for({"y": True}, (), ()))
    base = frozenset({"/blocks.2/Add", "/blocks.2/Sub"})
    curve = rounding_curve(oracle, judge, atoms_of(caster), base)
    assert not base.intersection(node for group in curve.groups for node in group.nodes)
    assert (curve.chosen, curve.kept) == (0, frozenset())
    assert curve.points[0].share > 0.0
