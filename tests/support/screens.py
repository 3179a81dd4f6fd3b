"""What tests of the TUI ask of the screen of a log, and the types of the fixtures that all its tests use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pytest

from trtforensics.tui.app import TerminalApp
from trtforensics.tui.log.screen import LogScreen
from trtforensics.tui.screen import SourceScreen

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot

    from trtforensics.tui.log.panes import Panes
    from trtforensics.tui.rows.pieces import Line

ScreenText = Callable[["App[Any]"], str]
Until = Callable[["Pilot[Any]", Callable[[], bool]], Awaitable[None]]

SIZE = (120, 36)


Shown = TypeVar("Shown", bound=SourceScreen)


class AppOn(TerminalApp, Generic[Shown]):
    """The app on the screen of a source, which tests look into."""

    def __init__(self, first: Shown) -> None:
        super().__init__(first)
        self.first = first


LogApp = AppOn[LogScreen]


def log_app(session: Any) -> LogApp:
    """Return the app on a build log."""
    return AppOn(LogScreen(session))


def panes_of(app: LogApp) -> Panes:
    return app.first._panes


def log_line(app: LogApp) -> int:
    """Return the line under the cursor of the raw log."""
    return panes_of(app).log_view.current_line


def text_at(session: Any, line: int) -> str:
    return str(session.text.line(line))


def text_of(line: Line) -> str:
    """Return a row without its roles."""
    return "".join(piece.text for piece in line)


PICTURES = [
    pytest.param((80, 24), "dark", id="80x24-dark"),
    pytest.param((120, 40), "light", id="120x40-light", marks=pytest.mark.slow),
]
"""The size and the theme of each picture of a screen: the smallest terminal, and a usual one with the slow tests."""
