"""The help over a screen."""

from __future__ import annotations

from typing import Any

from tests.support.screens import SIZE, ScreenText
from trtforensics.tui.log.app import LogApp
from trtforensics.tui.widgets.help import HelpScreen


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
