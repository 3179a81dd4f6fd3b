"""The pane of layers: opened, filtered, clicked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.for_each import for_each
from tests.support.screens import SIZE, ScreenText, log_app, panes_of
from trtforensics.tables import table
from trtforensics.tui.log.layer_tree import LayerTree
from trtforensics.tui.widgets.dialogs import Dialog
from trtforensics.tui.widgets.virtual_list import NO_FILTER


async def test_children_of_a_layer_come_when_it_is_opened_and_go_when_it_is_closed(
    session: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2")
        closed = panes_of(app).layer_tree.row_count()
        await pilot.press("right")
        assert panes_of(app).layer_tree.row_count() == closed + 10
        assert "onnx    conv1  Conv" in screen_text(app)
        await pilot.press("right", "right", "space", "space")
        assert panes_of(app).layer_tree.cursor == 0
        await pilot.press("right", "right")
        assert panes_of(app).layer_tree.cursor == 2
        await pilot.press("left")
        assert panes_of(app).layer_tree.row_count() == closed
        assert panes_of(app).layer_tree.cursor == 0


def test_the_thread_that_parses_makes_ready_the_first_screen_and_the_first_key_of_a_filter(session: Any) -> None:
    table._parser.cache_clear()
    screen = log_app(session).first
    screen.prepare(session.outcome)
    assert screen._prepared is not None
    index, time_map = screen._prepared
    assert time_map.told is not None
    assert table._parser.cache_info().currsize == 1
    assert [row.entry for row in index.rows() if row.entry] == [*index.engine, *index.others]
    assert {id(row) for row in index.rows() if row.entry} == {id(row) for row in index._layer_rows.values()}


async def test_names_with_markup_are_shown_as_they_are(
    session: Any, make: Any, screen_text: ScreenText, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=(160, 45)) as pilot:
        await parsed(pilot)
        await pilot.press("2", *["down"] * 3, "right", "z")
        assert make.markup_name in screen_text(app)
        assert "[red]shuffle[/red]" in screen_text(app)


async def test_the_filter_keeps_layers_by_name_or_onnx_node_and_escape_drops_it(
    session: Any, make: Any, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        tree = panes_of(app).layer_tree
        await pilot.press("f", *"reducemean")
        await pilot.pause()
        assert [row.text for row in tree.rows] == [make.foreign_name]
        await pilot.press("enter", "escape")
        await pilot.pause()
        assert (tree.shown_layers, tree.count_text) == (6, "5+1")


@pytest.mark.slow
async def test_a_click_selects_a_row_and_its_arrow_opens_it(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.click("#tab-layers")
        tree = panes_of(app).layer_tree
        first = len(tree.header(tree.size.width))
        await pilot.click("#layers", offset=(10, first + 1))
        await pilot.pause()
        assert tree.cursor == 1
        await pilot.press("escape")
        rows = tree.row_count()
        await pilot.click("#layers", offset=(1, first + 1))
        assert tree.row_count() > rows


@pytest.mark.slow
async def test_a_build_that_names_no_layer_yet_may_still_do_so(
    slow_session: Any, screen_text: ScreenText, parsed: Any, make: Any
) -> None:
    slow_session.so_far = make.log_of(make.Scribe(), make.unknown_build(make.Scribe()))
    app = log_app(slow_session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2")
        assert "the log is still being read" in screen_text(app)


async def test_columns_are_chosen_widened_grouped_and_two_layers_compared(
    session: Any, parsed: Any, screen_text: ScreenText
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        tree = panes_of(app).layer_tree
        await pilot.press("2", "comma", "space", *["down"] * 2, "plus", "escape")
        await pilot.pause()
        titles = {cell.title: cell.width for cell in tree._cells}
        assert "kind" not in titles
        assert titles["compute"] == 12
        listed = {id(row.entry) for row in tree.rows if row.entry and row.entry.in_engine}
        await pilot.press("percent_sign")
        assert {id(row.entry) for row in tree.rows if row.entry} == listed
        sections = [row for row in tree.rows if row.entry is None]
        assert all(" ms" in row.label for row in sections)
        assert len(sections) > 1
        await pilot.press("m", "end", "M")
        assert isinstance(app.screen, Dialog)
        assert "layer" in screen_text(app)
        await pilot.press("escape", "H")
        assert "4 layers by" in screen_text(app) or "layers by ms" in screen_text(app)
        await pilot.press("escape", "w")
        assert "The whole row" in screen_text(app)
        await pilot.press("escape", "s", "S")
        assert tree._order.mark in screen_text(app)
        assert not tree._order.descending


async def test_the_prompt_says_what_it_is_completes_values_and_keeps_what_it_cannot_read(
    session: Any, parsed: Any, screen_text: ScreenText
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "f", *"kind:Cask")
        await pilot.pause(0.2)
        assert " filter\u203a kind:Cask" in screen_text(app)
        await pilot.press("tab")
        assert app.first.prompt.value == "kind:Caskconvolution"
        await pilot.press(*" nofield:x", "enter")
        assert app.first.prompt.display
        assert "there is no field 'nofield'" in screen_text(app)
        assert app.first.prompt.value.endswith("nofield:x")
        await pilot.press("escape", "slash", "ctrl+r", *"(a", "enter")
        assert " search regex\u203a (a" in screen_text(app)
        assert "is no regular expression" in screen_text(app)


@for_each(
    "index, kept_by, asked, why",
    [
        (None, NO_FILTER, "", "the log is still being read"),
        ((), NO_FILTER, "a warp", "no layer: a warp"),
        ((), NO_FILTER, "", "the log names no layers; those of trtexec --verbose and polygraphy -vv do"),
    ],
)
def test_a_list_without_rows_says_why(index: object, kept_by: object, asked: str, why: str) -> None:
    listed: Any = SimpleNamespace(_index=index, kept_by=kept_by, asked=asked)
    assert LayerTree._why_empty(listed) == why
