"""Models taken apart."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper

from trtforensics.reduce.deriving import Deriver


def test_a_node_stands_behind_all_that_it_reads(apart: Callable[..., Deriver]) -> None:
    original = apart("loop").original
    reads = original.reads()
    assert all(each < index for index, sources in enumerate(reads) for each in sources)
    holder = next(node.index for node in original.nodes if node.proto.op_type == "Loop")
    assert {original.by_name["/loop/Det"], original.by_name["/loop/Add"]} < reads[holder]


def test_constant_nodes_become_initializers(apart: Callable[..., Deriver]) -> None:
    nodes = [
        helper.make_node("Constant", [], ["c"], name="c", value_floats=[1.0, 2.0]),
        helper.make_node("Add", ["x", "c"], ["y"], name="add"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    original = apart(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)).original
    assert [node.name for node in original.nodes] == ["add"]
    assert np.array_equal(onnx.numpy_helper.to_array(original.constants["c"]), np.array([1, 2], np.float32))
