"""Keys that arrive together: each goes where the one before it led."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from textual.events import Key

from tests.support.screens import SIZE, log_app
from trtforensics.tui.widgets.dialogs import HelpScreen

if TYPE_CHECKING:
    from textual.app import App


def write(app: App[Any], *keys: str) -> None:
    """Let keys arrive in one read of the terminal."""
    for key in keys:
        character = {"slash": "/", "enter": "\r", "question_mark": "?"}.get(key, key)
        app.post_message(Key(key, character))


async def test_a_search_written_at_once_is_no_command(session: Any, parsed: Any, until: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        write(app, "slash", *"qkv", "enter")
        await until(pilot, lambda: app.first._search.text == "qkv")
        assert not app._exit


@pytest.mark.slow
async def test_keys_behind_enter_are_for_the_log(session: Any, parsed: Any, until: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        write(app, "slash", *"chose", "enter", "6", "slash", *"tactic", "enter", "6")
        await until(pilot, lambda: app.first._search.text == "tactic")
        await until(pilot, lambda: app.focused is app.first._panes.messages)


@pytest.mark.slow
async def test_q_behind_question_mark_closes_the_help(session: Any, parsed: Any, until: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        write(app, "question_mark", "q", "6")
        await until(pilot, lambda: app.first._panes.tab == "messages")
        assert not isinstance(app.screen, HelpScreen)
        write(app, "question_mark", "q", "q")
        await until(pilot, lambda: app._exit)


async def test_every_key_of_a_burst_is_delivered_once(session: Any, parsed: Any, until: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        write(app, "4", "home", *["j"] * 200, *["k"] * 80, "4")
        await until(pilot, lambda: not app._keys and app._mark_at is None)
        log = app.first._panes.log_view
        lowest = min(200, log.row_count() - 1)
        assert log.cursor == max(lowest - 80, 0)
