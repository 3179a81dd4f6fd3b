"""The raw log: its cursor, its prefixes, and its end as it grows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.screens import SIZE, ScreenText, log_app, log_line, panes_of
from trtforensics.console.progress import Progress


@pytest.mark.slow
async def test_g_goes_to_a_line(session: Any, screen_text: ScreenText, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("g", *"40", "enter")
        assert log_line(app) == 40
        await pilot.press("g", *"x", "enter")
        await pilot.pause()
        assert "'x' is not a line number" in screen_text(app)


@pytest.mark.slow
async def test_p_hides_the_prefixes_of_the_log(session: Any, screen_text: ScreenText, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        assert "[08/17/2022-07:50:54]" in screen_text(app)
        await pilot.press("p")
        assert "[08/17/2022-07:50:54]" not in screen_text(app)
        assert "Could not find any implementation" in screen_text(app)


async def test_a_click_in_the_log_moves_its_cursor_and_nothing_else(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.click("#log", offset=(10, 8))
        await pilot.pause()
        assert (log_line(app), panes_of(app).tab) == (9, "overview")


@pytest.mark.slow
async def test_a_log_view_at_its_end_follows_what_arrives(slow_session: Any, until: Any) -> None:
    slow_session.text.readable = 10
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        app.first.call_later(app.first.progressed, Progress(100, None, 10))
        await pilot.press("4", "G")
        slow_session.text.readable = 20
        app.first.call_later(app.first.progressed, Progress(200, None, 20))
        await until(pilot, lambda: log_line(app) == 20)
        await pilot.press("up")
        slow_session.text.readable = 30
        app.first.call_later(app.first.progressed, Progress(300, None, 30))
        await until(pilot, lambda: panes_of(app).log_view.line_count == 30)
        assert log_line(app) == 19


@pytest.mark.slow
async def test_the_end_is_followed_though_lines_came_since_the_last_look(slow_session: Any, until: Any) -> None:
    slow_session.text.readable = 10
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        app.first.call_later(app.first.progressed, Progress(100, None, 10))
        await pilot.press("4")
        slow_session.text.readable = 15
        await pilot.press("G")
        slow_session.text.readable = 20
        app.first.call_later(app.first.progressed, Progress(200, None, 20))
        await until(pilot, lambda: log_line(app) == 20)


async def test_a_line_beyond_the_last_look_can_be_gone_to(slow_session: Any, until: Any) -> None:
    slow_session.text.readable = 10
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        app.first.call_later(app.first.progressed, Progress(100, None, 10))
        slow_session.text.readable = 20
        panes_of(app).log_view.show_line(18)
        assert log_line(app) == 18
