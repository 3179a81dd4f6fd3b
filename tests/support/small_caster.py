"""A caster of a model of two nodes."""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper

from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.onnx_models.reading import PreparedModel
from trtforensics.onnx_models.shapes import element_types


def caster() -> Caster:
    info = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [4]),
        helper.make_tensor_value_info("y", TensorProto.BOOL, [4]),
    ]
    nodes = [
        helper.make_node("Exp", ["x"], ["a"], name="/exp"),
        helper.make_node("Less", ["a", "x"], ["y"], name="/less"),
    ]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return Caster(PreparedModel("my model.onnx", onnx.shape_inference.infer_shapes(model), frozenset(), ()), FP16)


def narrow_tensors(model: onnx.ModelProto) -> set[str]:
    """Return the tensors of 16-bit floating-point type, in every graph of a model."""
    kinds = element_types(onnx.shape_inference.infer_shapes(model))
    return {name for name, kind in kinds.items() if kind in {TensorProto.FLOAT16, TensorProto.BFLOAT16}}
