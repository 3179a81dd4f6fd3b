"""The pane of the tactics that were timed for the selected layer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.screens import SIZE, ScreenText, log_app, log_line, panes_of, text_at


async def test_the_selected_layer_shows_its_candidates_and_scrolls_the_log(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "down")
        await pilot.pause()
        assert [f"{c.time_ms}" for c in panes_of(app).table.candidates] == ["0.0067", "0.00674909"]
        assert "next +0.7 % ≈" in screen_text(app)
        assert "Chose Runner Type: TiledPooling Tactic: 0x0000000000630101" in text_at(session, log_line(app))


@pytest.mark.slow
async def test_what_is_told_of_the_choice_is_broken_where_there_is_room(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=(200, 60)) as pilot:
        await parsed(pilot)
        await pilot.press("2", "down")
        await pilot.pause()
        pane = panes_of(app).candidates
        *told, _ = panes_of(app).table.heading
        words = [word for line in told for piece in line for word in piece.text.split()]
        lines = ["".join(piece.text for piece in line) for line in pane.header(20)]
        assert [word for line in lines[:-1] for word in line.split()] == words
        assert max(len(line) for line in lines[:-1] if len(line.split()) > 1) <= 20
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert list(pane.header(10)) == list(panes_of(app).table.heading), "no room for more lines"


@pytest.mark.slow
async def test_a_candidate_scrolls_the_log_to_its_timing(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "3", "down")
        await pilot.pause()
        assert "Tactic: 0x94119b4c514b211b Time: 0.0543" in text_at(session, log_line(app))


@pytest.mark.slow
async def test_a_cached_layer_says_that_no_alternatives_were_timed(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "down", "down")
        await pilot.pause()
        assert "cached result, no alternatives were timed" in screen_text(app)
        assert "got cached result" in text_at(session, log_line(app))


@pytest.mark.slow
async def test_a_combination_shows_its_own_candidates(session: Any, screen_text: ScreenText, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "right", *["down"] * 9)
        await pilot.pause()
        assert "✗ lost to another format or pass  0.1870 ms" in screen_text(app)
