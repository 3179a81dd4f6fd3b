"""Repairs, each by itself, and that they compute what the original does."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from trtforensics.errors import SourceError
from trtforensics.repairs.repairing import compare, repaired

X = np.random.default_rng(1).normal(0, 1, (2, 4, 4)).astype(np.float32)


def model(*nodes: onnx.NodeProto, opset: int = 17, **constants: object) -> onnx.ModelProto:
    """Return a model of ``x`` of 2x4x4; the last node's result is its output."""
    for index, node in enumerate(nodes):
        node.name = node.name or f"node{index}"
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4, 4])],
        [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    return onnx.shape_inference.infer_shapes(made, check_type=True, data_prop=True)


def after(original: onnx.ModelProto, *names: str) -> onnx.ModelProto:
    """Repair a model, and require that it is valid and computes the same."""
    result = repaired(original, names)
    onnx.checker.check_model(result.model, full_check=True)
    assert compare(original, result.model, [{"x": X}], "m").difference == 0
    return result.model


def ops(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def node(op: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), [output], **attributes)  # type: ignore[arg-type]


def test_what_shapes_and_constants_decide_is_folded() -> None:
    original = model(
        node("Shape", "x", "s"),
        node("Gather", "s zero", "n"),
        node("Unsqueeze", "n axis", "n1"),
        node("Concat", "n1 minus", "target", axis=0),
        node("Reshape", "x target", "y"),
        zero=0,
        axis=[0],
        minus=[-1],
    )
    folded = after(original, "fold")
    assert ops(folded) == ["Reshape"]
    assert numpy_helper.to_array(folded.graph.initializer[0]).tolist() == [2, -1]


def test_what_is_random_or_would_grow_is_not_folded() -> None:
    grows = model(node("Expand", "one big", "e"), node("ReduceMax", "e", "m", keepdims=0), node("Add", "x m", "y"),
                  one=np.float32(1), big=[64, 64, 128])  # fmt: skip
    assert ops(after(grows, "fold")) == ["Expand", "ReduceMax", "Add"]
    dice = model(node("RandomUniform", "", "r", shape=[4]), node("Mul", "r none", "z"), node("Add", "x z", "y"),
                 none=np.zeros(4, np.float32))  # fmt: skip
    dice.graph.node[0].ClearField("input")
    assert ops(repaired(dice, ["fold"]).model) == ["RandomUniform", "Mul", "Add"]


def test_shapes_are_written_down() -> None:
    original = model(node("Relu", "x", "a"), node("Abs", "a", "y"))
    original.graph.ClearField("value_info")
    assert [value.name for value in after(original, "fold").graph.value_info] == ["a"]


def test_targets_of_reshape_become_the_sizes_and_allowzero_goes() -> None:
    original = model(node("Reshape", "x t", "a", allowzero=1), node("Reshape", "a u", "y"), t=[2, -1], u=[0, 4, 4])
    repaired_model = after(original, "reshape")
    targets = {tensor.name: numpy_helper.to_array(tensor).tolist() for tensor in repaired_model.graph.initializer}
    assert sorted(targets.values()) == [[2, 4, 4], [2, 16]]
    assert not repaired_model.graph.node[0].attribute


def test_an_empty_tensor_keeps_its_allowzero() -> None:
    original = model(node("Slice", "x a a", "e"), node("Reshape", "e t", "y", allowzero=1), a=[0], t=[0, 4, 4])
    assert after(original, "reshape").graph.node[-1].attribute[0].name == "allowzero"


@pytest.mark.parametrize(
    ("kinds", "left"),
    [
        ((TensorProto.DOUBLE, TensorProto.FLOAT), []),
        ((TensorProto.FLOAT,), []),
        ((TensorProto.FLOAT16, TensorProto.FLOAT), [TensorProto.FLOAT16, TensorProto.FLOAT]),
        ((TensorProto.INT32, TensorProto.INT64, TensorProto.FLOAT), [TensorProto.INT32, TensorProto.FLOAT]),
        ((TensorProto.INT8, TensorProto.FLOAT16, TensorProto.FLOAT), None),
        ((TensorProto.INT32, TensorProto.DOUBLE, TensorProto.INT8, TensorProto.FLOAT), None),
    ],
)
def test_only_casts_that_lose_nothing_go(kinds: tuple[int, ...], left: list[int] | None) -> None:
    names = ["x", *(f"c{index}" for index in range(len(kinds)))]
    casts = [node("Cast", names[index], names[index + 1], to=kind) for index, kind in enumerate(kinds)]
    shorter = after(model(*casts, node("Abs", names[-1], "y")), "casts")
    found = [helper.get_node_attr_value(each, "to") for each in shorter.graph.node if each.op_type == "Cast"]
    assert found == (list(kinds) if left is None else left)


def test_operands_get_the_rank_and_the_shape_of_the_result() -> None:
    original = model(
        node("ReduceMax", "x", "m", keepdims=0), node("Sub", "x m", "a"), node("Mul", "a bias", "y"),
        bias=np.arange(4, dtype=np.float32),
    )  # fmt: skip
    explicit = after(original, "broadcasts")
    assert ops(explicit) == ["ReduceMax", "Unsqueeze", "Expand", "Sub", "Mul"]
    assert [node.name for node in explicit.graph.node][1:3] == ["node1/Unsqueeze_1", "node1/Expand_1"]
    assert (1, 1, 4) in {tuple(tensor.dims) for tensor in explicit.graph.initializer}


def test_axes_are_an_attribute_before_operator_set_13() -> None:
    original = model(node("ReduceMax", "x", "m", keepdims=0), node("Sub", "x m", "y"), opset=11)
    assert [a.name for a in after(original, "broadcasts").graph.node[1].attribute] == ["axes"]


def test_a_matrix_product_gets_batch_dimensions() -> None:
    original = model(node("MatMul", "x w", "y"), w=np.eye(4, dtype=np.float32))
    assert tuple(after(original, "broadcasts").graph.initializer[0].dims) == (1, 4, 4)


def test_a_model_that_differs_is_refused() -> None:
    one, other = model(node("Relu", "x", "y")), model(node("Abs", "x", "y"))
    with pytest.raises(SourceError, match="output y differs by"):
        compare(one, other, [{"x": X}], "m")


def test_a_model_that_does_not_run_is_not_compared() -> None:
    broken = model(node("Reshape", "x t", "y"), t=[3, 5])
    assert compare(broken, broken, [{"x": X}], "m").why.startswith("ONNX Runtime does not run the original")


def test_dropped_nodes_are_listed() -> None:
    casts = [node("Cast", "x", "c0", to=TensorProto.DOUBLE), node("Cast", "c0", "c1", to=TensorProto.FLOAT)]
    changes = repaired(model(*casts, node("Abs", "c1", "y")), ["casts"]).changes
    assert [(each.node, each.what) for each in changes] == [
        ("node1", "reads x itself; node0 between loses nothing"),
        ("node1", "is a Cast of x to the type that it has, and is dropped"),
        ("node0", "Cast is dropped: nothing reads it"),
    ]


def test_a_folded_node_is_listed_with_type_and_shape() -> None:
    original = model(node("Shape", "x", "s"), node("Gather", "s zero", "n"), node("Add", "x f", "y"), zero=0, f=X)
    original.graph.node.append(helper.make_node("Reshape", ["y", "s"], ["z"], name="target"))
    original.graph.output[0].name = "z"
    folded, single = (each.what for each in repaired(original, ["fold"]).changes)
    assert folded == "Shape becomes a constant, int64 of shape 3"
    assert single == "Gather becomes a constant, a scalar of int64"
