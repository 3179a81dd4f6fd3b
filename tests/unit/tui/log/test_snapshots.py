"""What the TUI looks like: each screen at three sizes, dark and light."""

from __future__ import annotations

import re
from difflib import unified_diff
from pathlib import Path
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
STORED = Path(__file__).parent / "__snapshots__" / "test_snapshots"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("keys", [pytest.param(keys, id=name) for name, keys in SCREENS.items()])
def test_it_looks_as_it_did(  # noqa: PLR0913, PLR0917 - what is shown, and how
    snap_compare: Callable[..., bool],
    request: pytest.FixtureRequest,
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
        pictures.append(pilot.app.export_screenshot(simplify=True))

    pictures: list[str] = []
    same = snap_compare(LogApp(session), terminal_size=size, run_before=run_before)
    assert same, difference(STORED / f"{request.node.name}.svg", pictures[-1])


def difference(stored: Path, picture: str) -> str:
    """Return the lines of a picture that are not those of the stored one: a report in HTML is lost with its machine."""
    before, now = (re.sub(r"terminal-([0-9]+-)?", "", text).splitlines() for text in (stored.read_text(), picture))
    return "\n".join(line[:300] for line in unified_diff(before, now, "stored", "shown", lineterm="", n=0))
