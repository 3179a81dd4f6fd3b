"""The screen of an ONNX model, driven by keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from onnx import save

from tests.support.faulty_models import model, node
from tests.support.repository import ROOT
from tests.support.screens import AppOn, ScreenText, Until
from trtforensics.tui.model import ModelScreen

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

TRANSFORMER = str(ROOT / "testdata" / "models" / "transformer.onnx")
SIZE = (160, 40)


async def _until_release(pilot: Pilot[Any], app: AppOn[ModelScreen], until: Until, release: str) -> None:
    while app.first.target != release:
        await pilot.press("t")
    wanted = f"TensorRT {release}"
    await until(pilot, lambda: app.first._judged is not None and wanted in app.first._judged[1].sources[0].model)


@pytest.mark.slow
async def test_a_key_chooses_the_release_and_findings_lead_to_nodes(screen_text: ScreenText, until: Until) -> None:
    app = AppOn(ModelScreen(TRANSFORMER))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.first._judged is not None)
        rows = app.first.nodes
        assert [rows.row_at(0).node.op, rows.row_at(25).node.op] == ["MatMul", "Cast"]
        assert "any TensorRT" in screen_text(app)
        await _until_release(pilot, app, until, "8.4")
        await until(pilot, lambda: "TF170" in screen_text(app))
        await pilot.press("5", "enter")
        await until(pilot, lambda: rows.selected is not None and rows.selected.node.op == "LayerNormalization")
        assert rows.selected is not None
        assert rows.selected.taken == "error"
        await _until_release(pilot, app, until, "8.6")
        assert rows.selected.node.op == "LayerNormalization"
        assert rows.selected.taken == "yes"


async def test_nodes_are_filtered_searched_and_walked(screen_text: ScreenText, until: Until, tmp_path: Path) -> None:
    save(model(node("Neg", "x", "a"), node("Abs", "a", "b"), node("Abs", "b", "y", "/last")), tmp_path / "m.onnx")
    app = AppOn(ModelScreen(str(tmp_path / "m.onnx")))
    async with app.run_test(size=SIZE) as pilot:
        rows = app.first.nodes
        await until(pilot, lambda: len(rows.rows) == 3)
        await pilot.press("f", *"op:neg", "enter")
        assert [row.node.op for row in rows.rows] == ["Neg"]
        await until(pilot, lambda: len(app.first.around.rows) == 1)
        await pilot.press("enter", "enter")  # to its neighbour, which the filter does not keep
        assert rows.selected is not None
        assert (rows.selected.node.op, len(rows.rows)) == ("Abs", 3)
        await pilot.press("slash", *"/last", "enter")
        assert rows.selected.node.label == "/last"
        await until(pilot, lambda: "makes b" in screen_text(app))
        await pilot.press("slash", *"lost", "enter")
        await until(pilot, lambda: "'lost' is in no node" in screen_text(app))
        assert app.first.next_command().endswith("m.onnx")
        assert "Abs" in app.first.issue()


async def test_what_is_no_model_ends_the_app_with_the_reason(tmp_path: Path, until: Until) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"[V] [TRT] a log\n")
    app = AppOn(ModelScreen(str(path)))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.return_value is not None)
    assert "m.onnx" in str(app.return_value)
