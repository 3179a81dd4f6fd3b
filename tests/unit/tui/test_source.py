"""The screen of sources other than logs, driven by keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.diff_samples import replay_text
from tests.support.screens import SIZE, AppOn, ScreenText, Until
from trtforensics.sources.kinds import Kind
from trtforensics.tui.source import LayersScreen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMIT = 1 << 30


def engine_json() -> str:
    tensor = '{"Name": "x", "Dimensions": [1], "Format/Datatype": "Row major linear FP16 format"}'
    layers = (
        f'{{"Name": "fc{n}", "LayerType": "gemm",\n "Inputs": [{tensor}], "Outputs": [{tensor}],\n'
        f' "TacticValue": "0x{n:016x}"}}'
        for n in range(5)
    )
    return '{"Layers": [\n' + ",\n".join(layers) + "]}\n"


def cache_json() -> str:
    key = {"op": "matmul", "key": f"0x{7:032x}", "selected": "0x7", "time_ms": 0.5, "candidates": []}
    return json.dumps({"schema": 1, "kind": "timing-cache", "keys": [key]}, indent=1)


SOURCES = {
    Kind.REPLAY: (replay_text({"conv": 0x10, "pool": 0x20}), "0x0000000000000020", 3),
    Kind.LAYER_INFO: (engine_json(), "0x0000000000000004", 2),
    Kind.TIMING_CACHE: (cache_json(), "0x0000000000000007", 5),
}
"""A source of each kind other than a log, a tactic in it, and the line of its first layer."""


@pytest.mark.parametrize(
    "kind", [kind if kind is Kind.REPLAY else pytest.param(kind, marks=pytest.mark.slow) for kind in SOURCES]
)
async def test_a_source_that_is_no_log_shows_its_layers_beside_its_text(
    tmp_path: Path, screen_text: ScreenText, until: Until, kind: Kind
) -> None:
    text, tactic, line = SOURCES[kind]
    path = tmp_path / "source.json"
    path.write_text(text)
    app = AppOn(LayersScreen(str(path), kind=kind, max_bytes=LIMIT))
    async with app.run_test(size=(160, 30)) as pilot:
        rows, view = app.first.rows, app.first.text.view
        await until(pilot, lambda: rows.selected is not None and view.current_line == line)
        assert tactic in screen_text(app)
        await pilot.press("f", *"nothing", "enter")
        await until(pilot, lambda: "no layer is kept" in screen_text(app))


async def test_brackets_go_through_the_documents_of_a_file(
    tmp_path: Path, screen_text: ScreenText, until: Until
) -> None:
    path = tmp_path / "layers.json"
    path.write_text('{"Layers": ["one"]}\n{"Layers": ["two"]}\n')
    app = AppOn(LayersScreen(str(path), kind=Kind.LAYER_INFO, max_bytes=LIMIT))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "one" in screen_text(app))
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: app.first.text.view.current_line == 2)
        assert "document 2 of 2" in screen_text(app)


def test_a_replay_looks_as_it_did(
    snap_compare: Callable[..., bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "replay.json").write_text(replay_text({"conv1 + relu1": 0x10, "pool": 0x20}, {"pool": "FLOAT"}))
    app = AppOn(LayersScreen("replay.json", kind=Kind.REPLAY, max_bytes=LIMIT))

    async def run_before(pilot: Any) -> None:
        await until(pilot, lambda: app.first.text.view.current_line == 3)
        await pilot.pause()

    assert snap_compare(app, terminal_size=SIZE, run_before=run_before)
