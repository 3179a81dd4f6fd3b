"""What tests of the TUI ask of the screen of a log, and the types of the fixtures that all its tests use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot

    from trtforensics.tui.log.app import LogApp
    from trtforensics.tui.log.panes import Panes
    from trtforensics.tui.rows.pieces import Line

ScreenText = Callable[["App[Any]"], str]
Until = Callable[["Pilot[Any]", Callable[[], bool]], Awaitable[None]]

SIZE = (120, 36)


def panes_of(app: LogApp) -> Panes:
    return app._panes


def log_line(app: LogApp) -> int:
    """Return the line under the cursor of the raw log."""
    return panes_of(app).log_view.current_line


def text_at(session: Any, line: int) -> str:
    return str(session.text.line(line))


def text_of(line: Line) -> str:
    """Return a row without its roles."""
    return "".join(piece.text for piece in line)


SIZES = [pytest.param((columns, rows), id=f"{columns}x{rows}") for columns, rows in ((80, 24), (120, 40), (200, 60))]
"""The sizes of the pictures of each screen: the smallest terminal, a usual one, a large one."""
