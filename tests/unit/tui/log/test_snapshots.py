"""What the TUI looks like: each screen at three sizes, dark and light."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from trtforensics.tui.log.app import LogApp

if TYPE_CHECKING:
    from collections.abc import Callable

SCREENS = {
    "overview": (),
    "layer": ("2", "right"),
    "asked": ("2", "s", "a"),
    "candidates": ("2", "3"),
    "nodes": ("o",),
    "neighbours": ("2", "x"),
    "detail": ("2", "enter"),
    "findings": ("5", "space"),
    "lines": ("4", "v"),
    "help": ("question_mark",),
}
SIZES = ((80, 24), (120, 40), (200, 60))
THEMES = ("dark", "light")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("keys", [pytest.param(keys, id=name) for name, keys in SCREENS.items()])
def test_it_looks_as_it_did(  # noqa: PLR0913, PLR0917 - what is shown, and how
    snap_compare: Callable[..., bool],
    session: Any,
    parsed: Any,
    settled: Any,
    keys: tuple[str, ...],
    size: tuple[int, int],
    theme: str,
) -> None:
    async def run_before(pilot: Any) -> None:
        pilot.app.theme = theme
        await parsed(pilot)
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    assert snap_compare(LogApp(session), terminal_size=size, run_before=run_before)
