"""Asks for the name of a file to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Input

from trtforensics.tui.rows.pieces import Piece
from trtforensics.tui.widgets.virtual_list import LineBar

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


class FileQuestion(ModalScreen[str]):
    """One line at the bottom of the screen; it returns the name, or "" after Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Cancel", show=False)]

    def __init__(self, question: str, proposed: str) -> None:
        super().__init__()
        self._question = f" {question}: "
        self._proposed = proposed

    def compose(self) -> ComposeResult:
        """Show the question before the answer."""
        with Horizontal():
            label = LineBar((Piece(self._question),))
            label.styles.width = len(self._question)
            yield label
            yield Input(self._proposed, compact=True, select_on_focus=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the name."""
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        """Return no name."""
        self.dismiss("")
