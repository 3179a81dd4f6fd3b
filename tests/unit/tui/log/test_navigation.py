"""Nodes, neighbours, details, questions, near ties, and the way back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.screens import SIZE, LogApp, ScreenText, log_app, log_line, panes_of
from trtforensics.model.log import EngineTensor
from trtforensics.tui.log.dialogs import DetailScreen, NeighbourScreen
from trtforensics.tui.log.screen import Place


def selected_text(app: LogApp) -> str:
    row = panes_of(app).layer_tree.selected
    assert row is not None
    return row.text


@pytest.fixture
def chained(session: Any) -> Any:
    """The sample, where each layer reads what the layer before it writes."""
    build = session.outcome.builds[0]
    names = [f"t{place}" for place in range(len(build.engine_layers) + 1)]
    layers = tuple(
        replace(
            one,
            inputs=(EngineTensor(names[place], "Half", (1, 64), "Channel last", 8),),
            outputs=(EngineTensor(names[place + 1], "Half", (1, 64), "Channel last", 8),),
        )
        for place, one in enumerate(build.engine_layers)
    )
    builds = (replace(build, engine_layers=layers), *session.outcome.builds[1:])
    session.outcome = replace(session.outcome, builds=builds)
    return session


def test_a_place_is_its_line_in_the_log_and_its_row_in_other_panes() -> None:
    log, layers = Place(0, "log", None, 3, 70), Place(0, "layers", None, 3, 70)
    assert log.is_at(replace(log, cursor=9))
    assert not log.is_at(replace(log, line=71))
    assert layers.is_at(replace(layers, line=71))
    assert not layers.is_at(replace(layers, cursor=9))
    assert not layers.is_at(log)
    assert not layers.is_at(replace(layers, build=1))


async def test_a_line_without_a_combination_leaves_its_layer_closed(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        tree = panes_of(app).layer_tree
        closed, entry = tree.row_count(), tree.current_entry
        assert entry is not None
        tree.reveal(entry)
        assert tree.row_count() == closed


@pytest.mark.slow
async def test_neighbours_are_walked_and_the_way_leads_back(chained: Any, parsed: Any, screen_text: ScreenText) -> None:
    app = log_app(chained)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "x")
        assert isinstance(app.screen, NeighbourScreen)
        picture = screen_text(app)
        assert "┌─FP16 ─ an input of the network" in picture
        assert "● conv1 + relu1" in picture
        assert "└─FP16 ─ pool1" in picture
        await pilot.press("down")
        assert "Half[1,64]:8 Channel last t1" in screen_text(app)
        await pilot.press("right")
        assert app.screen.walked[-1].name == "pool1"
        assert "from conv1 + relu1" in screen_text(app)
        await pilot.press("left")
        assert app.screen.walked[-1].name == "conv1 + relu1"
        lines = app.screen.list.row_count()
        await pilot.press("minus")
        assert app.screen.list.row_count() < lines
        await pilot.press("down", "enter", "escape")
        await pilot.pause()
        assert selected_text(app) == "pool1"
        await pilot.press("b")
        await pilot.pause()
        assert selected_text(app) == "conv1 + relu1"
        await pilot.press("F")
        await pilot.pause()
        assert selected_text(app) == "pool1"


@pytest.mark.slow
async def test_a_layer_that_shares_no_tensor_says_so(chained: Any, parsed: Any, screen_text: ScreenText) -> None:
    first = chained.outcome.builds[0].engine_layers[0]
    first.inputs = first.outputs = ()
    app = log_app(chained)
    async with app.run_test(size=(80, 24)) as pilot:
        await parsed(pilot)
        await pilot.press("2", "x")
        assert "Neighbours: none, as the log names no tensor that it shares" in screen_text(app)


async def test_enter_on_a_layer_opens_its_detail_and_enter_there_shows_the_line(
    session: Any, parsed: Any, screen_text: ScreenText
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "enter")
        assert isinstance(app.screen, DetailScreen)
        assert "FP32 354 % slower" in screen_text(app)
        await pilot.press("down", "enter")
        await pilot.pause()
        assert not isinstance(app.screen, DetailScreen)
        assert log_line(app) == session.outcome.builds[0].choices[0].span.line


@pytest.mark.slow
async def test_nodes_say_what_became_of_them_and_enter_shows_the_layer(
    session: Any, parsed: Any, screen_text: ScreenText
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("o")
        await pilot.pause()
        assert "engine layer 4" in screen_text(app)
        await pilot.press("f", *"relu1", "enter", "enter")
        await pilot.pause()
        assert panes_of(app).tab == "layers"
        assert selected_text(app) == "conv1 + relu1"
        await pilot.press("b")
        await pilot.pause()
        assert panes_of(app).tab == "nodes"


@pytest.mark.slow
async def test_a_filter_without_layers_leads_to_the_nodes_and_else_to_the_log(
    session: Any, parsed: Any, screen_text: ScreenText
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "f", *"sparsity", "enter")
        await pilot.pause()
        assert "no layer is kept by 'sparsity'" in screen_text(app)
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "Sparsity" in session.text.line(log_line(app))


@pytest.mark.slow
async def test_questions_are_asked_in_turn_and_escape_drops_them(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        tree = panes_of(app).layer_tree
        await pilot.press("2", "a")
        assert (tree.asked, [row.text for row in tree.rows]) == ("near ties", ["pool1"])
        await pilot.press("A")
        assert tree.asked == ""
        await pilot.press("a", "escape")
        assert (tree.asked, tree.shown_layers) == ("", 6)


@pytest.mark.slow
async def test_the_threshold_of_near_ties_moves(session: Any, parsed: Any, screen_text: ScreenText) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "down")
        assert "near ties 1" in screen_text(app)
        await pilot.press("<", "<")
        await pilot.pause()
        assert "near ties 0" in screen_text(app)
        assert "at most 0.5 % slower" in screen_text(app)
        await pilot.press(">")
        await pilot.pause()
        assert "near ties 1" in screen_text(app)
        assert selected_text(app) == "pool1"


@pytest.mark.slow
async def test_a_wrong_filter_says_at_which_column_and_keeps_the_rows(
    session: Any, parsed: Any, screen_text: ScreenText
) -> None:
    app = log_app(session)
    async with app.run_test(size=(160, 40)) as pilot:
        await parsed(pilot)
        await pilot.press("2", "f", *"type:half")
        kept = panes_of(app).layer_tree.shown_layers
        await pilot.press(*" nmae:x", "home")
        app.first.prompt.value = "type:half nmae:x"
        await pilot.pause()
        assert "column 11: there is no field 'nmae'" in screen_text(app)
        app.first.prompt.value = "type:half"
        await pilot.pause()
        app.first.prompt.value = "type:half time>x"
        await pilot.pause()
        assert "column 16: 'x' is no number" in screen_text(app)
        assert panes_of(app).layer_tree.shown_layers == kept > 0


@pytest.mark.parametrize(
    ("keys", "pane", "count"),
    [
        (("2", "f", *"margin<2%"), "layers", 1),
        pytest.param(("2", "3", "f", *"runner:cudnn"), "candidates", 4, marks=pytest.mark.slow),
        pytest.param(("6", "f", *"severity:error"), "messages", 1, marks=pytest.mark.slow),
        pytest.param(("5", "f", *"pool1"), "findings", 1, marks=pytest.mark.slow),
        pytest.param(("o", "f", *"op:conv"), "nodes", 1, marks=pytest.mark.slow),
    ],
)
async def test_every_list_is_filtered_by_its_fields(
    session: Any, parsed: Any, keys: tuple[str, ...], pane: str, count: int
) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press(*keys, "enter")
        await pilot.pause()
        target = panes_of(app).list_of(pane)
        assert target.has_focus
        assert target.row_count() == count
        await pilot.press("escape")
        assert target.row_count() > count


@pytest.mark.slow
async def test_the_log_of_a_narrow_screen_is_a_drawer(session: Any, parsed: Any, screen_text: ScreenText) -> None:
    app = log_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await parsed(pilot)
        await pilot.press("2")
        assert "Raw log" not in screen_text(app)
        await pilot.press("4")
        await pilot.pause()
        assert "Raw log" in screen_text(app)
        assert "[V] [TRT]" not in screen_text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "Raw log" not in screen_text(app)
        assert panes_of(app).layer_tree.has_focus
        await pilot.press("3")
        await pilot.pause()
        assert "Candidates" in screen_text(app)
        assert "near ties" not in screen_text(app)
