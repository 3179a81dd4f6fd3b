"""Rows of layers: what stands behind a name, and what they are sorted by."""

from __future__ import annotations

import pytest

from tests.support.for_each import for_each
from tests.support.graph_builds import build, engine, onnx
from trtforensics.engines.facts import EngineFacts
from trtforensics.tui.rows.layers.columns import CHOICES, ColumnLayout, layer_pieces


def row(name: str, *operators: str, width: int = 120) -> str:
    nodes = tuple(onnx(f"n{number}", operator, "x", "y", 1) for number, operator in enumerate(operators))
    layer = engine(name, "x", "y", 2, onnx_nodes=tuple(node.name for node in nodes))
    (facts,) = EngineFacts(build(onnx_nodes=nodes, engine_layers=(layer,))).layers
    pieces = layer_pieces(name, facts, ColumnLayout(width, 1, 1.02), expanded=False)
    return "".join(piece.text for piece in pieces)


@for_each(
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


def test_layers_sort_by_the_columns_in_view_and_the_mark_is_always_seen() -> None:
    assert [order.column for order in ColumnLayout(140, 2).orders] == [
        "#",
        "ms",
        "margin",
        "other type",
        "layer",
        "kind",
        "in→out",
        "compute",
    ]
    every = ColumnLayout(900, 2, cells=tuple(CHOICES.values()))
    for layout in (*(ColumnLayout(width, 2) for width in (30, 60, 80, 140)), every):
        for order in (*layout.orders, *(order.reversed for order in layout.orders)):
            (titles,) = layout.heading(order, None)
            assert f"{order.column}{order.mark}" in titles.text
    assert {"macs", "runner", "onnx_nodes"} < {order.column for order in every.orders}


@pytest.mark.parametrize("width", [60, 80, 140])
def test_a_click_on_a_title_finds_its_column(width: int) -> None:
    layout = ColumnLayout(width, 2)
    (titles,) = layout.heading(layout.orders[0], None)
    for order in layout.orders:
        assert layout.order_at(titles.text.index(order.column)).column == order.column
    if "share bar" in titles.text:
        assert layout.order_at(titles.text.index("share bar")).column == "ms"


def test_layers_without_a_text_come_last() -> None:
    layers = tuple(engine(name, "x", "y", 2, type=kind) for name, kind in (("b", "Zip"), ("a", ""), ("c", "Add")))
    orders = {order.column: order for order in ColumnLayout(140, 2).orders}
    facts = EngineFacts(build(engine_layers=layers)).layers
    assert [layer.name for layer in orders["kind"].sorted(facts)] == ["c", "b", "a"]
    assert [layer.name for layer in orders["kind"].reversed.sorted(facts)] == ["b", "c", "a"]
    assert [layer.name for layer in orders["layer"].sorted(facts)] == ["a", "b", "c"]
