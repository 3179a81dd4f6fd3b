"""Rows of layers and of combinations of formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.screens import text_of
from trtforensics.tui.rows.layers.columns import ColumnLayout
from trtforensics.tui.rows.layers.index import LayerIndex, layer_row, row_pieces
from trtforensics.tui.rows.pieces import width_of

if TYPE_CHECKING:
    from trtforensics.model.log import BuildLog


@pytest.mark.parametrize("width", [20, 36, 53, 80])
def test_rows_of_layers_and_combinations_fill_the_width_exactly(log: BuildLog, width: int) -> None:
    index = LayerIndex(log.builds[0])
    for entry in index.engine:
        assert width_of(row_pieces(layer_row(entry), ColumnLayout(width, 1, 1.02), expanded=False)) == width
        for child in index.children(entry):
            assert width_of(row_pieces(child, ColumnLayout(width, 1, 1.02), expanded=False)) <= width


def test_a_row_of_a_layer_marks_near_ties_and_foreign_nodes(log: BuildLog) -> None:
    rows = LayerIndex(log.builds[0]).rows()
    lines = [text_of(row_pieces(row, ColumnLayout(74, 1, 1.02), expanded=False)) for row in rows]
    assert "≈" not in lines[0]
    assert "≈+0.7 %" in lines[1]
    assert "◈ {Foreign" in lines[4]


def test_combinations_tell_final_lost_and_unknown_apart(log: BuildLog) -> None:
    index = LayerIndex(log.builds[0])
    lost, final = index.children(index.engine[0])[-2:]
    unknown = index.children(index.others[0])[0]
    marks = [
        text_of(row_pieces(row, ColumnLayout(60, 1, 1.02), expanded=False)).split()[0] for row in (final, lost, unknown)
    ]
    assert marks == ["✔", "✗", "?"]


def test_every_label_of_a_layer_stands_apart_from_its_value(log: BuildLog) -> None:
    index = LayerIndex(log.builds[0])
    rows = [row for row in index.children(index.engine[0]) if row.label]
    texts = [text_of(row_pieces(row, ColumnLayout(80, 1, 1.02), expanded=False)) for row in rows]
    joined = [row.label for row, text in zip(rows, texts, strict=True) if f" {row.label} " not in text]
    assert rows
    assert joined == []
