"""The keys that the help names."""

from __future__ import annotations

from typing import Any

from tests.support.screens import SIZE
from trtforensics.tui.log.app import LogApp
from trtforensics.tui.log.keys import KEYS


async def test_every_key_the_help_names_is_bound(session: Any, parsed: Any) -> None:
    app = LogApp(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        bound = set(app.screen.active_bindings)
        await pilot.press("2")
        bound |= set(app.screen.active_bindings)
    spelled = [key for title, keys in KEYS if "marks" not in title for words, _ in keys for key in words.split()]
    tokens = {key if len(key) == 1 else key.lower().rstrip(",") for key in spelled} - {"in", "the", "log", "findings"}
    names = {"?": "question_mark", "/": "slash", "[": "left_square_bracket", "]": "right_square_bracket"}
    names |= {"↑": "up", "↓": "down", "←": "left", "→": "right", "pgup": "pageup", "pgdn": "pagedown", "esc": "escape"}
    assert {names.get(token, token) for token in tokens} <= bound
    assert len(tokens) > 30
