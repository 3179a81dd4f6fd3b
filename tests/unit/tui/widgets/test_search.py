"""Search in the raw log."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.screens import SIZE, ScreenText, log_app, log_line, text_at


@pytest.mark.slow
async def test_search_finds_the_next_and_the_previous_match_and_goes_round(
    session: Any, screen_text: ScreenText, parsed: Any, until: Any
) -> None:
    needle = "chose runner"
    matches = [n for n, line in enumerate(session.text.lines, 1) if needle in line.casefold()]
    app = log_app(session)
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


@pytest.mark.slow
async def test_a_search_without_a_match_says_so_and_stays(
    session: Any, screen_text: ScreenText, parsed: Any, until: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("slash", *"zzz", "enter")
        await until(pilot, lambda: "'zzz' is nowhere in the lines read" in screen_text(app))
        assert log_line(app) == 1


@pytest.mark.slow
async def test_a_search_works_while_the_parse_runs(slow_session: Any, until: Any) -> None:
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, slow_session.started.is_set)
        await pilot.press("slash", *"Sparsity", "enter")
        await until(pilot, lambda: "Sparsity" in text_at(slow_session, log_line(app)))
        assert app.first.build is None


@pytest.mark.slow
@pytest.mark.usefixtures("drawn")
async def test_a_match_far_to_the_right_is_scrolled_into_view(
    make: Any, screen_text: ScreenText, parsed: Any, until: Any
) -> None:
    scribe = make.Scribe()
    scribe.say("short")
    scribe.say("x" * 5000 + "needle" + "y" * 5000)
    session = make.Session("a.log", make.Text(scribe.lines), make.log_of(scribe, make.unknown_build(scribe)))
    session.gate.set()
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("slash", *"needle", "enter")
        await until(pilot, lambda: "xneedley" in screen_text(app))
