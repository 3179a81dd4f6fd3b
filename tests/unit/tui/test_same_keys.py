"""A key means the same on every screen, is in that screen's help, in README, and in the palette."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from textual.binding import Binding

from tests.support.repository import ROOT
from tests.support.screens import SIZE
from trtforensics.tui.bisection.app import BisectionApp
from trtforensics.tui.bisection.keys import KEYS as BISECTION_KEYS
from trtforensics.tui.diff.app import DiffApp
from trtforensics.tui.log.app import LogApp
from trtforensics.tui.log.keys import KEYS as LOG_KEYS
from trtforensics.tui.source.app import SourceApp

if TYPE_CHECKING:
    from trtforensics.tui.terminal_app import TerminalApp
    from trtforensics.tui.widgets.help import Keys

SCREENS: list[tuple[type[TerminalApp], Keys]] = [
    (LogApp, LOG_KEYS),
    (DiffApp, DiffApp.KEYS),
    (SourceApp, SourceApp.KEYS),
    (BisectionApp, BISECTION_KEYS),
]

MEANINGS = {
    "left_square_bracket": {"build(-1)", "document(-1)"},
    "right_square_bracket": {"build(1)", "document(1)"},
    "escape": {"unfilter", "leave"},
}
"""Keys whose actions differ in name only: what they step through, what they leave."""

SPELT = {
    "question_mark": "?",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "Esc",
    "ctrl+c": "Ctrl+C",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "ampersand": "&",
    "backspace": "Backspace",
}


def bindings(app: type[TerminalApp]) -> dict[str, str]:
    """Return the actions of a screen's own keys and of those of every app, by key."""
    found: dict[str, str] = {}
    for cls in reversed(app.__mro__):
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
    for app, _ in SCREENS:
        for key, action in bindings(app).items():
            actions.setdefault(key, set()).add(action)
    differing = {key: own for key, own in actions.items() if len(own) > 1 and not key.isdecimal()}
    assert {key: own for key, own in differing.items() if own != MEANINGS.get(key)} == {}


@pytest.mark.parametrize(("app", "keys"), SCREENS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_help_of_each_screen_names_all_its_keys(app: type[TerminalApp], keys: Keys) -> None:
    assert {SPELT.get(key, key) for key in bindings(app)} <= words(keys)


@pytest.mark.parametrize(("app", "keys"), SCREENS, ids=lambda value: getattr(value, "__name__", ""))
def test_readme_names_all_keys(app: type[TerminalApp], keys: Keys) -> None:  # noqa: ARG001 - of the table
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text[text.index("### The keys of `tui`") :]
    section = section[: section.index("\n### ", 4)]
    named = set(re.findall(r"`([^` ]+)`", section)) | set(re.findall(r"\b(Enter|Tab|Esc|Backspace)\b", section))
    digits = set("0123456")
    assert {SPELT.get(key, key) for key in bindings(app)} - digits - named - {"Esc"} == set()


async def test_the_palette_lists_every_action_of_the_screen_and_its_lists(session: Any, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        titles = {command.title for command in app.get_system_commands(app.screen)}
        own = {
            binding.description
            for node in (app, app._panes.layer_tree, app._panes.log_view, app._panes.findings)
            for bindings_of_key in node._bindings.key_to_bindings.values()
            for binding in bindings_of_key
            if not binding.system
        }
        assert own - {""} <= titles
        assert "Theme: light" in titles
        assert len(titles) > 25


async def test_the_palette_runs_an_action_of_another_list(session: Any, parsed: Any, until: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("ctrl+p")
        await pilot.press(*"findings")
        await pilot.pause(0.3)
        await pilot.press("enter")
        await until(pilot, lambda: app._panes.tab == "findings")
