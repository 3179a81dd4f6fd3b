"""The help over a screen."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.for_each import for_each
from tests.support.screens import SIZE, ScreenText, log_app
from trtforensics.tui.widgets.dialogs import HelpScreen, KeyFooter, _help_lines, keys_of


@for_each("screen", ["log", "diff", "source", "model", "bisection"])
def test_every_key_is_shown_whole_and_apart_from_its_text(screen: str) -> None:
    keys = keys_of(screen)
    lines = [line.pieces for _, of_title in keys for row in of_title for line in _help_lines(row, 72)]
    rows = [line for line in lines if line[0].text.strip()]
    assert [key.text.strip() for key, _ in rows] == [key for _, of_title in keys for key, _ in of_title]
    assert all(key.text.endswith(" ") for key, _ in rows)


async def test_question_mark_shows_the_keys_and_q_closes_them(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        footer = app.screen.query_one(KeyFooter)
        keys = footer.line
        await pilot.press("question_mark")
        assert isinstance(app.screen, HelpScreen)
        assert "time map, layers" in screen_text(app)
        await pilot.press("q")
        await pilot.pause()
        assert not isinstance(app.screen, HelpScreen)
        assert footer.line is keys, "keys that stay valid are not laid out again"
        await pilot.press("2")
        await pilot.pause()
        assert footer.line != keys
        texts = "".join(piece.text for piece in footer.line)
        assert len(texts) == SIZE[0]
        assert texts.endswith(" Ctrl+P palette ")
        await pilot.click(KeyFooter, offset=(texts.index("? "), 0))
        assert isinstance(app.screen, HelpScreen)


@pytest.mark.slow
async def test_help_scrolls_on_a_small_terminal(session: Any, screen_text: ScreenText, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await parsed(pilot)
        await pilot.press("question_mark")
        assert "control characters" not in screen_text(app)
        await pilot.press("pagedown", "pagedown", "pagedown")
        assert "control characters" in screen_text(app)
        await pilot.press("q", "question_mark")
        assert "control characters" not in screen_text(app), "it opens at its beginning again"


@pytest.mark.slow
async def test_help_has_the_colours_of_the_theme_that_was_chosen_since(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("question_mark")
        dark = app.screen.styles.background
        await pilot.press("q", "T", "question_mark")
        assert app.screen.styles.background != dark
        assert app.screen.styles.background == app.screen_stack[0].styles.background
