"""The keys: each is bound, in the help and in the docs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.for_each import for_each
from tests.support.repository import ROOT
from tests.support.screens import SIZE, log_app
from trtforensics.tui.app import TerminalApp
from trtforensics.tui.log.layer_tree import LayerTree
from trtforensics.tui.log.screen import LogScreen
from trtforensics.tui.screen import SourceScreen
from trtforensics.tui.widgets.dialogs import keys_of
from trtforensics.tui.widgets.row_list import FoldingList
from trtforensics.tui.widgets.search import Prompt
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from textual.binding import Binding

NAMES = {"?": "question_mark", "/": "slash", "[": "left_square_bracket", "]": "right_square_bracket"}
NAMES |= {
    "'": "apostrophe",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    "&": "ampersand",
    "%": "percent_sign",
    ",": "comma",
}
NAMES |= {"↑": "up", "↓": "down", "←": "left", "→": "right", "pgup": "pageup", "pgdn": "pagedown", "esc": "escape"}
WORDS = {"in", "the", "log", "findings", "input", "on", "bars"}
OF_TEXTUAL = {"ctrl+c", "ctrl+b", "ctrl+f", "G"}
"""Keys that need no line of help: they do what keys beside them do, or what they do everywhere."""


def helped() -> set[str]:
    """Return the keys that the help names, as Textual names them."""
    spelled = [
        key for title, keys in keys_of("log") if "marks" not in title for words, _ in keys for key in words.split()
    ]
    tokens = {key if len(key) == 1 else key.lower() for key in spelled} - WORDS
    return {NAMES.get(token, token) for token in tokens}


def bindings() -> dict[str, set[str]]:
    """Return the keys of each action of the log's screen and of its lists."""
    found: dict[str, set[str]] = {}
    for owner in (TerminalApp, SourceScreen, LogScreen, VirtualList, FoldingList, LayerTree, Prompt):
        declared: list[Binding] = list(owner.__dict__.get("BINDINGS", ()))
        for binding in declared:
            found.setdefault(f"{owner.__name__}.{binding.action}", set()).update(binding.key.split(","))
    return found


def test_every_key_the_help_names_is_bound() -> None:
    assert helped() <= set().union(*bindings().values()) | {"tab", "shift+tab", "ctrl+p"}
    assert len(helped()) > 40


@for_each(("action", "keys"), sorted(bindings().items()))
def test_every_binding_is_in_the_help(action: str, keys: set[str]) -> None:
    assert keys & (helped() | OF_TEXTUAL), action


def test_the_docs_list_the_keys_of_the_help() -> None:
    docs = (ROOT / "docs" / "tui.md").read_text("utf-8")
    for title, keys in keys_of("log"):
        assert not title or f"## {title}" in docs
        for key, text in keys:
            assert f"| `{key}` | {text} |" in docs, key


async def test_the_help_opens_and_closes(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("question_mark")
        assert len(app.screen_stack) == 2
        await pilot.press("question_mark")
        assert len(app.screen_stack) == 1
