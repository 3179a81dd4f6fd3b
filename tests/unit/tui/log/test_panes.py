"""Panes at any size."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.screens import SIZE, ScreenText
from trtforensics.tui.log.app import LogApp


async def test_z_gives_a_pane_the_whole_screen_and_takes_it_back(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("4", "z")
        await pilot.pause()
        assert "Overview" not in screen_text(app)
        await pilot.press("z")
        await pilot.pause()
        assert "Overview" in screen_text(app)


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (160, 45)])
async def test_every_pane_works_at_any_size(session: Any, parsed: Any, size: tuple[int, int]) -> None:
    app = LogApp(session)
    async with app.run_test(size=size) as pilot:
        await parsed(pilot)
        for key in (
            "1",
            "2",
            "right",
            "end",
            "3",
            "end",
            "4",
            "pagedown",
            "right",
            "5",
            "space",
            "end",
            "w",
            "z",
            "question_mark",
            "q",
        ):
            await pilot.press(key)
        await pilot.resize_terminal(100, 30)
        await pilot.press("2", "home", "q")
    assert app.return_code == 0
