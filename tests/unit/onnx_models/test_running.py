"""Models run in ONNX Runtime whatever shapes their exporter wrote."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from trtforensics.onnx_models.running import run_model

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")


def test_wrong_symbolic_sizes_do_not_keep_a_model_from_running() -> None:
    def sized(name: str, size: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [size])

    nodes = [
        helper.make_node("Neg", ["x"], ["less"]),
        helper.make_node("Tile", ["less", "repeats"], ["longer"]),
        helper.make_node("Neg", ["longer"], ["more"]),
        helper.make_node("Abs", ["more"], ["y"]),
    ]
    repeats = helper.make_tensor_value_info("repeats", TensorProto.INT64, [1])
    graph = helper.make_graph(
        nodes, "g", [sized("x", "n"), repeats], [sized("y", "m")], value_info=[sized("longer", "n")]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    outputs = run_model(model, {"x": np.ones(2, np.float32), "repeats": np.asarray([2])})
    assert isinstance(outputs, dict), outputs
    assert outputs["y"].tolist() == [1.0] * 4
    assert [value.name for value in model.graph.value_info] == ["longer"]
