"""The base of the apps that show rows beside files: search in a file, filter of the rows, status line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.message import Message

from trtforensics.tui.copying import CopyingApp
from trtforensics.tui.rows.pieces import Piece, Role
from trtforensics.tui.terminal_app import BAD_INPUT
from trtforensics.tui.widgets.help import Keys, show_help
from trtforensics.tui.widgets.search import Match, Prompt, Purpose, search_view
from trtforensics.tui.widgets.text_pane import TextPane
from trtforensics.tui.widgets.virtual_list import LineBar

if TYPE_CHECKING:
    from textual.binding import BindingType

    from trtforensics.errors import ForensicsError


class Failed(Message):
    """A source cannot be used."""

    def __init__(self, error: ForensicsError) -> None:
        super().__init__()
        self.error = error


class RowsApp(CopyingApp):
    """A list of rows and panes of text that follow it. Subclasses compose them and fill the list."""

    KEYS: ClassVar[Keys] = ()

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("slash", "ask_search", "Search", key_display="/"),
        Binding("n", "search(False)", "Next"),
        Binding("N", "search(True)", "Previous", show=False),
        Binding("f", "ask_filter", "Filter"),
        Binding("p", "prefixes", "Prefix", show=False),
        Binding("escape", "unfilter", "Drop filter", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.prompt = Prompt()
        self._needle = ""
        self._searched: TextPane | None = None
        self.kept = ""
        """The filter: a text that the layer names of the rows in view contain."""

    def fill(self) -> None:
        """Show the rows whose layer names contain ``kept``."""
        raise NotImplementedError

    def main_list(self) -> str:
        """Return the selector of the list of rows."""
        raise NotImplementedError

    def say(self, text: str, note: str = "") -> None:
        """Show the status line."""
        kept = Piece(f" · layers with {self.kept!r}" if self.kept else "", Role.ACCENT)
        self.query_one("#status", LineBar).show(
            Piece(f" {text}", Role.DIM), kept, Piece(f" · {note}" if note else "", Role.ACCENT)
        )

    def status(self, note: str = "") -> None:
        """Show the status of the view, and a note."""
        raise NotImplementedError

    def on_failed(self, event: Failed) -> None:
        """Exit with the error; the command prints it."""
        self.exit(event.error, return_code=BAD_INPUT)

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        """Search or filter."""
        if event.purpose is Purpose.FILTER:
            self.kept = event.text
            self.fill()
            if event.done:
                self.query_one(self.main_list()).focus()
            return
        self._needle = event.text
        pane = self._pane()
        pane.view.mark(event.text)
        pane.view.focus()
        search_view(pane.view, pane.text, self._needle, backwards=False, here=True)

    def on_prompt_dismissed(self, event: Prompt.Dismissed) -> None:
        """Go back to the rows; if the prompt was the filter, drop it."""
        if event.purpose is Purpose.FILTER:
            self.action_unfilter()
        self.query_one(self.main_list()).focus()

    def on_match(self, event: Match) -> None:
        """Show the match, unless another search has begun."""
        if event.needle == self._needle:
            event.show(self.status, "file")

    def action_help(self) -> None:
        """Show the keys."""
        show_help(self, self.KEYS)

    def action_ask_search(self) -> None:
        """Ask what to search for in the file under the focus."""
        self._searched = self._pane()  # before the prompt takes the focus
        self.prompt.ask(Purpose.SEARCH, self._needle)

    def action_ask_filter(self) -> None:
        """Ask which layers to keep."""
        self.prompt.ask(Purpose.FILTER, self.kept)

    def action_unfilter(self) -> None:
        """Show all rows again."""
        if self.kept:
            self.kept = ""
            self.fill()

    def action_prefixes(self) -> None:
        """Hide the loggers' prefixes, or show them again."""
        for pane in self.query(TextPane):
            pane.view.toggle_prefixes()

    def action_search(self, backwards: bool) -> None:  # noqa: FBT001 - Textual passes actions' arguments by position
        """Go to the next match, or the previous one."""
        if self._needle:
            pane = self._pane()
            search_view(pane.view, pane.text, self._needle, backwards=backwards, here=False)
        else:
            self.status("nothing to search for; type / and a text")

    def _pane(self) -> TextPane:
        """Return the focused pane, else the pane searched last, else the last pane."""
        panes = list(self.query(TextPane))
        return next((pane for pane in panes if pane.has_focus_within), self._searched or panes[-1])
