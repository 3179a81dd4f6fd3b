"""The time map, walked with keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.repository import LOGS
from tests.support.screens import LogApp, ScreenText, log_app, log_line, panes_of
from trtforensics.model.log import Outcome
from trtforensics.parsers.text.source import open_source
from trtforensics.tui.rows.time_map import MapRow
from trtforensics.tui.sessions import LogSession

SMALL = (80, 24)
RTX = LOGS / "rtx-transformer.log"


def row_under_cursor(app: LogApp) -> str:
    selected = panes_of(app).overview.selected
    return "" if selected is None else selected.label


async def test_enter_goes_down_and_escape_up_to_the_row_it_came_from(
    session: Any, parsed: Any, screen_text: ScreenText
) -> None:
    app = log_app(session)
    async with app.run_test(size=SMALL) as pilot:
        await parsed(pilot)
        assert isinstance(panes_of(app).overview.selected, MapRow)
        assert row_under_cursor(app) == "conv1 + relu1"
        await pilot.press("down")
        second = row_under_cursor(app)
        await pilot.press("enter")
        await pilot.pause()
        assert f"engine › {second[:10]}" in screen_text(app)  # noqa: RUF001 - an arrowhead
        await pilot.press("escape")
        await pilot.pause()
        assert row_under_cursor(app) == second
        assert "PASSED · trtexec 8.5.1" in screen_text(app)


async def test_a_foreign_node_leads_to_its_kernels_and_their_lines(parsed: Any, screen_text: ScreenText) -> None:
    app = log_app(LogSession(open_source(str(RTX))))
    async with app.run_test(size=SMALL) as pilot:
        await parsed(pilot)
        assert "head.weight" in row_under_cursor(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "Kernels: " in screen_text(app)
        assert "ONNX nodes: " in screen_text(app)
        rows = panes_of(app).overview.rows
        kernel = next(row for row in rows if isinstance(row, MapRow))
        panes_of(app).overview.go_to(panes_of(app).overview.place_of(kernel))
        await pilot.press("enter")
        await pilot.pause()
        assert len(app.first._path) == 2
        panes_of(app).overview.go_to(0)
        await pilot.press("enter")
        await pilot.pause()
        assert kernel.label in app.first.session.text.line(log_line(app))
        await pilot.press("escape", "escape", "escape")
        assert not app.first._path
        assert row_under_cursor(app)[:13] == "{ForeignNode["


async def test_the_layer_under_the_cursor_of_the_map_has_its_candidates_a_key_away(
    session: Any, parsed: Any, screen_text: ScreenText
) -> None:
    app = log_app(session)
    async with app.run_test(size=SMALL) as pilot:
        await parsed(pilot)
        first = panes_of(app).overview.selected
        await pilot.press("3")
        assert panes_of(app).layer_tree.current_entry is getattr(first, "entry", None) is not None
        await pilot.press("1", "down", "3")
        await pilot.pause()
        entry = panes_of(app).layer_tree.current_entry
        assert entry is not None
        assert entry.name in screen_text(app)
        assert panes_of(app).candidates.has_focus
        await pilot.press("escape")
        assert panes_of(app).layer_tree.has_focus
        await pilot.press("escape")
        assert panes_of(app).overview.has_focus


async def test_the_answer_of_a_run_that_failed_is_in_view_and_under_the_cursor(
    session: Any, parsed: Any, screen_text: ScreenText
) -> None:
    build, other = session.outcome.builds
    session.outcome = replace(session.outcome, builds=(replace(build, outcome=Outcome.FAILED), other))
    app = log_app(session)
    async with app.run_test(size=(80, 16)) as pilot:
        await parsed(pilot)
        shown = screen_text(app)
        assert "FAILED, root TF900" in shown
        assert "E TF900" in shown
        assert panes_of(app).overview.cursor == 0


@pytest.mark.slow
async def test_a_foreign_node_that_was_timed_as_one_says_where_its_neighbours_are(
    parsed: Any, screen_text: ScreenText
) -> None:
    app = log_app(LogSession(open_source(str(RTX))))
    async with app.run_test(size=(120, 40)) as pilot:
        await parsed(pilot)
        await pilot.press("x")
        await pilot.pause()
        assert "its kernels have neighbours" in screen_text(app)


@pytest.mark.slow
async def test_enter_on_the_answer_opens_the_finding_and_on_a_run_its_build(
    session: Any, parsed: Any, screen_text: ScreenText
) -> None:
    app = log_app(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await parsed(pilot)
        panes = panes_of(app)
        answer = next(row for row in panes.overview.rows if row.label == "worst finding")
        panes.overview.go_to(panes.overview.place_of(answer))
        await pilot.press("enter")
        await pilot.pause()
        assert panes.findings.has_focus
        assert "why" in screen_text(app)
        await pilot.press("escape", "home", "down")
        await pilot.press("enter")
        await pilot.pause()
        assert app.first.build is not None
        assert app.first.build.index == 1
