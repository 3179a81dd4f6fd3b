"""Rows of layers: what stands behind a name."""

from __future__ import annotations

import pytest

from tests.support.graph_builds import build, engine, onnx
from trtforensics.engines.facts import EngineFacts
from trtforensics.tui.rows.layers.columns import ColumnLayout, layer_pieces


def row(name: str, *operators: str, width: int = 120) -> str:
    nodes = tuple(onnx(f"n{number}", operator, "x", "y", 1) for number, operator in enumerate(operators))
    layer = engine(name, "x", "y", 2, onnx_nodes=tuple(node.name for node in nodes))
    (facts,) = EngineFacts(build(onnx_nodes=nodes, engine_layers=(layer,))).layers
    pieces = layer_pieces(name, facts, ColumnLayout(width, 1, 1.02), expanded=False)
    return "".join(piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("name", "operators", "told"),
    [
        ("first", ("Relu", "Add"), "first  Relu, Add "),
        ("padding", ("Add",), "padding  Add "),  # not the word
        ("first", ("Relu", "", "Relu"), "first  Relu "),
        ("conv1 + act/Relu", ("Conv", "Relu"), "conv1 + act/Relu   "),
        ("conv1", ("Conv", "BiasAdd"), "conv1  BiasAdd "),
    ],
)
def test_operators_that_the_name_does_not_tell_stand_behind_it(
    name: str, operators: tuple[str, ...], told: str
) -> None:
    assert told in row(name, *operators)
    assert len(row(name, *operators)) == len(row(name)), "the columns stay in line"


def test_a_name_comes_before_operators_where_room_is_short() -> None:
    assert "Relu" not in row("a" * 30, "Relu", width=60)
    assert "first  Layer…ation " in row("first", "LayerNormalization", width=60)
