"""The panes of the overview and of messages."""

from __future__ import annotations

from typing import Any

from tests.support.screens import SIZE, ScreenText, log_app, log_line, text_at


async def test_the_overview_replaces_the_waiting_text_when_the_parse_ends(
    slow_session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        assert "NVIDIA A10G" not in screen_text(app).split("Raw log")[0]
        slow_session.gate.set()
        await parsed(pilot)
        assert "PASSED · trtexec 8.5.1" in screen_text(app)
        assert "FP32+FP16" in screen_text(app)


async def test_w_lists_warnings_and_errors_and_shows_their_lines(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("6", "down")
        await pilot.pause()
        assert "E  10: Could not find any implementation" in screen_text(app)
        assert "[E]" in text_at(session, log_line(app))
