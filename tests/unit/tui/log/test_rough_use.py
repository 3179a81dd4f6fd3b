"""The screen of a build log where the terminal or the user is rough: zoomed panes, another size while it parses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.screens import SIZE, log_app, panes_of

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("pane", ["5", *(pytest.param(key, marks=pytest.mark.slow) for key in ("1", "6"))])
async def test_enter_in_a_zoomed_list_shows_the_line(session: Any, parsed: Any, pane: str) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press(pane, "end", "z")
        await pilot.pause()
        assert not panes_of(app).log_view.region
        await pilot.press("enter")
        await pilot.pause()
        assert panes_of(app).log_view.region


@pytest.mark.slow
async def test_a_terminal_resized_while_the_log_is_parsed_shows_all_of_it(
    slow_session: Any, parsed: Any, screen_text: Callable[[Any], str]
) -> None:
    app = log_app(slow_session)
    async with app.run_test(size=(200, 60)) as pilot:
        for width, height in ((80, 24), (20, 5), (120, 40)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            assert all(len(line) <= width for line in screen_text(app).splitlines())
        slow_session.gate.set()
        await parsed(pilot)
        await pilot.press("2")
        assert "conv1" in screen_text(app)


@pytest.mark.parametrize(
    "pane", ["2", "4", *(pytest.param(key, marks=pytest.mark.slow) for key in ("1", "3", "5", "6", "o"))]
)
@pytest.mark.slow
async def test_every_pane_is_written_with_a_title_a_column(session: Any, parsed: Any, pane: str) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press(*(("2", "3") if pane == "3" else (pane,)))
        await pilot.pause()
        shown = app.first.pane
        assert shown is not None
        table = shown.as_table()
        assert table.header
        assert {len(row) for row in table.values()} == {len(table.header)}
