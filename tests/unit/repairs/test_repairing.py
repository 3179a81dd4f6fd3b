"""Repairs, each by itself, and that they compute what the original does."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.support.for_each import for_each
from trtforensics.errors import SourceError
from trtforensics.repairs import repairing
from trtforensics.repairs.repairing import compare, extreme_samples, repaired, require_named

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
    require_named(original, result, "m")
    assert compare(original, result.model, [{"x": X}], "m", extreme_samples(original, {"x": X})).largest_difference == 0
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


@for_each(
    ("kinds", "left"),
    [
        ((TensorProto.DOUBLE, TensorProto.FLOAT), []),
        ((TensorProto.FLOAT,), []),
        ((TensorProto.FLOAT16, TensorProto.FLOAT), [TensorProto.FLOAT16, TensorProto.FLOAT]),
        ((TensorProto.INT32, TensorProto.INT64, TensorProto.FLOAT), [TensorProto.INT32, TensorProto.FLOAT]),
        ((TensorProto.INT8, TensorProto.FLOAT16, TensorProto.FLOAT), None),
        ((TensorProto.INT32, TensorProto.DOUBLE, TensorProto.INT8, TensorProto.FLOAT), None),
        ((TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.UINT8, TensorProto.FLOAT), None),
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
    why = compare(broken, broken, [{"x": X}], "m").not_compared
    assert why is not None
    assert why.startswith("ONNX Runtime does not run the original")


def test_dropped_nodes_are_listed() -> None:
    casts = [node("Cast", "x", "c0", to=TensorProto.DOUBLE), node("Cast", "c0", "c1", to=TensorProto.FLOAT)]
    changes = repaired(model(*casts, node("Abs", "c1", "y")), ["casts"]).changes
    assert [(each.node, each.what) for each in changes] == [
        ("node1", "reads x itself; node0 between loses nothing"),
        ("node1", "is a Cast of x to the type that it has, and is dropped; node2 reads x"),
        ("node0", "Cast is dropped: nothing reads it"),
    ]


def test_a_folded_node_is_listed_with_type_and_shape() -> None:
    original = model(node("Shape", "x", "s"), node("Gather", "s zero", "n"), node("Add", "x f", "y"), zero=0, f=X)
    original.graph.node.append(helper.make_node("Reshape", ["y", "s"], ["z"], name="target"))
    original.graph.output[0].name = "z"
    folded, single, *dropped, shapes = (each.what for each in repaired(original, ["fold"]).changes)
    assert folded == "Shape becomes a constant, int64 of shape 3"
    assert single == "Gather becomes a constant, a scalar of int64"
    assert dropped == ["the constant is dropped: nothing reads it"]
    assert shapes == "type and shape of 1 tensor is written down"


DRAWS = {
    "Bernoulli": {},
    "RandomNormalLike": {},
    "RandomUniformLike": {},
    "Multinomial": {"sample_size": 4},
}


@for_each("op", DRAWS)
def test_what_draws_numbers_from_constants_and_what_reads_it_stays(op: str) -> None:
    nodes = [
        node(op, "half", "r", **DRAWS[op]),
        node("Cast", "r", "f", to=1),
        node("Neg", "f", "n"),
        node("Add", "x n", "y"),
    ]
    original = model(*nodes, half=np.full((4, 4), 0.5, np.float32))
    for name in ("fold", "reshape", "casts", "broadcasts"):
        result = repaired(original, [name])
        assert op in ops(result.model)
        assert "Neg" in ops(result.model)
        assert compare(original, result.model, [{"x": X}], "m").largest_difference == 0


def test_a_dropout_that_trains_is_no_constant_and_one_that_does_not_is() -> None:
    dropout = node("Dropout", "ones ratio on", "d")
    constants: dict[str, Any] = {"ones": np.ones(4, np.float32), "ratio": np.float32(0.5)}
    trains = model(dropout, node("Add", "x d", "y"), on=np.True_, **constants)
    assert ops(after(trains, "fold")) == ["Dropout", "Add"]
    infers = model(node("Dropout", "ones ratio", "d"), node("Add", "x d", "y"), **constants)
    assert ops(after(infers, "fold")) == ["Add"]


def with_default(target: list[int]) -> onnx.ModelProto:
    """Return a model whose Reshape has a target that is an input with a default."""
    original = model(
        node("Reshape", "x t", "r"), node("Neg", "d", "n"), node("Mul", "r n", "y"), t=target, d=np.float32(2)
    )
    original.graph.input.append(helper.make_tensor_value_info("t", TensorProto.INT64, [len(target)]))
    original.graph.input.append(helper.make_tensor_value_info("d", TensorProto.FLOAT, []))
    return original


@for_each("name", ["fold", "reshape", "casts", "broadcasts"])
def test_inputs_with_defaults_stay_inputs(name: str) -> None:
    original = with_default([4, 8])
    result = repaired(original, [name])
    assert [value.name for value in result.model.graph.input] == ["x", "t", "d"]
    assert ops(result.model)[:2] == ["Reshape", "Neg"]
    assert result.model.graph.node[0].input[1] == "t"
    others = [{"x": X, "t": np.array([2, 16]), "d": np.array(5, np.float32)}, {"x": X}]
    assert compare(original, result.model, others, "m").largest_difference == 0
    assert "other values for defaults" in dict(extreme_samples(original, others[1]))


def test_before_ir_version_4_initializers_are_constants_and_a_repair_adds_no_inputs() -> None:
    original = model(node("Neg", "c", "n"), node("Add", "x n", "y"), c=np.arange(4, dtype=np.float32))
    original.ir_version = 3
    original.graph.input.append(helper.make_tensor_value_info("c", TensorProto.FLOAT, [4]))
    folded = after(original, "fold", "broadcasts")
    assert folded.graph.input == original.graph.input
    assert ops(folded) == ["Constant", "Add"]


def test_quantized_constants_stay_quantized() -> None:
    original = model(node("DequantizeLinear", "w scale", "f"), node("Mul", "x f", "y"), w=np.arange(4, dtype=np.int8),
                     scale=np.float32(0.5))  # fmt: skip
    assert ops(after(original, "fold")) == ["DequantizeLinear", "Mul"]


def test_a_sequence_of_constants_is_no_constant() -> None:
    original = model(node("SequenceConstruct", "c c", "s"), node("SequenceAt", "s place", "e"), node("Add", "x e", "y"),
                     c=np.ones(4, np.float32), place=1)  # fmt: skip
    assert ops(after(original, "fold")) == ["SequenceConstruct", "SequenceAt", "Add"]


def test_a_number_as_a_text_keeps_its_digits() -> None:
    casts = [node("Cast", "x", "d", to=TensorProto.DOUBLE), node("Cast", "d", "t", to=TensorProto.STRING)]
    original = model(*casts, node("Cast", "t", "f", to=TensorProto.FLOAT), node("Abs", "f", "y"))
    assert ops(after(original, "casts")) == ["Cast", "Cast", "Cast", "Abs"]


def test_a_name_that_a_body_defines_too_is_another_tensor() -> None:
    """The Cast of the main graph goes; a body before it has a tensor of the same name."""
    inner = helper.make_graph(
        [node("Abs", "x", "c"), node("Neg", "c", "z")], "b", [], [helper.make_tensor_value_info("z", 1, [2, 4, 4])]
    )
    other = helper.make_graph([node("Abs", "x", "w")], "o", [], [helper.make_tensor_value_info("w", 1, [2, 4, 4])])
    nodes = [
        node("If", "on", "i", then_branch=inner, else_branch=other),
        node("Cast", "x", "c", to=1),
        node("Add", "c i", "y"),
    ]
    repaired_model = after(model(*nodes, on=np.True_), "casts")
    assert ops(repaired_model) == ["If", "Add"]
    branch = next(a.g for a in repaired_model.graph.node[0].attribute if a.name == "then_branch")
    assert list(branch.node[1].input) == ["c"]


def test_functions_metadata_names_and_documentation_stay() -> None:
    function = helper.make_function(
        "mine", "Twice", ["a"], ["b"], [node("Add", "a a", "b")], [helper.make_opsetid("", 17)]
    )
    original = model(node("Relu", "x", "t"), node("Mul", "t c", "y"), c=np.ones(4, np.float32))
    original.functions.append(function)
    original.opset_import.append(helper.make_opsetid("mine", 1))
    original.graph.node[0].CopyFrom(helper.make_node("Twice", ["x"], ["t"], domain="mine"))
    original.doc_string, original.graph.doc_string, original.graph.node[0].name = "a", "b", ""
    helper.set_model_props(original, {"key": "value"})
    result = repaired(original, ["fold", "reshape", "casts", "broadcasts"])
    require_named(original, result, "m")
    assert compare(original, result.model, [{"x": X}], "m").largest_difference == 0
    assert result.model.functions == original.functions
    assert result.model.graph.node[0] == original.graph.node[0]


@for_each("what", ["input", "metadata", "node", "constant", "order"])
def test_a_change_that_is_not_listed_is_refused(what: str) -> None:
    original = model(
        node("Relu", "x", "a"), node("Neg", "x", "b"), node("Add", "a b", "c"), node("Mul", "c k", "y"), k=X
    )
    result = repaired(original, ["casts"])
    require_named(original, result, "m")
    graph = result.model.graph
    if what == "input":
        graph.input[0].name = "other"
    elif what == "metadata":
        helper.set_model_props(result.model, {"key": "value"})
    elif what == "node":
        graph.node[1].op_type = "Abs"
    elif what == "constant":
        graph.initializer[0].CopyFrom(numpy_helper.from_array(X + 1, "k"))
    else:
        first, second = graph.node[0], graph.node[1]
        names = [onnx.NodeProto.FromString(each.SerializeToString()) for each in (second, first)]
        first.CopyFrom(names[0])
        second.CopyFrom(names[1])
    with pytest.raises(SourceError, match="which its list does not say; nothing was written"):
        require_named(original, result, "m")


@for_each(
    ("nodes", "where"),
    [
        ([("Identity", "x"), ("Abs", "x")], "on negative values"),
        ([("Identity", "x"), ("Neg", "x")], None),
        ([("Div", "x x"), ("Sign", "x")], "on zeros"),
        ([("Mul", "x zero"), ("Sub", "x x")], "on infinities|on huge values|on negative values"),
    ],
)
def test_what_holds_for_usual_values_only_is_refused(nodes: list[tuple[str, str]], where: str | None) -> None:
    one, other = (model(node(op, inputs, "y"), zero=np.float32(0)) for op, inputs in nodes)
    positive = {"x": np.ones_like(X)}
    with pytest.raises(SourceError, match=where or "differs by"):
        compare(one, other, [positive], "m", extreme_samples(one, positive))


def test_what_holds_for_one_size_only_is_refused() -> None:
    def sized(name: str) -> onnx.ModelProto:
        constants: dict[str, Any] = {"axes": [0], "one": np.float32(1), "many": np.ones((4, 4), np.float32)}
        made = model(node("ReduceSum", "x axes", "s", keepdims=0), node("Mul", f"s {name}", "y"), **constants)
        for dim in made.graph.input[0].type.tensor_type.shape.dim:
            dim.Clear()
        del made.graph.value_info[:]
        made.graph.output[0].type.tensor_type.ClearField("shape")
        return made

    one, other = sized("one"), sized("many")
    with pytest.raises(SourceError, match=r"on size \d of dynamic dimensions"):
        compare(one, other, [{"x": X}], "m", extreme_samples(one, {"x": X}))


def test_an_extreme_sample_on_which_the_original_does_not_run_is_named() -> None:
    original = model(
        node("Cast", "x", "i", to=TensorProto.INT64), node("Gather", "table i", "y"), table=np.ones(9, np.float32)
    )
    sample = {"x": np.ones_like(X)}
    comparison = compare(original, original, [sample], "m", extreme_samples(original, sample))
    assert comparison.extremes == ("zeros", "negative values")
    assert "huge values" in comparison.not_run


def test_a_loop_that_does_not_end_on_an_extreme_sample_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairing, "_PATIENCE_S", 0.2)
    monkeypatch.setattr(repairing, "_SLOWER", 0)
    flag = helper.make_tensor_value_info("go", TensorProto.BOOL, [])
    kept = helper.make_tensor_value_info("v", TensorProto.FLOAT, [])
    body = helper.make_graph(
        [node("Add", "v v", "w"), node("Less", "w limit", "on")],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), flag, kept],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, []),
        ],
    )
    nodes = [node("ReduceMax", "x", "m", keepdims=0), helper.make_node("Loop", ["", "yes", "m"], ["y"], body=body)]
    original = model(*nodes, limit=np.float32(100), yes=np.True_)
    sample = {"x": np.ones_like(X)}
    comparison = compare(original, original, [sample], "m", extreme_samples(original, sample))
    assert "zeros" in comparison.not_run
    assert "huge values" in comparison.extremes


@for_each("dtype", ["int8", "uint8", "int32", "int64", "uint64", "bool", "float16", "float64"])
@for_each("shape", [(), (4,), (2, 3)])
def test_extreme_values_are_of_the_type_and_never_the_smallest_integer(dtype: str, shape: tuple[int, ...]) -> None:
    """Divided by -1, the smallest integer ends the process; huge sizes take all memory."""
    plain = helper.make_model(helper.make_graph([], "g", [], []))
    samples = dict(extreme_samples(plain, {"x": np.ones(shape, dtype)}))
    for sample in samples.values():
        assert (sample["x"].dtype, sample["x"].shape) == (np.dtype(dtype), shape)
    if dtype.startswith(("int", "uint")):
        least, most = (int(f(sample["x"].min() for sample in samples.values())) for f in (min, max))
        assert least > np.iinfo(dtype).min or dtype.startswith("u")
        largest = int(samples["huge values"]["x"].max())
        assert largest == (np.iinfo(dtype).max if len(shape) > 1 else 1)
        assert most <= largest
