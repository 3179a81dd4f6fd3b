"""Repaired models of random operators are valid and compute what the original does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tests.support import zoo
from tests.support.property_settings import examples
from trtforensics.bisect.precision.casting.preparation import graphs
from trtforensics.repairs.repairing import EQUAL, REPAIRS, compare, read_original, repaired

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.zoo import ZooModel

_SHAPES = ((2, 3, 4), (3, 4), (4,), (), (1, 3, 1), (2, 1, 4))
_KINDS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT32, TensorProto.INT8)


@st.composite
def models(draw: Any) -> onnx.ModelProto:
    """Return a model of a chain of operators that broadcast, reshape, cast and reduce."""
    nodes, constants, current = [], [], "x"
    for number in range(draw(st.integers(1, 8))):
        made, constant = f"t{number}", f"c{number}"
        kind = draw(st.sampled_from(("binary", "peak", "reshape", "cast", "constant")))
        if kind in {"binary", "constant"}:
            shape = draw(st.sampled_from(_SHAPES))
            value = np.random.default_rng(number).uniform(1, 2, shape).astype(np.float32)
            constants.append(numpy_helper.from_array(np.asarray(value), constant))
            operand = constant
            if kind == "constant":
                nodes.append(helper.make_node("Sqrt", [constant], [f"s{number}"], name=f"sqrt{number}"))
                operand = f"s{number}"
            op = draw(st.sampled_from(("Add", "Mul", "Sub", "Div", "Max")))
            pair = [current, operand] if draw(st.booleans()) else [operand, current]
            nodes.append(helper.make_node(op, pair, [made], name=f"{op}{number}"))
        elif kind == "peak":
            keep = draw(st.integers(0, 1))
            nodes.append(helper.make_node("ReduceMax", [current], [f"p{number}"], name=f"max{number}", keepdims=keep))
            nodes.append(helper.make_node("Sub", [current, f"p{number}"], [made], name=f"sub{number}"))
        elif kind == "reshape":
            target = draw(st.sampled_from(([-1], [2, -1], [2, 3, 4], [0, -1], [4, 6])))
            constants.append(numpy_helper.from_array(np.array(target, np.int64), constant))
            nodes.append(helper.make_node("Reshape", [current, constant], [f"r{number}"], name=f"flat{number}"))
            nodes.append(helper.make_node("Shape", ["x"], [f"z{number}"], name=f"shape{number}"))
            nodes.append(helper.make_node("Reshape", [f"r{number}", f"z{number}"], [made], name=f"back{number}"))
        else:
            between = draw(st.lists(st.sampled_from(_KINDS), min_size=1, max_size=3))
            names = [current, *(f"k{number}_{place}" for place in range(len(between))), made]
            for place, to in enumerate((*between, TensorProto.FLOAT)):
                nodes.append(
                    helper.make_node("Cast", [names[place]], [names[place + 1]], name=f"cast{number}_{place}", to=to)
                )
        current = made
    graph = helper.make_graph(
        nodes,
        "drawn",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 4])],
        [helper.make_tensor_value_info(current, TensorProto.FLOAT, None)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return onnx.shape_inference.infer_shapes(model, check_type=True, data_prop=True)


@examples(150)
@given(models(), st.sets(st.sampled_from(sorted(REPAIRS)), min_size=1))
def test_a_repaired_model_is_valid_and_equal(model: onnx.ModelProto, names: set[str]) -> None:
    result = repaired(model, names)
    onnx.checker.check_model(result.model, full_check=True)
    sample = {"x": np.random.default_rng(3).uniform(1, 3, (2, 3, 4)).astype(np.float32)}
    assert compare(model, result.model, [sample], "drawn").difference == 0


ODD = ("a b", "{x}", "'", '"', "é", "$HOME", "n:0", "/", "\\", "%s", "<tag>", "::", "\t")
"""What names of nodes and tensors may hold."""

SMALL = [pytest.param(each, id=each.name) for each in zoo.models() if not each.large and each.name != "BF16 inside"]
"""ONNX Runtime runs no Tanh of bfloat16."""


def oddly_named(model: onnx.ModelProto) -> dict[str, str]:
    """Give all nodes and tensors odd names; return the new name of each tensor."""
    names: dict[str, str] = {}

    def other(name: str) -> str:
        return names.setdefault(name, f"{ODD[len(names) % len(ODD)]} {len(names)}") if name else ""

    for graph in graphs(model.graph):
        for named in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
            named.name = other(named.name)
        for node in graph.node:
            node.name = f"{other(node.name)} node" if node.name else ""
            node.input[:] = [other(name) for name in node.input]
            node.output[:] = [other(name) for name in node.output]
    return names


@pytest.mark.parametrize("oddly", [False, True], ids=["its own names", "odd names"])
@pytest.mark.parametrize("each", SMALL)
def test_a_repaired_model_of_the_zoo_is_valid_and_equal(each: ZooModel, tmp_path: Path, *, oddly: bool) -> None:
    """Operator sets 7 to 21, subgraphs, functions, weights in a file of their own; each repair, and all of them."""
    model, path = each.build(), str(tmp_path / "model.onnx")
    names = {} if model.functions or not oddly else oddly_named(model)
    onnx.save(model, path, save_as_external_data=each.external, location="weights", size_threshold=0)
    original = read_original(path)
    samples = [{names.get(name, name): value for name, value in sample.items()} for sample in each.samples[:1]]
    for chosen in (*([name] for name in REPAIRS), list(REPAIRS)):
        result = repaired(original, chosen)
        onnx.checker.check_model(result.model, full_check=True)
        difference = compare(original, result.model, samples, path).difference
        assert difference is not None
        assert difference <= EQUAL
