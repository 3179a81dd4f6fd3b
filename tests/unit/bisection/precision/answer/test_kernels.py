"""Nodes of an attention are recognised, and sums that leave FP16 are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.integration import precision_nets as nets
from tests.support.zoo.net import Net
from trtforensics.bisection.precision.answer.kernels import CubedTensor, attention_nodes, cubes_beyond, sums_beyond
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")


def caster_of(model: onnx.ModelProto, folder: Path) -> Caster:
    onnx.save(model, folder / "model.onnx")
    return Caster(prepare(str(folder / "model.onnx")), FP16)


def test_the_scores_of_an_attention_are_told_from_other_nodes(tmp_path: Path) -> None:
    caster = caster_of(nets.transformer(1, ()), tmp_path)
    found = attention_nodes(caster.survey, set(caster.candidates))
    assert found == ["/layers.0/Div", "/layers.0/Softmax"]
    assert attention_nodes(caster.survey, {"/layers.0/Softmax"}) == ["/layers.0/Softmax"]


def test_a_sum_that_cancels_is_named_though_its_result_fits(tmp_path: Path) -> None:
    net = Net()
    weights = np.concatenate([np.full((8, 4), 100.0), np.full((8, 4), -100.0)])
    product = net.node("MatMul", "/cancels", ["x", net.tensor("w", weights)])
    product = net.node("MatMul", "/small", [product, net.tensor("v", np.full((4, 4), 1e-3))])
    caster = caster_of(net.model(product, {"x": (2, 16)}, (2, 4)), tmp_path)
    oracle = Oracle(caster, [{"x": np.full((2, 16), 50.0, np.float32)}])
    assert sums_beyond(oracle, ()) == {"/cancels": 80000.0}
    assert sums_beyond(oracle, {"/cancels"}) == {}


@pytest.mark.parametrize("cube", ["Pow", "Mul of a square", "square times Mul"])
def test_a_gelu_by_tanh_is_named_where_its_cube_overflows(cube: str, tmp_path: Path) -> None:
    net = Net()
    if cube == "Pow":
        third = net.node("Pow", "/cube", ["x", net.constant("/three", 3.0)])
    else:
        factors = ["x", net.node("Mul", "/square", ["x", "x"])]
        third = net.node("Mul", "/cube", factors if cube == "Mul of a square" else factors[::-1])
    inner = net.node("Add", "/inner", ["x", net.node("Mul", "/share", [net.constant("/c", 0.044715), third])])
    gate = net.node("Tanh", "/Tanh", [net.node("Mul", "/scaled", [inner, net.constant("/d", 0.797885)])])
    other = net.node("Tanh", "/no gelu", [net.node("Mul", "/twice", ["x", net.constant("/two", 2.0)])])
    caster = caster_of(net.model(net.node("Mul", "/both", [gate, other]), {"x": (4,)}, (4,)), tmp_path)
    beyond, within = (Oracle(caster, [{"x": np.full(4, value, np.float32)}]) for value in (-40.5, -40.2))
    assert cubes_beyond(beyond, ()) == (CubedTensor("/Tanh", "x", 40.5),)
    assert cubes_beyond(beyond, {"/cube"}) == ()
    assert cubes_beyond(within, ()) == ()
