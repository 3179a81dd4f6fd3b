"""What the TUI looks like: each screen once, the sizes and the themes in turn."""

from __future__ import annotations

import re
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.screens import log_app

if TYPE_CHECKING:
    from collections.abc import Callable

SCREENS = {
    "time-80x24-dark": (),
    "layer-200x60-light": ("2", "right"),
    "asked-80x24-dark": ("2", "s", "a"),
    "candidates-120x40-light": ("2", "3"),
    "nodes-80x24-light": ("o",),
    "neighbours-200x60-dark": ("2", "x"),
    "detail-120x40-dark": ("2", "enter"),
    "findings-200x60-dark": ("5", "space"),
    "lines-80x24-dark": ("4", "v"),
    "help-120x40-light": ("question_mark",),
}
"""The keys that lead to each; its name tells the size of the terminal and the theme."""

QUICK = {"time-80x24-dark", "candidates-120x40-light", "lines-80x24-dark", "nodes-80x24-light"}
"""Those that are drawn wherever tests run."""

STORED = Path(__file__).parent / "__snapshots__" / "test_snapshots"


@pytest.mark.parametrize(
    "screen", [pytest.param(screen, marks=[] if screen in QUICK else [pytest.mark.slow]) for screen in SCREENS]
)
def test_it_looks_as_it_did(  # noqa: PLR0913, PLR0917 - what is shown, and how
    snap_compare: Callable[..., bool],
    request: pytest.FixtureRequest,
    session: Any,
    parsed: Any,
    settled: Any,
    screen: str,
) -> None:
    _, size, theme = screen.split("-")
    columns, rows = map(int, size.split("x"))

    async def run_before(pilot: Any) -> None:
        pilot.app.theme = theme
        await parsed(pilot)
        await settled(pilot)
        for key in SCREENS[screen]:
            await pilot.press(key)
            await settled(pilot)
        pictures.append(pilot.app.export_screenshot(simplify=True))

    pictures: list[str] = []
    same = snap_compare(log_app(session), terminal_size=(columns, rows), run_before=run_before)
    assert same, difference(STORED / f"{request.node.name}.svg", pictures[-1])


def difference(stored: Path, picture: str) -> str:
    """Return the lines of a picture that are not those of the stored one: a report in HTML is lost with its machine."""
    before, now = (re.sub(r"terminal-([0-9]+-)?", "", text).splitlines() for text in (stored.read_text(), picture))
    return "\n".join(line[:300] for line in unified_diff(before, now, "stored", "shown", lineterm="", n=0))
