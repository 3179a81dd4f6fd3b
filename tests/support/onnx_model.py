"""A small ONNX model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
from onnx import TensorProto, helper

if TYPE_CHECKING:
    from pathlib import Path


def model(folder: Path) -> str:
    nodes = [
        helper.make_node("Relu", ["x"], ["h"], name="first"),
        helper.make_node("Neg", ["h"], ["i"]),
        helper.make_node("Add", ["i", "weight"], ["y"], name="last"),
    ]
    value = helper.make_tensor_value_info
    weight = helper.make_tensor("weight", TensorProto.FLOAT, [1], [1.0])
    graph = helper.make_graph(
        nodes, "g", [value("x", TensorProto.FLOAT, [1])], [value("y", TensorProto.FLOAT, [1])], [weight]
    )
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph), str(path))
    return str(path)
