"""``bisect precision MODEL --against ORIGINAL``: a model in 16 bits is judged against what it was made of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from tests.support.zoo.net import Net
from trtforensics.cli import main

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

KINDS = {"fp16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}


def original(offset: float) -> onnx.ModelProto:
    net = Net(seed=31)
    large = net.node("Add", "/up", [net.linear("/in", "x", 16, 16), net.tensor("offset", offset)])
    return net.model(net.node("Sub", "/down", [large, "offset"]), {"x": (4, 16)}, (4, 16))


def converted(model: onnx.ModelProto, kind: int, *, interface: bool) -> onnx.ModelProto:
    """Convert the weights, and the interface or its neighbours, by hand."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
    for tensor in made.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(dtype), tensor.name))
    made.graph.ClearField("value_info")
    if interface:
        for value in (*made.graph.input, *made.graph.output):
            value.type.tensor_type.elem_type = kind
    else:
        made.graph.node[0].input[0] = "narrow"
        made.graph.node.insert(0, onnx.helper.make_node("Cast", ["x"], ["narrow"], name="in", to=kind))
        last = made.graph.node[-1]
        last.CopyFrom(onnx.helper.make_node("Cast", list(last.input), ["y"], name="out", to=TensorProto.FLOAT))
    onnx.checker.check_model(made, full_check=True)
    return made


def run(folder: Path, made: onnx.ModelProto, model: onnx.ModelProto, *options: str) -> int:
    onnx.save(made, folder / "half.onnx")
    onnx.save(model, folder / "model.onnx")
    paths = [str(folder / name) for name in ("half.onnx", "model.onnx", "out")]
    arguments = [paths[0], "--against", paths[1], "--artifacts-dir", paths[2], "--build", "none", "--quiet"]
    return main(["bisect", "precision", *arguments, *options])


@pytest.mark.parametrize("interface", [True, False], ids=["own types", "FP32 interface"])
@pytest.mark.parametrize("precision", KINDS)
def test_what_conversion_costs_is_measured_against_the_original(
    *, precision: str, interface: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = original(3000.0)
    run(tmp_path, converted(model, KINDS[precision], interface=interface), model, "--precision", precision)
    said = capsys.readouterr().out
    document = json.loads((tmp_path / "out/result.json").read_text())
    assert document["converted"]["passes"] is False
    assert document["converted"]["scores"]["y"] > 0.1
    assert said.startswith(f"{tmp_path / 'half.onnx'}, as it was converted, fails against it: y: max-rel")
    assert {"/up", "/down"} <= set(document["safe"]["nodes"])


def test_a_good_conversion_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = original(0.5)
    run(tmp_path, converted(model, TensorProto.FLOAT16, interface=True), model)
    assert "half.onnx, as it was converted, passes against the original (y 0.00" in capsys.readouterr().out
    scores = json.loads((tmp_path / "out/result.json").read_text())["converted"]["scores"]
    exact = np.finfo(np.float16).eps
    assert 0.1 * exact < scores["y"] < 10 * exact


def test_what_does_not_fit_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = original(0.5)
    half = converted(model, TensorProto.FLOAT16, interface=True)
    assert run(tmp_path, model, model) == 2
    assert "has no node that computes in 16 bits" in capsys.readouterr().err
    assert run(tmp_path, half, model, "--precision", "bf16") == 2
    assert "computes in FP16" in capsys.readouterr().err
    half.graph.input[0].name = half.graph.node[0].input[0] = "z"
    assert run(tmp_path, half, model) == 2
    assert "has another input" in capsys.readouterr().err
    assert not (tmp_path / "out" / "result.json").exists()
