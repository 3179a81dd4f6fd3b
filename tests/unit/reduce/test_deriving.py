"""Models of some nodes of a model."""

import random
from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.support.for_each import for_each
from trtforensics.onnx_models.cutting import UnknownValueError
from trtforensics.onnx_models.running import run_model
from trtforensics.reduce.deriving import Deriver
from trtforensics.reduce.simplifying import Aspect, simplifications_of

Apart = Callable[..., Deriver]


def outputs(model: onnx.ModelProto) -> list[str]:
    return [value.name for value in model.graph.output]


def test_the_whole_is_the_original(apart: Apart) -> None:
    deriver = apart("square")
    whole = deriver.derive(range(len(deriver.original.nodes))).model
    assert [node.name for node in whole.graph.node] == [node.name for node in deriver.original.nodes]
    assert outputs(whole) == [value.name for value in deriver.original.model.graph.output]
    assert list(whole.graph.input) == list(deriver.original.model.graph.input)


@for_each("fault", ["square", "branch", "loop"])
@for_each("seed", range(15))
def test_any_cut_computes_what_the_original_does(apart: Apart, fault: str, seed: int) -> None:
    deriver = apart(fault)
    chance = random.Random(seed)
    count = len(deriver.original.nodes)
    kept = [index for index in range(count) if chance.random() < chance.choice((0.2, 0.5, 0.9))] or [0]
    derived = deriver.derive(kept)
    onnx.checker.check_model(derived.model, full_check=True)
    assert {value.name for value in derived.model.graph.input} == derived.inputs.keys()
    ran = run_model(derived.model, derived.inputs)
    assert not isinstance(ran, str)
    assert ran
    for name, value in ran.items():
        assert np.array_equal(value, deriver.recording.values[name], equal_nan=True), name


def test_no_output_is_read_and_no_input_is_not(apart: Apart) -> None:
    deriver = apart("square")
    model = deriver.derive([3, 4, 5, 9]).model
    read = {name for node in model.graph.node for name in node.input}
    made = {name for node in model.graph.node for name in node.output}
    assert read - made == {v.name for v in model.graph.input} | {t.name for t in model.graph.initializer}
    assert set(outputs(model)) == made - read


def test_a_node_of_a_branch_stands_alone_without_the_branch(apart: Apart) -> None:
    deriver = apart("branch")
    index = deriver.original.by_name["/then/Det"]
    model = deriver.derive([index]).model
    assert [node.op_type for node in model.graph.node] == ["Det"]
    assert [value.name for value in model.graph.input] == ["then_abs"]


def test_a_branch_without_its_nodes_passes_values_through(apart: Apart) -> None:
    deriver = apart("branch")
    (holder,) = (node.index for node in deriver.original.nodes if node.proto.op_type == "If")
    derived = deriver.derive([holder])
    (node,) = derived.model.graph.node
    assert [each.op_type for attribute in node.attribute for each in attribute.g.node] == ["Identity"] * 2
    assert not isinstance(run_model(derived.model, derived.inputs), str)


def shaped(element: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """Return a model whose Reshape target is computed from the shape of its input."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="relu"),
        helper.make_node("Shape", ["a"], ["size"], name="shape"),
        helper.make_node("Gather", ["size", "first"], ["batch"], name="gather"),
        helper.make_node("Concat", ["batch", "rest"], ["target"], name="concat", axis=0),
        helper.make_node("Reshape", ["a", "target"], ["b"], name="reshape"),
        helper.make_node("Relu", ["b"], ["y"], name="last"),
    ]
    constants = [numpy_helper.from_array(np.array([0]), "first"), numpy_helper.from_array(np.array([-1]), "rest")]
    graph = helper.make_graph(
        nodes,
        "shaped",
        [helper.make_tensor_value_info("x", element, ["batch", 4, 8, 8])],
        [helper.make_tensor_value_info("y", element, None)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def test_a_cut_target_of_reshape_is_a_constant(apart: Apart) -> None:
    deriver = apart(shaped(), dynamic=True)
    model = deriver.derive([deriver.original.by_name["reshape"]]).model
    assert [value.name for value in model.graph.input] == ["a"]
    (target,) = (tensor for tensor in model.graph.initializer if tensor.name == "target")
    assert numpy_helper.to_array(target).tolist() == [2, -1]


def test_weights_that_are_computed_from_constants_are_constants(apart: Apart) -> None:
    nodes = [
        helper.make_node("Sqrt", ["c"], ["w"], name="sqrt"),
        helper.make_node("Add", ["x", "w"], ["y"], name="add"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
        [numpy_helper.from_array(np.array([4, 9], np.float32), "c")],
    )
    deriver = apart(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    model = deriver.derive([deriver.original.by_name["add"]]).model
    assert [value.name for value in model.graph.input] == ["x"]
    assert [numpy_helper.to_array(tensor).tolist() for tensor in model.graph.initializer] == [[2, 3]]


def test_a_dynamic_dimension_stays_dynamic_in_a_cut_model(apart: Apart) -> None:
    deriver = apart(shaped(), dynamic=True)
    (value,) = deriver.derive([deriver.original.by_name["shape"]]).model.graph.input
    assert [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim] == ["batch", 4, 8, 8]


def test_a_tensor_of_which_nothing_is_known_is_not_cut(apart: Apart) -> None:
    nodes = [
        helper.make_node("Swirl", ["x"], ["a"], name="swirl", domain="my.ops"),
        helper.make_node("Relu", ["a"], ["y"], name="relu"),
    ]
    graph = helper.make_graph(
        nodes,
        "unknown",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.ops", 1)]
    deriver = apart(helper.make_model(graph, opset_imports=opsets, ir_version=9))
    assert deriver.recording.why
    assert [node.name for node in deriver.derive([0]).model.graph.node] == ["swirl"]
    with pytest.raises(UnknownValueError, match="tensor a would be cut, but its value and type are unknown"):
        deriver.derive([1])


def test_simplifications_that_a_cut_model_lacks_are_not_relevant(apart: Apart) -> None:
    deriver = apart("square")
    deriver = Deriver(deriver.original, deriver.recording, simplifications_of(deriver.original, anonymous=True))
    first = len(deriver.original.nodes)
    (relu,) = (node.index for node in deriver.original.nodes if node.name == "/layer1/Relu")
    relevant = {deriver.simplifications[index - first].aspect for index in deriver.relevant(frozenset({relu}))}
    assert relevant == {Aspect.SIZE, Aspect.NAMES}


def test_what_is_random_stays_no_constant_where_it_is_cut(apart: Apart) -> None:
    nodes = [
        helper.make_node("RandomNormalLike", ["c"], ["r"], name="random"),
        helper.make_node("Neg", ["c"], ["n"], name="decided"),
        helper.make_node("Add", ["r", "n"], ["y"], name="add"),
    ]
    c = onnx.numpy_helper.from_array(np.ones(100, np.float32), "c")
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [100])
    graph = helper.make_graph(nodes, "random", [], [y], [c])
    deriver = apart(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    cut = deriver.derive([2]).model.graph
    assert [value.name for value in cut.input] == ["r"]
    assert [tensor.name for tensor in cut.initializer] == ["n"]
