"""Repaired models of random operators are valid and compute what the original does."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tests.support.property_settings import examples
from trtforensics.repairs.repairing import REPAIRS, compare, repaired

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
