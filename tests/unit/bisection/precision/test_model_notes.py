"""What is said of a model before its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import TensorProto, helper

from tests.support.zoo.net import Net
from tests.support.zoo.norms import layer_norm
from tests.support.zoo.types import models
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import BF16, FP16, Storage
from trtforensics.bisection.precision.running import few_candidates, model_notes, no_candidates
from trtforensics.errors import SourceError
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from pathlib import Path


def caster(model: onnx.ModelProto, folder: Path, storage: Storage = FP16) -> Caster:
    onnx.save(model, folder / "model.onnx")
    return Caster(prepare(str(folder / "model.onnx")), storage)


def narrow(kind: int) -> onnx.ModelProto:
    ends = [helper.make_tensor_value_info(name, kind, [4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Exp", ["x"], ["y"])], "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize(
    ("kind", "word"), [(TensorProto.FLOAT16, "an FP16 model"), (TensorProto.BFLOAT16, "a BF16 model")]
)
def test_a_model_in_16_bits_is_called_one(kind: int, word: str, tmp_path: Path) -> None:
    what, next_step = no_candidates(caster(narrow(kind), tmp_path))
    assert what.startswith(f"is {word} already: 1 nodes compute")
    assert "Give the FP32 model" in next_step


def test_a_model_without_fp32_nodes_is_said(tmp_path: Path) -> None:
    net = Net(opset=17)
    net.node("Not", "/not", ["x"])
    ends = [helper.make_tensor_value_info(name, TensorProto.BOOL, [4]) for name in ("x", "/not_output_0")]
    graph = helper.make_graph(net.nodes, "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    assert no_candidates(caster(model, tmp_path, BF16))[0] == "has no node that computes in FP32 and could in BF16"


@pytest.mark.parametrize("version", [6, 99])
def test_an_operator_set_that_nobody_runs_is_the_cause(version: int, tmp_path: Path) -> None:
    model = layer_norm(13)
    model.opset_import[0].version = version
    with pytest.raises(SourceError, match=f"uses operator set {version}; the installed onnx"):
        caster(model, tmp_path)


def test_sections_in_16_bits_are_said(tmp_path: Path) -> None:
    (inside,) = (zoo for zoo in models() if zoo.name == "BF16 inside")
    assert model_notes(caster(inside.build(), tmp_path)) == [
        "2 nodes compute in BF16 in the model itself; they stay so in every mixture"
    ]


def test_operators_that_cannot_change_are_counted(tmp_path: Path) -> None:
    net = Net(opset=17)
    tensor = "x"
    for number in range(2):
        tensor = net.node("FastGelu", f"/gelu.{number}", [tensor], domain="com.microsoft")
    tensor = net.node("Conv", "/conv", [tensor, net.weight("w", 1, 1, 3)], pads=[1, 1])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, 8]) for name in ("x", tensor)]
    graph = helper.make_graph(net.nodes, "g", ends[:1], ends[1:], net.initializers)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    made = caster(helper.make_model(graph, opset_imports=sets, ir_version=9), tmp_path, BF16)
    assert few_candidates(made) == " (only 0 of 3 nodes can be in bf16)"
    notes = model_notes(made)
    assert "stay FP32: com.microsoft.FastGelu (2). TensorRT needs a plugin" in notes[0]
    assert notes[1] == "operators without a bf16 form in operator set 17 stay FP32: Conv (1)"


def test_a_model_in_16_bits_but_for_a_few_nodes_says_so_in_the_headline(tmp_path: Path) -> None:
    net = Net(opset=17)
    narrow = net.node("Cast", "/in", ["x"], to=TensorProto.FLOAT16)
    narrow = net.node("Exp", "/exp", [net.node("Neg", "/neg", [narrow])])
    wide = net.node("Cast", "/out", [narrow], to=TensorProto.FLOAT)
    said = few_candidates(caster(net.model(net.node("Tanh", "/tanh", [wide]), {"x": (4,)}, (4,)), tmp_path))
    assert said == " (2 of 3 nodes are in 16 bits in the model itself; what they cost is not seen)"
