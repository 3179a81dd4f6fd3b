"""Random samples, what a graph says of integer inputs, and the inputs behind a node that does not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.support.for_each import for_each
from tests.support.input_models import BOOL, FLOAT, INT64, MIXED, model
from trtforensics.errors import UsageError
from trtforensics.onnx_models.drawing import (
    IntegerChoice,
    ValueRange,
    described,
    how_to_give,
    inputs_behind,
    integer_choices,
    parse_ranges,
    random_samples,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


PLAIN = model(x=(FLOAT, [500]), ids=(INT64, [500]), flag=(BOOL, [500]))


def test_random_samples_have_the_types_and_shapes_and_repeat() -> None:
    one, other = (random_samples(MIXED, {"ids": (2, 5)}, 2) for _ in range(2))
    assert [(array.dtype, array.shape) for array in one[0].values()] == [
        (np.dtype(np.float32), (2, 3)),
        (np.dtype(np.int64), (2, 5)),
        (np.dtype(np.bool_), (2,)),
    ]
    assert all(np.array_equal(one[1][name], other[1][name]) for name in one[1])
    assert not np.array_equal(one[0]["x"], one[1]["x"])
    assert set(np.unique(one[0]["ids"])) <= {0, 1}


def test_ranges_are_even_and_include_their_ends() -> None:
    ranges = {"x": ValueRange(2.0, 3.0), "ids": ValueRange(-1.5, 2.0)}
    (sample,) = random_samples(PLAIN, {}, 1, ranges=ranges)
    assert 2.0 <= sample["x"].min() < 2.1
    assert 2.9 < sample["x"].max() <= 3.0
    assert set(np.unique(sample["ids"])) == {-1, 0, 1, 2}


def test_integers_are_drawn_from_what_the_graph_allows_unless_a_range_is_given() -> None:
    choices = {"ids": IntegerChoice((8000, 16000), "/Equal")}
    (sample,) = random_samples(PLAIN, {}, 1, choices=choices)
    assert set(np.unique(sample["ids"])) == {8000, 16000}
    (given,) = random_samples(PLAIN, {}, 1, choices=choices, ranges={"ids": ValueRange(5, 5)})
    assert set(np.unique(given["ids"])) == {5}


def test_ranges_are_read_for_one_input_or_all_and_later_ones_win() -> None:
    read = parse_ranges(PLAIN, ["[0,1]", "ids:[2,50]", "x:-1,1e3"])
    assert read == {"x": ValueRange(-1.0, 1e3), "ids": ValueRange(2.0, 50.0), "flag": ValueRange(0.0, 1.0)}
    assert parse_ranges(PLAIN, []) == {}


@for_each(
    ("text", "says"),
    [
        ("[1]", "is not a range"),
        ("[2,1]", "is not a range"),
        ("[0,inf]", "is not a range"),
        ("z:[0,1]", "no input 'z'"),
        ("ids:[0.2,0.8]", "no integer"),
    ],
)
def test_what_is_no_range_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_ranges(PLAIN, [text])


def test_the_note_says_what_each_input_was_drawn_from() -> None:
    said = described(
        PLAIN, {"x": ValueRange(0.0, 2.0)}, {"ids": IntegerChoice(range(50), "/Gather looks up one of 50")}
    )
    assert "x: 0 to 2; ids: 0 to 49 (/Gather looks up one of 50); flag: 0 and 1" in said
    assert "x: a normal distribution" in described(PLAIN, {}, {"ids": IntegerChoice((7, 9), "/Equal")})
    assert "ids: 7, 9 (/Equal)" in described(PLAIN, {}, {"ids": IntegerChoice((7, 9), "/Equal")})


def graph_of(nodes: Sequence[onnx.NodeProto], *inputs: str, **constants: np.ndarray) -> onnx.ModelProto:
    ins = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n"]) for name in inputs]
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(list(nodes), "g", ins, [], tensors)
    return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def gather(data: str, indices: str, axis: int = 0) -> onnx.NodeProto:
    return helper.make_node(
        "Gather",
        [data, indices],
        [f"{data}_{indices}"],
        name=f"{data} by {indices}",
        axis=axis,
    )


@pytest.mark.parametrize(("axis", "length"), [(0, 50), (1, 8), (-1, 8)])
def test_an_index_ends_with_the_axis(axis: int, length: int) -> None:
    found = integer_choices(graph_of([gather("table", "ids", axis)], "ids", table=np.zeros((50, 8), np.float32)))
    assert found["ids"].values == range(length)
    assert found["ids"].why == f"table by ids looks up one of {length}"


def test_the_shortest_axis_counts_also_behind_nodes_that_move() -> None:
    nodes = [
        helper.make_node("Unsqueeze", ["ids", "axes"], ["wide"], name="widen"),
        helper.make_node("Cast", ["wide"], ["narrow"], name="narrow", to=TensorProto.INT32),
        gather("table", "narrow"),
        gather("long", "ids"),
    ]
    tables = {"table": np.zeros((30, 2), np.float32), "long": np.zeros((90, 2), np.float32)}
    found = integer_choices(graph_of(nodes, "ids", "other", axes=np.array([0]), **tables))
    assert found["ids"].values == range(30)
    assert "other" not in found


@for_each("op", ["Concat", "Expand", "Flatten", "Identity", "Slice", "Split", "Transpose"])
def test_what_only_moves_an_index_keeps_its_end(op: str) -> None:
    nodes = [helper.make_node(op, ["ids"], ["moved"], name="move"), gather("table", "moved")]
    found = integer_choices(graph_of(nodes, "ids", table=np.zeros((30, 2), np.float32)))
    assert found["ids"].values == range(30)
    nodes[0].op_type = "Neg"
    assert not integer_choices(graph_of(nodes, "ids", table=np.zeros((30, 2), np.float32)))


def test_an_input_that_is_compared_has_the_constants() -> None:
    nodes = [helper.make_node("Equal", ["rate", name], [f"is_{name}"], name=f"/{name}") for name in ("low", "high")]
    found = integer_choices(graph_of(nodes, "rate", low=np.array(8000), high=np.array([16000])))
    assert found["rate"].values == (8000, 16000)


def test_classes_of_one_hot_and_tables_in_bodies_are_seen() -> None:
    bodies = [
        helper.make_graph([gather("table", name)], name, [], [helper.make_tensor_value_info(f"table_{name}", 1, None)])
        for name in ("ids", "more")
    ]
    nodes = [
        helper.make_node("OneHot", ["label", "depth", "values"], ["one"], name="/OneHot"),
        helper.make_node("If", ["flag"], ["either"], name="/If", then_branch=bodies[0], else_branch=bodies[1]),
    ]
    constants = {"depth": np.array(10), "values": np.array([0.0, 1.0]), "flag": np.array(True)}  # noqa: FBT003 - a value
    found = integer_choices(graph_of(nodes, "label", "ids", "more", table=np.zeros((7, 2), np.float32), **constants))
    assert {name: choice.values for name, choice in found.items()} == {
        "label": range(10),
        "ids": range(7),
        "more": range(7),
    }


MODEL = model(x=(FLOAT, [2]), ids=(INT64, [2]), rate=(INT64, []))
MODEL.graph.node.extend(
    [
        helper.make_node("Cast", ["ids"], ["narrow"], name="/Cast", to=6),
        helper.make_node("Gather", ["table", "narrow"], ["found"], name="/Gather"),
        helper.make_node("Add", ["found", "x"], ["y"], name="/Add"),
    ]
)


def test_the_inputs_behind_the_node_that_an_error_names() -> None:
    assert inputs_behind(MODEL, "returned while running Gather node. Name:'/Gather' Status Message: out") == ["ids"]
    assert inputs_behind(MODEL, "while running Add node. Name:'/Add' Status") == ["x", "ids"]


def test_all_inputs_where_no_node_is_named() -> None:
    assert inputs_behind(MODEL, "a failure") == inputs_behind(MODEL, "Name:'/Other'") == ["x", "ids", "rate"]


def test_the_next_step_shows_an_input_of_integers() -> None:
    assert "--val-range ids:[0,1]" in how_to_give(MODEL, ["x", "ids"])
    assert "--val-range x:[0,1]" in how_to_give(MODEL, ["x"])
