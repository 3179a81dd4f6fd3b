"""A caster of a model of two nodes."""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper

from trtforensics.bisect.precision.casting.caster import Caster
from trtforensics.bisect.precision.casting.preparation import PreparedModel
from trtforensics.bisect.precision.casting.storage import FP16


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
