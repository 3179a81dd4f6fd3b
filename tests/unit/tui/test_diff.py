"""The screen of a comparison, driven by keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.diff_samples import interacting_pair, log_with
from tests.support.screens import PICTURES, SIZE, AppOn, ScreenText, Until
from trtforensics.comparison.differences import DifferenceType
from trtforensics.errors import ForensicsError
from trtforensics.tui.diff import CandidatesScreen, DiffScreen
from trtforensics.tui.widgets.dialogs import HelpScreen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMIT = 1 << 30


@pytest.fixture
def diff_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppOn[DiffScreen]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.log").write_text(log_with(fused=True))
    (tmp_path / "bad.log").write_text(log_with(fused=False, pool_tactic=0x3))
    return AppOn(DiffScreen("good.log", "bad.log", kind=None, max_bytes=LIMIT))


def lines(app: AppOn[DiffScreen]) -> tuple[int, int]:
    """Return the lines under the cursors of both files."""
    return app.first.good.view.current_line, app.first.bad.view.current_line


async def opened(pilot: Any, until: Until, good: int | None, bad: int | None) -> None:
    """Wait until both files are open at these lines; None if the side has no line."""

    def at_lines() -> bool:
        views = ((pilot.app.first.good, good), (pilot.app.first.bad, bad))
        return all(
            len(pane.view.text) == 0 if line is None else pane.view.current_line == line and len(pane.view.text)
            for pane, line in views
        )

    await until(pilot, at_lines)


async def test_the_fusion_comes_first_and_both_logs_are_open_at_its_lines(
    diff_app: AppOn[DiffScreen], screen_text: ScreenText, until: Until
) -> None:
    async with diff_app.run_test(size=SIZE) as pilot:
        await opened(pilot, until, 6, 5)
        shown = screen_text(diff_app).split("\n")
        row = next(n for n, line in enumerate(shown) if "fusion" in line and "conv1 + relu1" in line)
        assert "conv1, PWN(relu1)" in shown[row]
        assert "└precision" in shown[row + 1]
        assert "Layer(CaskConvolution): conv1 + relu1" in screen_text(diff_app)
        assert "4 layers aligned" in screen_text(diff_app)


async def test_both_logs_follow_the_rows(diff_app: AppOn[DiffScreen], until: Until) -> None:
    async with diff_app.run_test(size=SIZE) as pilot:
        await opened(pilot, until, 6, 5)
        await pilot.press("end")
        await opened(pilot, until, 9, 10)  # pool5


@pytest.mark.slow
async def test_v_shows_one_type_after_the_other_and_digits_go_to_panes(
    diff_app: AppOn[DiffScreen], until: Until
) -> None:
    async with diff_app.run_test(size=SIZE) as pilot:
        await opened(pilot, until, 6, 5)
        rows = diff_app.first.rows
        everything = rows.row_count()
        seen = []
        for _ in range(len(DifferenceType)):
            await pilot.press("v")
            seen.append({row.sort for row in rows.rows})
        assert {"tactic"} in seen
        assert all(len(sorts) == 1 for sorts in seen[:2])
        await pilot.press("escape", "3")
        assert diff_app.first.good.view.has_focus
        await pilot.press("1")
        assert rows.has_focus
        while diff_app.first._only is not None:
            await pilot.press("v")
        assert rows.row_count() == everything == 8


@pytest.mark.slow
async def test_f_keeps_layers_by_name_and_escape_drops_it(diff_app: AppOn[DiffScreen], until: Until) -> None:
    async with diff_app.run_test(size=SIZE) as pilot:
        await opened(pilot, until, 6, 5)
        await pilot.press("f", *"pool5", "enter")
        await until(pilot, lambda: diff_app.first.rows.row_count() == 1)
        assert diff_app.focused is diff_app.first.rows
        await pilot.press("escape")
        assert diff_app.first.rows.row_count() == 8


@pytest.mark.slow
async def test_tab_goes_to_the_lines_and_enter_from_a_line_to_its_file(
    diff_app: AppOn[DiffScreen], until: Until
) -> None:
    async with diff_app.run_test(size=SIZE) as pilot:
        await opened(pilot, until, 6, 5)
        await pilot.press("tab")
        assert diff_app.focused is diff_app.first.places
        await pilot.press("down", "down")  # good 6; bad 5; bad 6
        await opened(pilot, until, 6, 6)
        await pilot.press("enter")
        assert diff_app.first.bad.view.has_focus


@pytest.mark.slow
async def test_search_is_in_the_file_under_the_focus(diff_app: AppOn[DiffScreen], until: Until) -> None:
    async with diff_app.run_test(size=SIZE) as pilot:
        await opened(pilot, until, 6, 5)
        diff_app.first.good.view.focus()
        await pilot.press("slash", *"pool5", "enter")
        await until(pilot, lambda: lines(diff_app) == (9, 5))


@pytest.mark.slow
async def test_question_mark_shows_the_keys(diff_app: AppOn[DiffScreen], screen_text: ScreenText, until: Until) -> None:
    async with diff_app.run_test(size=SIZE) as pilot:
        await opened(pilot, until, 6, 5)
        await pilot.press("question_mark")
        assert isinstance(diff_app.screen, HelpScreen)
        assert "follows from the row above it" in screen_text(diff_app)


@pytest.mark.slow
async def test_many_builds_show_pairs_first_and_suspicion(
    tmp_path: Path, screen_text: ScreenText, until: Until
) -> None:
    culprits = interacting_pair(tmp_path, layers=30, builds=40, seed=1)
    app = AppOn(DiffScreen(str(tmp_path), str(tmp_path), kind=None, max_bytes=LIMIT))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.first.rows.selected is not None)
        first = screen_text(app).split("\n")[4]
        assert "pair" in first
        assert all(name in first for name in culprits)
        await until(pilot, lambda: app.first.bad.view.current_line > 1)
        assert f'"{culprits[0]}"' in app.first.bad.text.line(app.first.bad.view.current_line)


@pytest.mark.slow
async def test_sides_without_a_common_layer_are_not_called_equal(
    tmp_path: Path, screen_text: ScreenText, until: Until
) -> None:
    (tmp_path / "good.log").write_text(log_with(fused=True))
    (tmp_path / "bad.log").write_text("&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=a.onnx\n")
    sides = [str(tmp_path / name) for name in ("good.log", "bad.log")]
    app = AppOn(DiffScreen(*sides, kind=None, max_bytes=LIMIT))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app._exit or "reading" not in screen_text(app))
        assert app._exit or "no difference found" not in screen_text(app)


async def test_an_error_of_a_source_ends_the_app_and_is_its_result(tmp_path: Path, until: Until) -> None:
    app = AppOn(DiffScreen(str(tmp_path / "no.log"), str(tmp_path), kind=None, max_bytes=LIMIT))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app._exit)
    assert isinstance(app.return_value, ForensicsError)
    assert app.return_code == 2


@pytest.mark.slow
async def test_enter_opens_both_candidate_tables(
    diff_app: AppOn[DiffScreen], screen_text: ScreenText, until: Until
) -> None:
    async with diff_app.run_test(size=SIZE) as pilot:
        await opened(pilot, until, 6, 5)
        while diff_app.first._only != DifferenceType.TACTIC:
            await pilot.press("v")
        await pilot.press("end", "enter")
        assert isinstance(diff_app.screen, CandidatesScreen)
        await until(pilot, lambda: "reading the log" not in screen_text(diff_app))
        assert screen_text(diff_app).count(" pool5") >= 2
        await pilot.press("tab", "q")
        assert not isinstance(diff_app.screen, CandidatesScreen)


@pytest.fixture
def timed_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppOn[DiffScreen]:
    """Engine layers with profiles and times: bad runs as two layers what good runs as one, and a layer besides."""
    monkeypatch.chdir(tmp_path)
    sides = {
        "good": ({"conv1 + relu1": 0.5, "pool": 0.25}, 1.0),
        "bad": ({"conv1": 0.5, "relu1": 0.75, "pool": 0.25, "more": 0.125}, 2.0),
    }
    for side, (layers, latency) in sides.items():
        (tmp_path / side).mkdir()
        known = [{"Name": name, "LayerType": "Convolution", "Inputs": [], "Outputs": []} for name in layers]
        rows = [{"name": name, "timeMs": 10 * ms, "averageMs": ms, "percentage": 1} for name, ms in layers.items()]
        sample = {"startEnqMs": 0, "endD2hMs": 1, "latencyMs": latency, "computeMs": latency}
        texts = {"layers": {"Layers": known, "Bindings": []}, "profile": [{"count": 10}, *rows], "times": [sample] * 3}
        for name, value in texts.items():
            (tmp_path / side / f"{name}.json").write_text(json.dumps(value, indent=1))
    return AppOn(DiffScreen("good", "bad", kind=None, max_bytes=LIMIT))


@pytest.mark.slow
async def test_measured_times_are_those_of_all_layers_of_a_row(
    timed_app: AppOn[DiffScreen], screen_text: ScreenText, until: Until
) -> None:
    async with timed_app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: timed_app.first.rows.selected is not None)
        await pilot.press("v")
        await until(pilot, lambda: "latency 1 → 2 ms" in screen_text(timed_app))
        shown = screen_text(timed_app)
        assert "latency 1 → 2 ms" in shown
        assert "sum of layers +0.8750 ms, measured" in shown
        assert [(getattr(row.subject, "type", None), row.delta_ms) for row in timed_app.first.rows.rows] == [
            ("fusion", 0.75),
            ("added", 0.125),
        ]
        assert "good/profile.json:5  0.5000 ms measured" in shown
        assert "bad/profile.json:5  1.250 ms measured in 2 layers" in shown


async def test_the_map_is_filtered_by_columns_and_its_files_are_searched_by_regex(
    timed_app: AppOn[DiffScreen], screen_text: ScreenText, until: Until
) -> None:
    async with timed_app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: timed_app.first.rows.selected is not None)
        await pilot.press("f", *"delta_ms>0.2", "enter")
        assert [row.layer for row in timed_app.first.rows.rows] == ["conv1 + relu1"]
        assert "kept by 'delta_ms>0.2'" in screen_text(timed_app)
        await pilot.press("f", *"nowhere", "enter")
        assert "no layer is kept by" in screen_text(timed_app)
        await pilot.press("escape")
        await until(pilot, lambda: len(timed_app.first.good.text) > 0)
        await pilot.press("3", "slash", "ctrl+r", *"na.e", "enter")
        await until(pilot, lambda: "'na.e' 1/2" in screen_text(timed_app))
        assert timed_app.first.good.view.has_focus


async def test_the_first_screen_is_the_map_of_time_and_its_bars_open_their_differences(
    timed_app: AppOn[DiffScreen], screen_text: ScreenText, until: Until
) -> None:
    async with timed_app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: timed_app.first.rows.selected is not None)
        assert [(row.layer, row.delta_ms) for row in timed_app.first.rows.rows] == [
            ("conv1 + relu1", 0.75),
            ("more", 0.125),
            ("pool", 0.0),
        ]
        shown = screen_text(timed_app)
        assert " ▲ ████████████████████   +0.7500   0.5000    1.250 conv1 + relu1" in shown
        assert " + " in next(line for line in shown.split("\n") if " more " in line and "███" in line)
        assert "▲ 1 slower +0.7500 ms + 1 added +0.1250 ms" in shown
        await pilot.press("enter")
        assert [row.sort for row in timed_app.first.rows.rows] == ["fusion"]
        assert "time \u203a conv1 + relu1" in screen_text(timed_app)
        await pilot.press("escape")
        assert timed_app.first.rows.row_count() == 3
        await pilot.press("s", "s", "f", *"more", "enter")
        assert [row.layer for row in timed_app.first.rows.rows] == ["more"]


@pytest.mark.slow
async def test_copies_of_a_difference(diff_app: AppOn[DiffScreen], until: Until) -> None:
    async with diff_app.run_test(size=SIZE) as pilot:
        await opened(pilot, until, 6, 5)
        while diff_app.first._only != DifferenceType.TACTIC:
            await pilot.press("v")
        await pilot.press("end", "y")
        assert diff_app.clipboard.startswith("tactic  pool5")
        await opened(pilot, until, 9, 10)
        await pilot.press("Y")
        assert diff_app.clipboard == f"good.log:9: {diff_app.first.good.text.line(9)}"
        await pilot.press("c")
        assert diff_app.clipboard == "trtforensics diff good.log bad.log"
        await pilot.press("I")
        assert "tactic differs" in diff_app.clipboard
        assert "9: " in diff_app.clipboard
        assert "10: " in diff_app.clipboard


@pytest.mark.parametrize(("size", "theme"), PICTURES)
def test_the_comparison_looks_as_it_did(
    size: tuple[int, int], theme: str, snap_compare: Callable[..., bool], diff_app: AppOn[DiffScreen], until: Until
) -> None:
    diff_app.theme = theme

    async def run_before(pilot: Any) -> None:
        await opened(pilot, until, 6, 5)
        await pilot.press("down", "down", "down", "down", "down")
        await opened(pilot, until, 7, 7)
        await pilot.pause()

    assert snap_compare(diff_app, terminal_size=size, run_before=run_before)
