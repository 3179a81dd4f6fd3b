"""The screen of a build log, on logs that the real session reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import LOGS
from tests.support.screens import LogApp, log_app
from trtforensics.parsers.text.source import open_source
from trtforensics.tui.rows.layers.index import RowKind
from trtforensics.tui.sessions import LogSession

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.screens import ScreenText

PASSES = "emulated-trtexec-10.16-three-passes.log"
SIZE = (160, 45)


def app_on(path: Path) -> LogApp:
    return log_app(LogSession(open_source(str(path))))


def line_text(app: LogApp) -> str:
    return app.first.session.text.line(app.first._panes.log_view.current_line)


@pytest.mark.slow
async def test_question_mark_explains_the_row_in_view_above_the_keys(parsed: Any, screen_text: ScreenText) -> None:
    app = app_on(LOGS / "emulated-trtexec-8.6.log")
    looks = {
        ("1",): "Myelin (layer type): A part",
        ("2", "home"): "Reformat (layer type): A copy",
        ("down",): "CaskConvolution (layer type)",
        ("3", "end"): "kernel of",
        ("5",): "TF202 (warning): A LayerNorm",
    }
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        for keys, sentence in looks.items():
            await pilot.press(*keys, "question_mark")
            shown = screen_text(app)
            assert sentence in shown, keys
            assert shown.index("Under the cursor") < shown.index("Go somewhere")
            await pilot.press("q")
        await pilot.press("4", "home", "question_mark")
        assert "Under the cursor" not in screen_text(app)


OTHERS = sorted({path.name for path in LOGS.glob("*.log")} - {PASSES})


@pytest.mark.parametrize("name", [PASSES, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
@pytest.mark.slow
async def test_every_sample_log_can_be_walked_with_every_key(name: str, parsed: Any, screen_text: ScreenText) -> None:
    app = app_on(LOGS / name)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        tree = app.first._panes.layer_tree
        await pilot.press("2")
        for _ in range(8):
            await pilot.press("right", "left", "down")
            await pilot.pause()
            selected = tree.selected
            assert selected is not None
            assert selected.kind is RowKind.SECTION or "select a layer" not in screen_text(app)
        await pilot.press("s", "home", "end", "3", "end", "4", "end", "6", "1", "end", "z", "z", "p")
        assert tree.shown_layers > 0
        await pilot.press("q")
    assert app.return_code == 0


@pytest.mark.slow
async def test_the_candidates_of_the_engines_choice_are_marked_and_its_line_is_shown(parsed: Any) -> None:
    app = app_on(LOGS / "emulated-trtexec-8.6.log")
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        build, tree = app.first.build, app.first._panes.layer_tree
        assert build is not None
        await pilot.press("2")
        seen = 0
        for position, row in enumerate(list(tree.rows)):
            layer = row.entry.layer if row.entry else None
            if layer is None or layer.choice is None:
                continue
            tree.go_to(position)
            await pilot.pause()
            choice, table = build.choices[layer.choice], app.first._panes.table
            assert table.chosen is not None
            assert table.candidates[table.chosen].tactic == choice.tactic == layer.tactic
            assert len(table.candidates) == sum(one.candidates for one in build.choices if one.layer == choice.layer)
            assert "Chose Runner Type" in line_text(app)
            seen += 1
        assert seen == 7


@pytest.mark.slow
async def test_enter_brings_the_log_back_to_the_line_of_a_row(parsed: Any) -> None:
    app = app_on(LOGS / PASSES)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "down", "down", "3", "down")
        await pilot.pause()
        there, text = app.first._panes.log_view.current_line, line_text(app)
        assert re.search(r"Tactic: 0x[0-9a-f]{16} Time: |Tactic Name: .* Time", text)
        await pilot.press("4", "home", "3", "enter")
        await pilot.pause()
        assert app.first._panes.log_view.current_line == there


@pytest.mark.slow
async def test_a_cached_winner_shows_what_was_timed_in_an_earlier_pass(parsed: Any, screen_text: ScreenText) -> None:
    app = app_on(LOGS / PASSES)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "down", "down", "down")
        await pilot.pause()
        table = app.first._panes.table
        assert (len(table.candidates), table.chosen) == (19, 0)
        assert re.search(r"cached result; timed at lines \d+ to \d+", screen_text(app))
        assert "got cached result" in line_text(app)


@pytest.mark.slow
async def test_a_reformat_layer_says_why_it_points_to_no_choice(parsed: Any, screen_text: ScreenText) -> None:
    app = app_on(LOGS / "emulated-trtexec-8.6.log")
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        tree = app.first._panes.layer_tree
        row = next(i for i, r in enumerate(tree.rows) if r.entry and r.entry.layer and r.entry.layer.type == "Reformat")
        await pilot.press("2", *["down"] * row, "right")
        await pilot.pause()
        shown = screen_text(app)
        assert "▏ TensorRT prints no choice for a reformat layer" in shown
        assert "origin  TensorRT prints no choice for a reformat layer" in shown


@pytest.mark.slow
async def test_all_kernels_of_one_foreign_node_stand_below_it(parsed: Any, screen_text: ScreenText) -> None:
    app = app_on(LOGS / "rtx-transformer.log")
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2")
        await pilot.pause()
        rows = app.first._panes.layer_tree.rows
        assert [row.kind for row in rows] == [*[RowKind.LAYER] * 35, RowKind.SECTION]
        assert rows[0].text == "{ForeignNode[head.weight.../Identity]}"
        assert "TensorRT printed no times for it" in screen_text(app)
        await pilot.press("down", "right")
        assert "LayerNormalization" in screen_text(app)


@pytest.mark.slow
async def test_lines_nobody_understood_are_counted_and_the_first_is_shown(
    parsed: Any, tmp_path: Path, screen_text: ScreenText
) -> None:
    strange = "[11/21/2026-10:05:00] [V] [TRT] Quantum tactic selector engaged for lane 7"
    lines = (LOGS / "rtx-convnet.log").read_text().splitlines()
    path = tmp_path / "drifted.log"
    path.write_text("\n".join([*lines[:100], *[strange] * 20, *lines[100:]]))
    app = app_on(path)
    async with app.run_test(size=(160, 60)) as pilot:
        await parsed(pilot)
        shown = screen_text(app)
        assert re.search(r"101 understood +\d+ lines of \d+ shapes? were not understood", shown)
        assert re.search(r"101 +20 times Quantum tactic selector engaged for lane 7", shown)
        assert "the last line has no line ending" in shown
        values = [getattr(row, "value", "") for row, _ in app.first._panes.overview._lines]
        row = next(place for place, value in enumerate(values) if "Quantum" in value)
        await pilot.press("1", "home", *["down"] * row)
        await pilot.pause()
        assert line_text(app) == strange


@pytest.mark.slow
async def test_search_goes_on_with_n_and_back_with_shift_n(parsed: Any, until: Any) -> None:
    app = app_on(LOGS / PASSES)
    wanted = [n for n, text in enumerate((LOGS / PASSES).read_text().splitlines(), 1) if "Chose Runner" in text]
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("slash", *"Chose Runner", "enter")
        for key, line in (("n", wanted[0]), ("n", wanted[1]), ("N", wanted[2]), ("N", wanted[1])):
            await until(pilot, lambda line=line: app.first._panes.log_view.current_line == line)
            await pilot.press(key)
        await pilot.press("slash", *"chose RUNNER", "enter")
        await until(pilot, lambda: "nowhere" in app.first._note)


@pytest.mark.slow
async def test_enter_on_a_line_of_a_block_shows_that_combination(parsed: Any) -> None:
    app = app_on(LOGS / PASSES)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        assert app.first.build is not None
        lost = next(c for c in app.first.build.choices if c.layer == "node_conv2d_1" and c.final is False)
        await pilot.press("g", *str(lost.span.line - 1), "enter", "enter")
        await pilot.pause()
        selected = app.first._panes.layer_tree.selected
        assert selected is not None
        assert (selected.kind, selected.subject) == (RowKind.COMBINATION, lost)
        assert app.first._panes.log_view.current_line == lost.span.line


@pytest.mark.slow
async def test_brackets_switch_between_the_builds_of_a_file(
    parsed: Any, tmp_path: Path, screen_text: ScreenText
) -> None:
    path = tmp_path / "two.log"
    path.write_bytes((LOGS / "emulated-trtexec-8.6.log").read_bytes() + (LOGS / PASSES).read_bytes())
    app = app_on(path)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        assert "build 1 of 2" in screen_text(app)
        await pilot.press("right_square_bracket")
        await pilot.pause()
        assert "build 2 of 2" in screen_text(app)
        assert "10.16.1" in screen_text(app)
        assert line_text(app).startswith("&&&& RUNNING")


@pytest.mark.slow
@pytest.mark.corpus
async def test_a_log_that_prints_the_engine_twice_lists_it_once(
    corpus: Path, parsed: Any, screen_text: ScreenText
) -> None:
    app = app_on(corpus / "buildlog" / "kalfazed-resnet50-build-trt8501-BIG.log")
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2")
        assert "printed 2 times, this is from line " in screen_text(app)
        assert app.first._panes.layer_tree.count_text == "62"


@pytest.mark.corpus
@pytest.mark.slow
async def test_names_without_more_are_listed_and_said_to_be_that(
    corpus: Path, parsed: Any, screen_text: ScreenText
) -> None:
    app = app_on(corpus / "buildlog" / "hack-trtexec-PrintInformation-trt8401.log")
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2")
        await pilot.pause()
        assert "of these the log prints the names only" in screen_text(app)
        assert "the log gives this layer's name and nothing else" in screen_text(app)
