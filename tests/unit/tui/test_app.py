"""What reaches the terminal: no control characters, and no colour where none is wanted."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.segment import Segment
from textual.color import Color
from textual.filter import NoColor

from tests.support.screens import SIZE, LogApp, log_app
from trtforensics.tui.app import _ANSWER_S, TerminalApp
from trtforensics.tui.widgets.dialogs import HelpText

if TYPE_CHECKING:
    from rich.style import Style


async def test_control_characters_never_reach_the_terminal(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("6")
        segments = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        assert all(isinstance(segment, Segment) and segment.text.isprintable() for segment in segments)
        assert any("␛[31mout of range" in segment.text for segment in segments)
        assert any("␞" in segment.text for segment in segments)


def test_the_search_for_cycles_is_on_once_the_app_is_drawn_and_spares_what_is_there() -> None:
    before = gc.isenabled()
    gc.disable()
    gc.unfreeze()
    try:
        TerminalApp.on_ready(cast("TerminalApp", None))
        assert gc.isenabled()
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()
        (gc.enable if before else gc.disable)()


@pytest.mark.slow
async def test_no_color_paints_without_any_color(session: Any, parsed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2")
        segments = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        shown = _filtered(app, segments)
        assert all(color is not None and color.is_default for style in shown for color in (style.color, style.bgcolor))
        assert any(style.reverse for style in shown)


async def test_the_environment_can_ask_for_no_color(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = log_app(session)
    assert app.no_color
    assert any(isinstance(line_filter, NoColor) for line_filter in app._filters)


async def test_a_thread_that_parses_rests_until_a_key_is_answered(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        before = time.monotonic()
        await pilot.press("question_mark")
        assert app._answered_by >= before + _ANSWER_S
        app._answered_by = by = time.monotonic() + 0.05
        app.rest()
        assert time.monotonic() >= by


async def test_help_that_says_the_same_is_not_laid_out_again(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("question_mark")
        text = app.screen.query_one(HelpText)
        lines = text._lines
        await pilot.press("q", "question_mark")
        assert text._lines is lines
        await pilot.press("q", "2", "end", "question_mark")
        assert text._lines is not lines, "another row is under the cursor"


def _filtered(app: LogApp, segments: list[Segment]) -> list[Style]:
    """Return the styles that reach the terminal."""
    for line_filter in app._filters:
        if line_filter.enabled:
            segments = line_filter.apply(segments, Color(0, 0, 0))
    return [segment.style for segment in segments if segment.style is not None]
