"""The base of every app of the TUI: it ends with an error of the input or None, and obeys NO_COLOR."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.filter import NoColor

from trtforensics.errors import ForensicsError

if TYPE_CHECKING:
    from textual.types import CSSPathType

BAD_INPUT = 2
"""The exit code of a source that cannot be parsed."""

STYLE = Path(__file__).with_name("terminal_app.tcss")
"""The style sheet of every app. The path is absolute, as Textual resolves a relative path beside the subclass."""


class TerminalApp(App[ForensicsError]):
    """``run()`` returns the error that ended it, or None when the user quit."""

    CSS_PATH: ClassVar[CSSPathType | None] = STYLE
    TITLE = "trtforensics"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self) -> None:
        # By default Textual turns NO_COLOR into shades of grey; with ANSI colours its filter drops all colour.
        no_color = "NO_COLOR" in os.environ
        super().__init__(ansi_color=True if no_color else None)
        if no_color and not self.no_color:
            self.no_color = True
            self._filters.append(NoColor())
