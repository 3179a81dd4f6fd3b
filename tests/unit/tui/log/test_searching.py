"""Search in the raw log: counts, regular expressions, only some lines."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.screens import SIZE, ScreenText, log_app, log_line, panes_of


async def settle(app: Any, pilot: Any) -> None:
    await app.workers.wait_for_complete()
    await pilot.pause()
    await app.workers.wait_for_complete()
    await pilot.pause()


def matching(session: Any, needle: str) -> list[int]:
    return [number for number, text in enumerate(session.text.lines, 1) if needle in text]


@pytest.mark.slow
async def test_a_search_counts_its_matches_and_n_walks_them(session: Any, parsed: Any, screen_text: ScreenText) -> None:
    lines = matching(session, "Chose Runner")
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("slash", *"Chose Runner", "enter")
        await settle(app, pilot)
        assert log_line(app) == lines[0]
        assert f"1/{len(lines)}" in screen_text(app)
        await pilot.press("n", "n")
        await pilot.pause()
        assert log_line(app) == lines[2]
        assert f"3/{len(lines)}" in screen_text(app)
        await pilot.press("N")
        await pilot.pause()
        assert log_line(app) == lines[1]


@pytest.mark.slow
async def test_a_regular_expression_is_searched_after_ctrl_r(
    session: Any, parsed: Any, screen_text: ScreenText
) -> None:
    lines = matching(session, "Tactic: 0x")
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("slash", "ctrl+r", *r"Tactic:\s0x\w+", "enter")
        await settle(app, pilot)
        assert log_line(app) == lines[0]
        assert f"1/{len(lines)}" in screen_text(app)
        await pilot.press("slash", *"(", "enter")
        await settle(app, pilot)
        assert "is no regular expression at column 1" in screen_text(app)


@pytest.mark.slow
async def test_only_matching_lines_are_shown_until_escape(session: Any, parsed: Any, screen_text: ScreenText) -> None:
    lines = matching(session, "Timing Runner")
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        view = panes_of(app).log_view
        await pilot.press("ampersand", *"Timing Runner", "enter")
        await settle(app, pilot)
        assert [view.log_line(row) for row in range(view.row_count())] == lines
        await pilot.press("end")
        assert log_line(app) == lines[-1]
        await pilot.press("g", "1", "enter")
        await pilot.pause()
        assert (log_line(app), len(view.rows)) == (1, view.line_count)
        await pilot.press("ampersand", *"nowhere to be found", "enter")
        await settle(app, pilot)
        assert len(view.rows) == view.line_count
        assert "no line" in screen_text(app)


@pytest.mark.slow
async def test_v_goes_through_the_severities(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        view = panes_of(app).log_view
        counts = []
        for _ in range(4):
            await pilot.press("v")
            await settle(app, pilot)
            counts.append(None if isinstance(view.rows, range) else len(view.rows))
        assert counts == [1, 2, 2 + len(matching(session, "] [I] ")), None]


@pytest.mark.slow
@pytest.mark.usefixtures("drawn")
async def test_home_returns_from_a_column_before_it_goes_to_the_first_line(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        view = panes_of(app).log_view
        line = max(range(1, len(session.text.lines) + 1), key=lambda number: len(session.text.lines[number - 1]))
        await pilot.press("g", *str(line), "enter", "right", "right")
        await pilot.pause()
        assert view.scroll_offset.x > 0
        await pilot.press("home")
        assert (view.scroll_offset.x, log_line(app)) == (0, line)
        await pilot.press("home")
        assert log_line(app) == 1
