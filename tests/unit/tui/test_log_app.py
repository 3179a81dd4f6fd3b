"""The screen of a build log, driven by keys."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from rich.segment import Segment
from textual.color import Color

from trtforensics.console.progress import Progress
from trtforensics.errors import NotABuildLogError
from trtforensics.model.log import Outcome
from trtforensics.tui.log.app import LogApp
from trtforensics.tui.log.keys import KEYS
from trtforensics.tui.widgets.help import HelpScreen

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.style import Style
    from textual.app import App

    from trtforensics.model.log import BuildLog
    from trtforensics.tui.log.panes import Panes

    ScreenText = Callable[[App[Any]], str]

SIZE = (120, 36)


def panes_of(app: LogApp) -> Panes:
    return app._panes


def log_line(app: LogApp) -> int:
    return panes_of(app).log_view.current_line


def text_at(session: Any, line: int) -> str:
    return str(session.text.line(line))


async def test_the_log_is_on_the_screen_before_the_parse_ends(
    slow_session: Any, screen_text: ScreenText, until: Any
) -> None:
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        assert app.build is None
        assert "&&&& RUNNING TensorRT.trtexec" in screen_text(app)
        assert "reading" in screen_text(app)


async def test_the_overview_replaces_the_waiting_text_when_the_parse_ends(
    slow_session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        assert "NVIDIA A10G" not in screen_text(app).split("Raw log")[0]
        slow_session.gate.set()
        await parsed(pilot)
        assert "TensorRT 8.5.1 · trtexec · passed" in screen_text(app)
        assert "FP32+FP16" in screen_text(app)


async def test_progress_shows_share_bytes_and_lines(slow_session: Any, screen_text: ScreenText, until: Any) -> None:
    slow_session.reports = [Progress(1 << 20, 1 << 22, 12345)]
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "25%" in screen_text(app))
        assert "1.0 MiB of 4.0 MiB · 12,345 lines" in screen_text(app)


async def test_the_log_grows_while_the_parse_reads(slow_session: Any, screen_text: ScreenText, until: Any) -> None:
    slow_session.text.readable = 3
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        assert "Sparsity" not in screen_text(app)
        slow_session.text.readable = 20
        app._report(Progress(100, None, 20))
        await until(pilot, lambda: "Sparsity" in screen_text(app))
        assert "20 lines" in screen_text(app)


async def test_q_quits(session: Any, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("q")
    assert (app.return_value, app.return_code) == (None, 0)


async def test_q_during_the_parse_cancels_it(slow_session: Any, until: Any) -> None:
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        await pilot.press("q")
    assert slow_session.was_cancelled.wait(5)


async def test_an_error_of_the_input_ends_the_app_and_is_its_result(session: Any, until: Any) -> None:
    session.outcome = NotABuildLogError("x.log", "no line carries a TensorRT prefix")
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app._exit)
    assert app.return_value is session.outcome
    assert app.return_code == 2


async def test_question_mark_shows_the_keys_and_q_closes_them(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("question_mark")
        assert isinstance(app.screen, HelpScreen)
        assert "search the raw log" in screen_text(app)
        await pilot.press("q")
        assert not isinstance(app.screen, HelpScreen)


async def test_help_scrolls_on_a_small_terminal(session: Any, screen_text: ScreenText, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await parsed(pilot)
        await pilot.press("question_mark")
        assert "control characters" not in screen_text(app)
        await pilot.press("pagedown")
        assert "control characters" in screen_text(app)


async def test_every_key_the_help_names_is_bound(session: Any, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        bound = set(app.screen.active_bindings)
        await pilot.press("2")
        bound |= set(app.screen.active_bindings)
    spelled = [key for title, keys in KEYS if "marks" not in title for words, _ in keys for key in words.split()]
    tokens = {key if len(key) == 1 else key.lower().rstrip(",") for key in spelled} - {"in", "the", "log", "findings"}
    names = {"?": "question_mark", "/": "slash", "[": "left_square_bracket", "]": "right_square_bracket"}
    names |= {"↑": "up", "↓": "down", "←": "left", "→": "right", "pgup": "pageup", "pgdn": "pagedown", "esc": "escape"}
    assert {names.get(token, token) for token in tokens} <= bound
    assert len(tokens) > 30


async def test_the_selected_layer_shows_its_candidates_and_scrolls_the_log(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "down")
        await pilot.pause()
        assert [f"{c.time_ms}" for c in panes_of(app).candidates.table.candidates] == ["0.0067", "0.00674909"]
        assert "next +0.7 % ≈" in screen_text(app)
        assert "Chose Runner Type: TiledPooling Tactic: 0x0000000000630101" in text_at(session, log_line(app))


async def test_a_candidate_scrolls_the_log_to_its_timing(session: Any, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "3", "down")
        await pilot.pause()
        assert "Tactic: 0x94119b4c514b211b Time: 0.0543" in text_at(session, log_line(app))


async def test_a_cached_layer_says_that_no_alternatives_were_timed(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "down", "down")
        await pilot.pause()
        assert "cached result, no alternatives were timed" in screen_text(app)
        assert "got cached result" in text_at(session, log_line(app))


async def test_children_of_a_layer_come_when_it_is_opened_and_go_when_it_is_closed(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2")
        closed = panes_of(app).layer_tree.row_count()
        await pilot.press("right")
        assert panes_of(app).layer_tree.row_count() == closed + 8
        assert "onnx   conv1  Conv" in screen_text(app)
        await pilot.press("down", "down", "left")
        assert panes_of(app).layer_tree.row_count() == closed
        assert panes_of(app).layer_tree.cursor == 0


async def test_a_combination_shows_its_own_candidates(session: Any, screen_text: ScreenText, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "right", *["down"] * 7)
        await pilot.pause()
        assert "✗ lost to another format or pass  0.1870 ms" in screen_text(app)


async def test_names_with_markup_are_shown_as_they_are(
    session: Any, make: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = LogApp(session)
    async with app.run_test(size=(160, 45)) as pilot:
        await parsed(pilot)
        await pilot.press("2", *["down"] * 3, "right", "z")
        assert make.markup_name in screen_text(app)
        assert "[red]shuffle[/red]" in screen_text(app)


async def test_control_characters_never_reach_the_terminal(session: Any, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("w")
        segments = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        assert all(isinstance(segment, Segment) and segment.text.isprintable() for segment in segments)
        assert any("␛[31mout of range" in segment.text for segment in segments)
        assert any("␞" in segment.text for segment in segments)


async def test_search_finds_the_next_and_the_previous_match_and_goes_round(
    session: Any, screen_text: ScreenText, parsed: Any, until: Any
) -> None:
    needle = "chose runner"
    matches = [n for n, line in enumerate(session.text.lines, 1) if needle in line.casefold()]
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("slash", *needle, "enter")
        await until(pilot, lambda: log_line(app) == matches[0])
        await pilot.press("n")
        await until(pilot, lambda: log_line(app) == matches[1])
        await pilot.press("N")
        await until(pilot, lambda: log_line(app) == matches[0])
        await pilot.press("N")
        await until(pilot, lambda: log_line(app) == matches[-1])
        assert "from the other end again" in screen_text(app)


async def test_a_search_without_a_match_says_so_and_stays(
    session: Any, screen_text: ScreenText, parsed: Any, until: Any
) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("slash", *"zzz", "enter")
        await until(pilot, lambda: "'zzz' is nowhere in the lines read" in screen_text(app))
        assert log_line(app) == 1


async def test_a_search_works_while_the_parse_runs(slow_session: Any, until: Any) -> None:
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        await pilot.press("slash", *"Sparsity", "enter")
        await until(pilot, lambda: "Sparsity" in text_at(slow_session, log_line(app)))
        assert app.build is None


async def test_a_match_far_to_the_right_is_scrolled_into_view(
    make: Any, screen_text: ScreenText, parsed: Any, until: Any
) -> None:
    scribe = make.Scribe()
    scribe.say("short")
    scribe.say("x" * 5000 + "needle" + "y" * 5000)
    session = make.Session("a.log", make.Text(scribe.lines), make.log_of(scribe, make.empty_build(scribe)))
    session.gate.set()
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("slash", *"needle", "enter")
        await until(pilot, lambda: "xneedley" in screen_text(app))


async def test_g_goes_to_a_line(session: Any, screen_text: ScreenText, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("g", *"40", "enter")
        assert log_line(app) == 40
        await pilot.press("g", *"x", "enter")
        await pilot.pause()
        assert "'x' is not a line number" in screen_text(app)


async def test_the_filter_keeps_layers_by_name_or_onnx_node_and_escape_drops_it(
    session: Any, make: Any, parsed: Any
) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        tree = panes_of(app).layer_tree
        await pilot.press("f", *"reducemean")
        await pilot.pause()
        assert [row.text for row in tree._rows] == [make.foreign_name]
        await pilot.press("enter", "escape")
        await pilot.pause()
        assert (tree.shown_layers, tree.count_text) == (6, "5+1")


async def test_enter_on_a_line_of_the_log_shows_its_layer(session: Any, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        line = next(n for n, text in enumerate(session.text.lines, 1) if "Tactic: 0x0000000000540101" in text)
        await pilot.press("g", *str(line), "enter", "enter")
        await pilot.pause()
        tree = panes_of(app).layer_tree
        assert panes_of(app).tab == "layers"
        assert tree._rows[tree.cursor].text == "pool1"


async def test_brackets_switch_the_build(session: Any, screen_text: ScreenText, parsed: Any) -> None:
    app = LogApp(session)
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


async def test_w_lists_warnings_and_errors_and_shows_their_lines(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("w", "down")
        await pilot.pause()
        assert "E 10: Could not find any implementation" in screen_text(app)
        assert "[E]" in text_at(session, log_line(app))


async def test_p_hides_the_prefixes_of_the_log(session: Any, screen_text: ScreenText, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        assert "[08/17/2022-07:50:54]" in screen_text(app)
        await pilot.press("p")
        assert "[08/17/2022-07:50:54]" not in screen_text(app)
        assert "Could not find any implementation" in screen_text(app)


async def test_z_gives_a_pane_the_whole_screen_and_takes_it_back(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("4", "z")
        await pilot.pause()
        assert "Overview" not in screen_text(app)
        await pilot.press("z")
        await pilot.pause()
        assert "Overview" in screen_text(app)


async def test_enter_on_a_line_of_another_build_switches_to_it(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        line = next(n for n, text in enumerate(session.text.lines, 1) if "Timing Runner: second_conv" in text)
        await pilot.press("g", *str(line), "enter", "enter")
        await pilot.pause()
        assert "build 2 of 2" in screen_text(app)
        assert log_line(app) > line


async def test_a_click_in_the_log_moves_its_cursor_and_nothing_else(session: Any, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.click("#log", offset=(10, 20))
        await pilot.pause()
        assert (log_line(app), panes_of(app).tab) == (21, "overview")


async def test_a_click_selects_a_row_and_its_arrow_opens_it(session: Any, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.click("#tab-layers")
        await pilot.click("#layers", offset=(10, 1))
        await pilot.pause()
        tree = panes_of(app).layer_tree
        assert tree.cursor == 1
        rows = tree.row_count()
        await pilot.click("#layers", offset=(1, 1))
        assert tree.row_count() > rows


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (160, 45)])
async def test_every_pane_works_at_any_size(session: Any, parsed: Any, size: tuple[int, int]) -> None:
    app = LogApp(session)
    async with app.run_test(size=size) as pilot:
        await parsed(pilot)
        for key in (
            "1",
            "2",
            "right",
            "end",
            "3",
            "end",
            "4",
            "pagedown",
            "right",
            "5",
            "space",
            "end",
            "w",
            "z",
            "question_mark",
            "q",
        ):
            await pilot.press(key)
        await pilot.resize_terminal(100, 30)
        await pilot.press("2", "home", "q")
    assert app.return_code == 0


async def test_no_color_paints_without_any_color(session: Any, parsed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2")
        segments = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        shown = _filtered(app, segments)
        assert all(color is not None and color.is_default for style in shown for color in (style.color, style.bgcolor))
        assert any(style.reverse for style in shown)


async def test_the_environment_can_ask_for_no_color(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = LogApp(session)
    assert app.no_color
    assert app.native_ansi_color


def _filtered(app: LogApp, segments: list[Segment]) -> list[Style]:
    """Return the styles that reach the terminal."""
    for line_filter in app._filters:
        if line_filter.enabled:
            segments = line_filter.apply(segments, Color(0, 0, 0))
    return [segment.style for segment in segments if segment.style is not None]


def so_far(session: Any) -> BuildLog:
    """The log before its engine is dumped: what was chosen, and no verdict."""
    first = session.outcome.builds[0]
    build = replace(first, outcome=Outcome.TRUNCATED, engine_layers=(), choices=first.choices[:3], messages=())
    log: BuildLog = session.outcome
    return replace(log, builds=(build,))


async def test_a_build_that_still_runs_is_shown_and_marked(
    slow_session: Any, screen_text: ScreenText, parsed: Any, until: Any
) -> None:
    slow_session.so_far = so_far(slow_session)
    slow_session.reports = [Progress(100, None, 20)]
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        assert "TensorRT 8.5.1 · trtexec · reading" in screen_text(app)
        assert "truncated" not in screen_text(app)
        assert "20 lines" in screen_text(app).splitlines()[-2]
        slow_session.gate.set()
        await until(pilot, lambda: "trtexec · passed" in screen_text(app))
        assert "line 1 of" in screen_text(app).splitlines()[-2]


async def test_what_arrives_moves_no_cursor_and_closes_no_layer(
    slow_session: Any, screen_text: ScreenText, parsed: Any, until: Any
) -> None:
    slow_session.so_far = so_far(slow_session)
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        panes = panes_of(app)
        await pilot.press("2", "space", "down", "3", "down", "down", "1", "down", "down", "2")
        await pilot.pause()
        tree = panes.layer_tree
        before = (tree.selected, panes.candidates.cursor, log_line(app))
        fact = panes.overview._rows[panes.overview.cursor][0].label
        slow_session.gate.set()
        await until(pilot, lambda: "trtexec · passed" in screen_text(app))
        await pilot.pause()
        assert (tree.selected, panes.candidates.cursor, log_line(app)) == before
        assert panes.overview._rows[panes.overview.cursor][0].label == fact
        assert tree.cursor != 1
        assert panes.messages.row_count() == len(slow_session.outcome.builds[0].messages)


async def test_a_log_view_at_its_end_follows_what_arrives(slow_session: Any, until: Any) -> None:
    slow_session.text.readable = 10
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        app._report(Progress(100, None, 10))
        await pilot.press("4", "G")
        slow_session.text.readable = 20
        app._report(Progress(200, None, 20))
        await until(pilot, lambda: log_line(app) == 20)
        await pilot.press("up")
        slow_session.text.readable = 30
        app._report(Progress(300, None, 30))
        await until(pilot, lambda: panes_of(app).log_view._known == 30)
        assert log_line(app) == 19


async def test_the_end_is_followed_though_lines_came_since_the_last_look(slow_session: Any, until: Any) -> None:
    slow_session.text.readable = 10
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        app._report(Progress(100, None, 10))
        await pilot.press("4")
        slow_session.text.readable = 15
        await pilot.press("G")
        slow_session.text.readable = 20
        app._report(Progress(200, None, 20))
        await until(pilot, lambda: log_line(app) == 20)


async def test_a_line_beyond_the_last_look_can_be_gone_to(slow_session: Any, until: Any) -> None:
    slow_session.text.readable = 10
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        app._report(Progress(100, None, 10))
        slow_session.text.readable = 20
        panes_of(app).log_view.show_line(18)
        assert log_line(app) == 18


async def test_a_build_that_names_no_layer_yet_may_still_do_so(
    slow_session: Any, screen_text: ScreenText, parsed: Any, make: Any
) -> None:
    slow_session.so_far = make.log_of(make.Scribe(), make.empty_build(make.Scribe()))
    app = LogApp(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2")
        assert "the log is still being read" in screen_text(app)
