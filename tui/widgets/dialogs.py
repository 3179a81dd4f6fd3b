"""Dialogs that every screen opens: the help, and the question for a file's name."""

from __future__ import annotations

from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Input

from trtforensics.tui.rows.pieces import Line, Piece, Presentation, Role, fit
from trtforensics.tui.widgets.row_list import RowList
from trtforensics.tui.widgets.virtual_list import LineBar

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


Keys = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
LONGEST_KEY = 19
"""Columns of the keys; a test holds that all keys fit."""


def keys_of(screen: str) -> Keys:
    """Return the titles of a screen's groups, each with its keys and what they do; ``keys.tsv`` names the screens."""
    _, *lines = (files("trtforensics.tui") / "keys.tsv").read_text("utf-8").splitlines()
    rows = [
        (group, key, does)
        for screens, group, key, does in (line.split("\t") for line in lines)
        if screen in screens.split()
    ]
    return tuple((group, tuple(row[1:] for row in members)) for group, members in groupby(rows, key=lambda row: row[0]))


def help_lines(keys: Keys) -> list[Line]:
    """Return the help as lines."""
    lines: list[Line] = []
    for title, of_title in keys:
        lines.append((Piece(f" {title}", Role.TITLE),))
        lines += [(Piece(f"  {fit(key, LONGEST_KEY)} ", Role.ACCENT), Piece(f"{text} ")) for key, text in of_title]
    return lines


class HelpText(RowList[Line]):
    """The help, scrollable on a small terminal."""

    def __init__(self, keys: Keys) -> None:
        super().__init__(Presentation(pieces=lambda line, _: line))
        self.rows = help_lines(keys)

    def action_move(self, by: int) -> None:
        """Scroll, as the text has no cursor."""
        self.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by a page."""
        self.scroll_relative(y=by * self.rows_in_view(), animate=False)


class HelpScreen(ModalScreen[None]):
    """The help above the screen in view; Escape, ? and q close it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss", "Close", show=False)]

    def __init__(self, keys: Keys) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Show the text."""
        text = HelpText(self._keys)
        text.border_title = "Keys"
        text.border_subtitle = "q, Esc or ? to close"
        text.styles.height = text.row_count() + 2
        yield text

    def on_screen_resume(self) -> None:
        """Show the text from its beginning."""
        self.query_one(HelpText).scroll_home(animate=False)


class FileQuestion(ModalScreen[str]):
    """One line at the bottom of the screen; it returns the name, or "" after Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss('')", "Cancel", show=False)]

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
