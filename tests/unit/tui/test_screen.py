"""A source above another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.sample_session import PATIENCE
from tests.support.screens import SIZE, AppOn
from trtforensics.errors import ForensicsError, NotABuildLogError
from trtforensics.tui.log.screen import LogScreen
from trtforensics.tui.widgets.dialogs import HelpScreen

if TYPE_CHECKING:
    from types import SimpleNamespace


@pytest.mark.slow
async def test_an_error_leads_back_to_the_source_below_and_closes_what_is_above(
    session: Any, make: SimpleNamespace, parsed: Any, until: Any
) -> None:
    app = AppOn(LogScreen(session))
    other = make.Session("other.log", make.Text(["x"]), NotABuildLogError("other.log", "is none"))
    ends: list[ForensicsError | None] = []
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        app.push_screen(LogScreen(other), ends.append)
        await until(pilot, other.started.is_set)
        await pilot.press("question_mark")
        assert isinstance(app.screen, HelpScreen)
        other.gate.set()
        await until(pilot, lambda: app.first.is_active)
    assert ends == [other.outcome]
    assert app.return_value is None


@pytest.mark.slow
async def test_q_goes_back_before_it_quits(session: Any, parsed: Any, make: SimpleNamespace, until: Any) -> None:
    app = AppOn(LogScreen(session))
    other = make.Session("other.log", make.Text(["x"]), session.outcome)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        app.push_screen(LogScreen(other))
        await until(pilot, other.started.is_set)
        await pilot.press("q")
        assert app.first.is_active
        assert app.is_running
        await pilot.press("escape")
        assert app.is_running
        await pilot.press("q")
    assert other.was_cancelled.wait(PATIENCE)
    assert app.return_code == 0
