"""The base of the screens that show rows beside files: search in a file, filter of the rows, status line."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from trtforensics.tui.bindings import bound
from trtforensics.tui.rows.pieces import Piece, Role
from trtforensics.tui.screen import SourceScreen
from trtforensics.tui.widgets.log_view import LogView
from trtforensics.tui.widgets.search import Prompt, Purpose, find_around
from trtforensics.tui.widgets.work import in_thread

if TYPE_CHECKING:
    from textual.binding import BindingType

    from trtforensics.tui.widgets.virtual_list import VirtualList


class FilesScreen(SourceScreen):
    """A list of rows and the text of files that follow it. Subclasses lay both out and fill the list."""

    TEXT: ClassVar[str] = "file"
    """What a text is called in which a search finds nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [*bound("FilesScreen")]

    def __init__(self, source: str, rows: VirtualList) -> None:
        super().__init__(source)
        self.rows = rows
        self.kept = ""
        """The filter: a text that the layer names of the rows in view contain."""
        self._needle = ""
        self._searched: LogView | None = None

    def fill(self) -> None:
        """Show the rows whose layer names contain ``kept``."""
        raise NotImplementedError

    def status(self) -> str:
        """Return what the status line says of the rows."""
        raise NotImplementedError

    def say(self, note: str) -> None:
        """Show the status line: of the rows, the filter, and the note."""
        kept = Piece(f" · layers with {self.kept!r}" if self.kept else "", Role.ACCENT)
        note = f" · {note}" if note else ""
        self.status_bar.show(Piece(f" {self.status()}", Role.DIM), kept, Piece(note, Role.ACCENT))

    def open_view(self, view: LogView) -> None:
        """Bring a text into view and focus it."""
        view.focus()

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        """Search or filter."""
        if event.purpose is Purpose.FILTER:
            self.kept = event.text
            self.fill()
            if event.done:
                self.rows.focus()
            return
        self._needle = event.text
        view = self._text_view()
        view.mark(event.text)
        self.open_view(view)
        self._find(backwards=False, here=True)

    def on_prompt_dismissed(self, event: Prompt.Dismissed) -> None:
        """Go back to the rows; if the prompt was the filter, drop it."""
        if event.purpose is Purpose.FILTER:
            self.drop_filter()
        self.rows.focus()

    def _find(self, *, backwards: bool, here: bool) -> None:
        """Search the text in view from its cursor, in a thread, and show the match unless another search has begun."""
        view, needle = self._text_view(), self._needle
        find = partial(find_around, view.text, needle, view.current_line, backwards=backwards, here=here)

        def show(match: tuple[int | None, bool]) -> None:
            line, _ = match
            if needle != self._needle:
                return
            if line is None:
                self.say(f"{needle!r} is nowhere in this {self.TEXT}")
            else:
                view.show_match(line)
                self.say(f"{needle!r} at line {line:,}")

        in_thread(self, find, show, group="search")

    def action_ask_search(self) -> None:
        """Ask what to search for in the file under the focus."""
        self._searched = self._text_view()  # before the prompt takes the focus
        self.prompt.ask(Purpose.SEARCH, self._needle)

    def action_search(self, backwards: bool) -> None:  # noqa: FBT001 - Textual passes actions' arguments by position
        """Go to the next match, or the previous one."""
        if self._needle:
            self._find(backwards=backwards, here=False)
        else:
            self.say("nothing to search for; type / and a text")

    def action_ask_filter(self) -> None:
        """Ask which layers to keep."""
        self.prompt.ask(Purpose.FILTER, self.kept)

    def drop_filter(self) -> bool:
        """Show all rows again, and return whether some were hidden."""
        was, self.kept = self.kept, ""
        if was:
            self.fill()
        return bool(was)

    def action_leave(self) -> None:
        """Drop the filter; without one, go back to the source below."""
        if not self.drop_filter():
            self.go_back()

    def _text_view(self) -> LogView:
        """Return the focused text, else the text searched last, else the last text."""
        views = list(self.query(LogView))
        return next((view for view in views if view.has_focus), self._searched or views[-1])
