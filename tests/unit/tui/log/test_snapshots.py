"""What the TUI looks like, at a fixed size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.screens import SIZE
from trtforensics.tui.log.app import LogApp

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param((), id="overview"),
        pytest.param(("2", "right"), id="layer"),
        pytest.param(("5", "space"), id="findings"),
        pytest.param(("question_mark",), id="help"),
    ],
)
def test_it_looks_as_it_did(
    snap_compare: Callable[..., bool], session: Any, parsed: Any, keys: tuple[str, ...]
) -> None:
    async def run_before(pilot: Any) -> None:
        await parsed(pilot)
        for key in keys:
            await pilot.press(key)
        await pilot.pause()

    assert snap_compare(LogApp(session), terminal_size=SIZE, run_before=run_before)
