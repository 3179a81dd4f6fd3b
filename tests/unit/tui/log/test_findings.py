"""The findings pane, driven by keys: findings, worst first, and the way to their lines and layers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.screens import SIZE, ScreenText, log_app, panes_of
from trtforensics.errors import UsageError
from trtforensics.findings.finding import Step
from trtforensics.tui.log.build_screen import BuildScreen


async def test_findings_come_after_the_parse_and_are_those_of_the_build_in_view(
    slow_session: Any, screen_text: ScreenText, parsed: Any, until: Any
) -> None:
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        await pilot.press("5")
        await until(pilot, lambda: "findings come when the log is read" in screen_text(app))
        slow_session.gate.set()
        await parsed(pilot)
        assert "5 Findings 2" in screen_text(app)
        assert "TF902" not in screen_text(app)
        await pilot.press("right_square_bracket")
        await pilot.pause()
        assert "5 Findings 1" in screen_text(app)
        assert "W TF902  Of the second build" in screen_text(app)


async def test_the_worst_is_first_and_opens_to_say_why_where_and_what_to_do(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("5")
        shown = screen_text(app)
        assert shown.index("E TF900  pool1 took") < shown.index("N TF901  Weights")
        assert "Time it again" not in shown
        await pilot.press("space")
        await pilot.pause()
        shown = screen_text(app)
        for part in (
            "why Its tactic",
            "to settle Time it again.",
            "and 3 more lines",
            "next Build again",
            "trtexec --onnx=model.onnx --verbose",
            "fix Time it in",
        ):
            assert part in shown, part
        assert panes_of(app).findings.cursor == 0
        await pilot.press("down", "down", "left")
        await pilot.pause()
        assert "Time it again" not in screen_text(app)
        assert panes_of(app).findings.cursor == 0


async def test_the_log_follows_and_enter_shows_the_line_and_the_layer(session: Any, parsed: Any) -> None:
    (evidence, other), layer = session.verdict.findings[0].evidence, "pool1"
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        panes = panes_of(app)
        await pilot.press("5")
        await pilot.pause()
        assert panes.log_view.current_line == evidence.span.line
        await pilot.press("down")
        await pilot.pause()
        assert panes.log_view.current_line == other.span.line
        await pilot.press("up", "enter")
        await pilot.pause()
        assert panes.tab == "layers"
        assert panes.layer_tree.selected is not None
        assert panes.layer_tree.selected.text == layer
        assert panes.candidates.row_count() == 2
        assert panes.log_view.current_line == evidence.span.line


@pytest.mark.slow
async def test_enter_on_another_line_of_evidence_shows_that_line_beside_the_layer(session: Any, parsed: Any) -> None:
    other = session.verdict.findings[0].evidence[1].span.line
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        panes = panes_of(app)
        await pilot.press("5", "space")
        while panes.findings.selected_line is None or panes.findings.selected_line.line != other:
            await pilot.press("down")
        await pilot.press("enter")
        await pilot.pause()
        assert panes.layer_tree.selected is not None
        assert panes.layer_tree.selected.text == "pool1"
        assert panes.log_view.current_line == other


async def test_the_next_command_is_of_the_build_in_view(session: Any, parsed: Any) -> None:
    first, *others = session.verdict.findings
    steps = tuple(Step("Build again", f"trtexec --onnx={build}.onnx", (build,)) for build in (0, 1))
    session.verdict = replace(session.verdict, findings=(replace(first, builds=(0, 1), next_steps=steps), *others))
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        commands = []
        for key in ("5", "right_square_bracket"):
            await pilot.press(key)
            await pilot.pause()
            assert isinstance(app.screen, BuildScreen)
            commands.append(app.screen.next_command())
        assert commands == ["trtexec --onnx=0.onnx", "trtexec --onnx=1.onnx"]


@pytest.mark.slow
async def test_enter_on_a_finding_of_no_layer_opens_the_log_at_its_line(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("5", "down", "enter")
        await pilot.pause()
        assert app.focused is panes_of(app).log_view
        assert panes_of(app).log_view.current_line == session.verdict.findings[1].line


@pytest.mark.slow
async def test_what_keeps_the_rules_from_being_asked_is_said_in_the_pane(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    session.verdict = UsageError("trtforensics.toml", "suppress is not a list of texts", "Mend it")
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("5", "space", "right", "left", "enter", "5")
        await pilot.pause()
        assert "trtforensics.toml: suppress is not a list" in screen_text(app)


@pytest.mark.slow
async def test_control_characters_of_evidence_are_visible(session: Any, parsed: Any, screen_text: ScreenText) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("5", "down", "space")
        await pilot.pause()
        assert "\x1b" not in screen_text(app)
        assert "␛[31mout of range" in screen_text(app).split("Raw log")[1]


@pytest.mark.slow
async def test_a_narrow_screen_wraps_the_findings_anew_and_keeps_the_cursor(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("5", "down")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "1 Time  2 Layers 5+1  5 Findings 2  6 Messages 2  o Nodes" in screen_text(app)
        rows = panes_of(app).findings
        assert rows.selected is not None
        assert rows.selected.code == "TF901"
        assert "format (likely)" in screen_text(app)
