"""Losses inside bodies: counted by execution, whatever the shapes, and only where 16 bits lose them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.support.zoo import models
from tests.support.zoo.net import Net
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.bisection.precision.emulation.ranges import is_reached
from trtforensics.bisection.precision.repair.losses import inner_losses, losses, worse
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

ZOO = {model.name: model for model in models()}


def value(name: str, *size: int | str, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, size)


def oracle_of(folder: Path, model: onnx.ModelProto, *samples: Mapping[str, np.ndarray]) -> Oracle:
    onnx.save(model, folder / "model.onnx")
    return Oracle(Caster(prepare(str(folder / "model.onnx")), FP16), samples)


def looping(nodes: list[onnx.NodeProto], *, opset: int = 17, turns: int = 2) -> onnx.ModelProto:
    """A Loop whose body makes ``next`` of ``state``; ``x`` is its first state, ``y`` its last."""
    going, still = value("going", kind=TensorProto.BOOL), value("still", kind=TensorProto.BOOL)
    body = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["still"]), *nodes],
        "body",
        [value("step", kind=TensorProto.INT64), going, value("state", "n")],
        [still, value("next", "m")],
    )
    constants = [
        numpy_helper.from_array(np.asarray(turns, np.int64), "count"),
        numpy_helper.from_array(np.asarray(1, np.bool_), "yes"),
        numpy_helper.from_array(np.asarray(300.0, np.float32), "k"),
        numpy_helper.from_array(np.asarray(1e-6, np.float32), "small"),
    ]
    loop = helper.make_node("Loop", ["count", "yes", "x"], ["looped"], name="/Loop", body=body)
    end = helper.make_node("Identity", ["looped"], ["y"], name="/end")
    graph = helper.make_graph([loop, end], "net", [value("x", "n")], [value("y", "m")], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def lost(oracle: Oracle, keep: Collection[str] = ()) -> dict[str, tuple[int, int, bool]]:
    found, unseen = inner_losses(oracle, oracle.caster.cast(oracle.caster.kept(keep)))
    assert unseen == []
    return found


@pytest.mark.parametrize("opset", [11, 13, 17, 18, 21])
def test_values_are_counted_over_all_executions(opset: int, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Mul", ["state", "k"], ["up"], name="/up"),
        helper.make_node("Concat", ["up", "up"], ["next"], name="/twice", axis=0),
    ]
    oracle = oracle_of(tmp_path, looping(nodes, opset=opset), {"x": np.asarray([1.0, 300.0], np.float32)})
    found = lost(oracle)
    assert found["up"] == (1 + 4, 2 + 4, False)  # 300 * 300, then all of 300, 90000, twice
    assert found["next"][0] == 2 + 8
    assert lost(oracle, ["/up", "/twice"]) == {}


def test_a_tensor_that_becomes_zero_in_one_execution_is_lost(tmp_path: Path) -> None:
    nodes = [helper.make_node("Mul", ["state", "small"], ["next"], name="/down")]
    oracle = oracle_of(tmp_path, looping(nodes), {"x": np.asarray([1.0, 0.5], np.float32)})
    assert lost(oracle)["next"] == (0, 4, True)
    zeros = oracle_of(tmp_path, looping(nodes), {"x": np.zeros(2, np.float32)})
    assert lost(zeros) == {}


def test_what_fp32_has_not_either_is_no_loss(tmp_path: Path) -> None:
    nodes = [helper.make_node("Div", ["state", "state"], ["next"], name="/div")]
    oracle = oracle_of(tmp_path, looping(nodes), {"x": np.asarray([1.0, 2.0], np.float32)})
    nan = Oracle(oracle.caster, [{"x": np.asarray([0.0, 2.0], np.float32)}], masked=True)
    assert lost(nan) == {}


def test_a_loop_that_never_runs_loses_nothing(tmp_path: Path) -> None:
    nodes = [helper.make_node("Mul", ["state", "k"], ["next"], name="/up")]
    oracle = oracle_of(tmp_path, looping(nodes, turns=0), {"x": np.asarray([300.0], np.float32)})
    assert lost(oracle) == {}


def test_the_node_that_loses_first_begins_the_loss_and_its_readers_do_not(tmp_path: Path) -> None:
    zoo = ZOO["Loop that hides a loss"]
    oracle = oracle_of(tmp_path, zoo.build(), *zoo.samples)
    found = losses(oracle, oracle.caster.kept(()), ())
    assert [each.tensor for each in found.tensors] == ["/loop/up", "/loop/down"]
    assert found.first == {"/loop/up"}


def test_a_state_that_the_execution_before_lost_is_not_where_it_begins(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Mul", ["state", "k"], ["up"], name="/up"),
        helper.make_node("Mul", ["up", "k"], ["next"], name="/again"),
    ]
    oracle = oracle_of(tmp_path, looping(nodes), {"x": np.asarray([1.0, 2.0], np.float32)})
    found = losses(oracle, oracle.caster.kept(()), ())
    assert {each.tensor for each in found.tensors} == {"state", "up", "next", "looped", "y"}
    assert found.first == {"up"}
    repaired = losses(oracle, oracle.caster.kept(["/up"]), ())
    assert repaired.first == {"up"}  # its 16-bit copy is what /again reads


@pytest.mark.parametrize(("ops", "reached"), [(("Loop",), True), (("Loop", "SequenceMap"), False), (("Mine",), False)])
def test_bodies_of_other_operators_do_not_show_theirs(ops: tuple[str, ...], reached: bool) -> None:  # noqa: FBT001 - a column of the table
    node = helper.make_node("Relu", ["a"], ["b"])
    for op in reversed(ops):
        node = helper.make_node(op, [], ["c"], body=helper.make_graph([node], "body", [], []))
    assert is_reached(node) is reached


def test_the_worst_of_two_samples_keeps_what_either_has() -> None:
    assert worse((0, 8, True), (3, 4, False)) == (3, 8, True)


def test_the_least_values_that_an_fp32_node_makes_zero_of_rounded_operands_are_no_loss(tmp_path: Path) -> None:
    net = Net()
    up = net.node("Add", "/up", ["x", net.tensor("k", 1.0)])
    model = net.model(net.node("Sub", "/down", [up, "k"]), {"x": (2, 8)}, (2, 8))
    oracle = oracle_of(tmp_path, model, {"x": np.full((2, 8), 2e-7, np.float32)})
    names = [[loss.tensor for loss in losses(oracle, oracle.caster.kept(keep), ()).tensors] for keep in ((), ["/down"])]
    assert names == [["/down_output_0", "y"], []]
