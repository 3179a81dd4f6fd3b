"""A key means the same on every screen, is in that screen's help, in the page of `tui`, and in the palette."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from textual.binding import Binding

from tests.support.for_each import for_each
from tests.support.repository import ROOT
from tests.support.screens import SIZE, log_app
from trtforensics.tui.app import TerminalApp
from trtforensics.tui.bisection import BisectionScreen
from trtforensics.tui.diff import DiffScreen
from trtforensics.tui.log.screen import LogScreen
from trtforensics.tui.model import ModelScreen
from trtforensics.tui.runs import RunsScreen
from trtforensics.tui.source import LayersScreen
from trtforensics.tui.widgets.dialogs import keys_of

if TYPE_CHECKING:
    from trtforensics.tui.screen import SourceScreen
    from trtforensics.tui.widgets.dialogs import Keys

SCREENS: list[type[SourceScreen]] = [LogScreen, DiffScreen, LayersScreen, BisectionScreen, ModelScreen, RunsScreen]

MEANINGS = {
    "left_square_bracket": {"build(-1)", "document(-1)"},
    "right_square_bracket": {"build(1)", "document(1)"},
}
"""Keys whose actions differ in name only: what they step through."""

SPELT = {
    "question_mark": "?",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "Esc",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "ampersand": "&",
    "apostrophe": "'",
    "backspace": "Backspace",
    "ctrl+c": "Ctrl+C",
}


def bindings(screen: type[SourceScreen]) -> dict[str, str]:
    """Return the actions of a screen's keys and of the app's, by key."""
    found: dict[str, str] = {}
    for cls in (TerminalApp, *reversed(screen.__mro__)):
        if cls.__module__.startswith("trtforensics"):
            for binding in cls.__dict__.get("BINDINGS", ()):
                assert isinstance(binding, Binding)
                found |= dict.fromkeys(binding.key.split(","), binding.action)
    return found


def words(keys: Keys) -> set[str]:
    """Return the keys that a help names."""
    return {word for title, lines in keys if "marks" not in title for spelt, _ in lines for word in spelt.split()}


def test_a_key_means_the_same_on_every_screen() -> None:
    actions: dict[str, set[str]] = {}
    for screen in SCREENS:
        for key, action in bindings(screen).items():
            actions.setdefault(key, set()).add(action)
    differing = {key: own for key, own in actions.items() if len(own) > 1 and not key.isdecimal()}
    assert {key: own for key, own in differing.items() if own != MEANINGS.get(key)} == {}


@for_each("screen", SCREENS)
def test_the_help_of_each_screen_names_all_its_keys(screen: type[SourceScreen]) -> None:
    assert {SPELT.get(key, key) for key in bindings(screen)} <= words(keys_of(screen.KEYS))


@for_each("screen", SCREENS)
def test_the_page_of_tui_names_all_keys(screen: type[SourceScreen]) -> None:
    text = (ROOT / "docs" / "reference" / "commands" / "tui.md").read_text(encoding="utf-8")
    section = text[text.index("\n## Keys\n") :]
    named = set(re.findall(r"`([^` ]+)`", section)) | set(re.findall(r"\b(Enter|Tab|Esc|Backspace)\b", section))
    digits = set("0123456")
    assert {SPELT.get(key, key) for key in bindings(screen)} - digits - named - {"Esc"} == set()


async def test_the_palette_lists_every_action_of_the_screen_and_its_lists(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        titles = {command.title for command in app.get_system_commands(app.screen)}
        panes = app.first._panes
        own = {
            binding.description
            for node in (app, app.first, panes.layer_tree, panes.log_view, panes.findings)
            for bindings_of_key in node._bindings.key_to_bindings.values()
            for binding in bindings_of_key
            if not binding.system
        }
        assert own - {""} <= titles
        assert "Theme: light" in titles
        assert len(titles) > 25


@pytest.mark.slow
async def test_the_palette_runs_an_action_of_another_list(session: Any, parsed: Any, until: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("ctrl+p")
        await pilot.press(*"findings")
        await pilot.pause(0.3)
        await pilot.press("enter")
        await until(pilot, lambda: app.first._panes.tab == "findings")
