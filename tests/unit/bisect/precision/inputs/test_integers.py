"""What a graph says of its integer inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisect.precision.inputs.integers import integer_choices

if TYPE_CHECKING:
    from collections.abc import Sequence


def model(nodes: Sequence[onnx.NodeProto], *inputs: str, **constants: np.ndarray) -> onnx.ModelProto:
    ins = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n"]) for name in inputs]
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(list(nodes), "g", ins, [], tensors)
    return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def gather(data: str, indices: str, axis: int = 0) -> onnx.NodeProto:
    return helper.make_node("Gather", [data, indices], [f"{data}_{indices}"], name=f"look up {data}", axis=axis)


@pytest.mark.parametrize(("axis", "length"), [(0, 50), (1, 8), (-1, 8)])
def test_an_index_ends_with_the_axis(axis: int, length: int) -> None:
    found = integer_choices(model([gather("table", "ids", axis)], "ids", table=np.zeros((50, 8), np.float32)))
    assert found["ids"].values == range(length)
    assert found["ids"].why == f"look up table looks up one of {length}"


def test_the_shortest_axis_counts_also_behind_nodes_that_move() -> None:
    nodes = [
        helper.make_node("Unsqueeze", ["ids", "axes"], ["wide"]),
        helper.make_node("Cast", ["wide"], ["narrow"], to=TensorProto.INT32),
        gather("table", "narrow"),
        gather("long", "ids"),
    ]
    tables = {"table": np.zeros((30, 2), np.float32), "long": np.zeros((90, 2), np.float32)}
    found = integer_choices(model(nodes, "ids", "other", axes=np.array([0]), **tables))
    assert found["ids"].values == range(30)
    assert "other" not in found


def test_an_input_that_is_compared_has_the_constants() -> None:
    nodes = [helper.make_node("Equal", ["rate", name], [f"is_{name}"], name=f"/{name}") for name in ("low", "high")]
    found = integer_choices(model(nodes, "rate", low=np.array(8000), high=np.array([16000])))
    assert found["rate"].values == (8000, 16000)


def test_classes_of_one_hot_and_tables_in_bodies_are_seen() -> None:
    bodies = [
        helper.make_graph([gather("table", name)], name, [], [helper.make_tensor_value_info(f"table_{name}", 1, None)])
        for name in ("ids", "more")
    ]
    nodes = [
        helper.make_node("OneHot", ["label", "depth", "values"], ["one"], name="/OneHot"),
        helper.make_node("If", ["flag"], ["either"], then_branch=bodies[0], else_branch=bodies[1]),
    ]
    constants = {"depth": np.array(10), "values": np.array([0.0, 1.0]), "flag": np.array(True)}  # noqa: FBT003 - a value
    found = integer_choices(model(nodes, "label", "ids", "more", table=np.zeros((7, 2), np.float32), **constants))
    assert {name: choice.values for name, choice in found.items()} == {
        "label": range(10),
        "ids": range(7),
        "more": range(7),
    }
