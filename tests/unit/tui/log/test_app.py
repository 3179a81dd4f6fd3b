"""The screen of a build log, driven by keys."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.sample_session import PATIENCE
from tests.support.screens import SIZE, ScreenText, log_app, log_line, panes_of
from trtforensics.console.progress import Progress
from trtforensics.errors import NotABuildLogError
from trtforensics.model.log import BuildLog, Outcome
from trtforensics.parsers.text.source import open_source
from trtforensics.tui.log.build_screen import PROGRESS_S
from trtforensics.tui.sessions import LogSession

if TYPE_CHECKING:
    from pathlib import Path


async def test_the_log_is_on_the_screen_before_the_parse_ends(
    slow_session: Any, screen_text: ScreenText, until: Any
) -> None:
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        assert app.first.build is None
        assert "&&&& RUNNING TensorRT.trtexec" in screen_text(app)
        assert "reading" in screen_text(app)


@pytest.mark.slow
async def test_progress_shows_share_bytes_and_lines(slow_session: Any, screen_text: ScreenText, until: Any) -> None:
    slow_session.reports = [Progress(1 << 20, 1 << 22, 12345)]
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "25%" in screen_text(app))
        assert "1.0 MiB of 4.0 MiB · 12,345 lines" in screen_text(app)


async def test_the_log_grows_while_the_parse_reads(slow_session: Any, screen_text: ScreenText, until: Any) -> None:
    slow_session.text.readable = 3
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        assert "Sparsity" not in screen_text(app)
        slow_session.text.readable = 20
        app.first.call_later(app.first.progressed, Progress(100, None, 20))
        await until(pilot, lambda: "Sparsity" in screen_text(app))
        assert "20 lines" in screen_text(app)


@pytest.mark.slow
async def test_progress_is_not_painted_behind_the_help(slow_session: Any, until: Any) -> None:
    slow_session.text.readable = 3
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        app.first.call_later(app.first.progressed, Progress(100, None, 3))
        await until(pilot, lambda: app.first.progress is not None)
        await pilot.press("question_mark")
        slow_session.text.readable = 20
        app.first.call_later(app.first.progressed, Progress(200, None, 20))
        await pilot.pause(3 * PROGRESS_S)
        assert panes_of(app).log_view.row_count() == 3
        await pilot.press("q")
        await until(pilot, lambda: panes_of(app).log_view.row_count() == 20)


async def test_the_log_is_never_written_out_as_the_name_of_a_task(
    session: Any, parsed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[BuildLog] = []

    def written_out(log: BuildLog) -> str:
        asked.append(log)
        return "a log"

    monkeypatch.setattr(BuildLog, "__repr__", written_out)
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        assert app.first.judgement is not None
    assert not asked


async def test_q_quits(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("q")
    assert (app.return_value, app.return_code) == (None, 0)


async def test_q_during_the_parse_cancels_it(slow_session: Any, until: Any) -> None:
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        await pilot.press("q")
    assert slow_session.was_cancelled.wait(PATIENCE)


async def test_an_error_of_the_input_ends_the_app_and_is_its_result(session: Any, until: Any) -> None:
    session.outcome = NotABuildLogError("x.log", "no line carries a TensorRT prefix")
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app._exit)
    assert app.return_value is session.outcome
    assert app.return_code == 2


@pytest.mark.slow
async def test_enter_on_a_line_of_the_log_shows_its_layer(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        line = next(n for n, text in enumerate(session.text.lines, 1) if "Tactic: 0x0000000000540101" in text)
        await pilot.press("g", *str(line), "enter", "enter")
        await pilot.pause()
        tree = panes_of(app).layer_tree
        assert panes_of(app).tab == "layers"
        assert tree.rows[tree.cursor].text == "pool1"


@pytest.mark.slow
async def test_brackets_switch_the_build(session: Any, screen_text: ScreenText, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("right_square_bracket", "2")
        await pilot.pause()
        assert "build 2 of 2" in screen_text(app)
        assert "second_conv" in screen_text(app)
        assert "only a name" in screen_text(app)
        assert log_line(app) > session.outcome.builds[0].last_line
        await pilot.press("left_square_bracket")
        await pilot.pause()
        assert "build 1 of 2" in screen_text(app)
        assert "conv1 + relu1" in screen_text(app)


@pytest.mark.slow
async def test_enter_on_a_line_of_another_build_switches_to_it(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        line = next(n for n, text in enumerate(session.text.lines, 1) if "Timing Runner: second_conv" in text)
        await pilot.press("g", *str(line), "enter", "enter")
        await pilot.pause()
        assert "build 2 of 2" in screen_text(app)
        assert log_line(app) > line


def so_far(session: Any) -> BuildLog:
    """The log before its engine is dumped: what was chosen, and no verdict."""
    first = session.outcome.builds[0]
    build = replace(first, outcome=Outcome.TRUNCATED, engine_layers=(), choices=first.choices[:3], messages=())
    log: BuildLog = session.outcome
    return replace(log, builds=(build,))


@pytest.mark.slow
async def test_a_build_that_still_runs_is_shown_and_marked(
    slow_session: Any, screen_text: ScreenText, parsed: Any, until: Any
) -> None:
    slow_session.so_far = so_far(slow_session)
    slow_session.reports = [Progress(100, None, 20)]
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        assert "reading · trtexec 8.5.1" in screen_text(app)
        assert "truncated" not in screen_text(app)
        assert "20 lines" in screen_text(app).splitlines()[-2]
        slow_session.gate.set()
        await until(pilot, lambda: "PASSED · trtexec" in screen_text(app))
        assert "line 1 of" in screen_text(app).splitlines()[-2]


@pytest.mark.slow
async def test_what_arrives_moves_no_cursor_and_closes_no_layer(
    slow_session: Any, screen_text: ScreenText, parsed: Any, until: Any
) -> None:
    slow_session.so_far = so_far(slow_session)
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        panes = panes_of(app)
        await pilot.press("2", "space", "down", "3", "down", "down", "1", "down", "down", "2")
        await pilot.pause()
        tree = panes.layer_tree
        before = (tree.selected, panes.candidates.cursor, log_line(app))
        fact = panes.overview.row_at(panes.overview.cursor).label
        slow_session.gate.set()
        await until(pilot, lambda: "PASSED · trtexec" in screen_text(app))
        await pilot.pause()
        assert (tree.selected, panes.candidates.cursor, log_line(app)) == before
        assert panes.overview.row_at(panes.overview.cursor).label == fact
        assert tree.cursor != 1
        assert panes.messages.row_count() == len(slow_session.outcome.builds[0].messages)


async def test_a_secret_is_masked_in_every_pane(tmp_path: Path, screen_text: ScreenText, until: Any) -> None:
    path = tmp_path / "build.log"
    path.write_text(
        "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=https://me:hunter2@host/net.onnx\n"
        "[V] [TRT] Layer(CaskConvolution): /a?api_key=hunter2, Tactic: 0x1, x (Half[4]) -> y (Half[4])\n"
        "[E] [TRT] cannot read https://me:hunter2@host/net.onnx\n"
    )
    app = log_app(LogSession(open_source(str(path))))
    screens = []
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.first.build is not None)
        for key in ("1", "2", "enter", "4", "5", "enter", "6", "enter"):
            await pilot.press(key)
            await pilot.pause()
            screens.append(screen_text(app))
    assert sum("[secret]" in screen for screen in screens) == len(screens)
    assert "hunter2" not in "".join(screens)
