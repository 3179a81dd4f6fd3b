"""The inputs behind a node that does not run."""

from __future__ import annotations

from onnx import helper

from tests.support.input_models import FLOAT, INT64, model
from trtforensics.bisect.precision.inputs.failures import how_to_give, inputs_behind

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
