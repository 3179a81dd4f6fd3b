"""The base of the screens about one list, which the keys filter, with the texts beside it, which the keys search."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from trtforensics.tables.table import FilterError
from trtforensics.tui.rows.pieces import Piece, Role, Row
from trtforensics.tui.screen import SourceScreen
from trtforensics.tui.searching import LogSearch, RowSearch
from trtforensics.tui.widgets.log_view import LogView
from trtforensics.tui.widgets.search import Asking, Prompt
from trtforensics.tui.widgets.virtual_list import VirtualList
from trtforensics.tui.widgets.work import in_thread

_Result = TypeVar("_Result")


class ListScreen(SourceScreen, Generic[Row]):
    """A list of rows; subclasses fill it. A search looks in the texts of ``views``; without any, in the rows."""

    def __init__(self, source: str, rows: VirtualList[Row], *views: LogView) -> None:
        super().__init__(source)
        self.rows = rows
        self._searches = [LogSearch(view, self.say) for view in views]
        self._search = self._searches[-1] if views else RowSearch(rows, self.text_of, self.say)

    def begin(self, read: Callable[[], _Result | None], then: Callable[[_Result], object]) -> None:
        """Say that the rows are read, and let a thread read them once the screen is drawn."""
        self.rows.show((), "reading")
        self.rows.focus()
        self.say("")
        self.call_after_refresh(in_thread, self, read, then, group="read", failed=self.fail)

    def text_of(self, row: Row) -> str:
        """Return what a search in the rows looks in."""
        raise NotImplementedError

    def status(self) -> str:
        """Return what the status line says of the rows."""
        raise NotImplementedError

    def say(self, note: str) -> None:
        """Show the note, the filter, then what is said of the rows, which a narrow screen may cut."""
        kept = self.rows.kept_by.text
        self.status_bar.show(
            Piece(f" {note} ·" if note else "", Role.ACCENT),
            Piece(f" kept by {kept!r} ·" if kept else "", Role.ACCENT),
            Piece(f" {self.status()}", Role.DIM),
        )

    @property
    def search(self) -> LogSearch | RowSearch[Row]:
        self._search = next((each for each in self._searches if each.view.has_focus), self._search)
        return self._search

    def open_view(self, view: VirtualList[Any]) -> None:
        """Bring the list or the text that was searched into view, and focus it."""
        view.focus()

    def action_ask_filter(self) -> None:
        self.prompt.ask(Asking.FILTER, self.rows.kept_by.text, self.rows.presentation.filters, self.rows.every)

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        if event.purpose is Asking.FILTER:
            try:
                self.rows.filter(event.text)
                self.say("")
            except FilterError as error:
                self.say(str(error))
            if event.done:
                self.rows.focus()
            return
        if event.done:
            self.open_view(self._search.view)
        self._search.begin(event.text, regex=event.regex)

    def on_prompt_dismissed(self, event: Prompt.Dismissed) -> None:
        if event.purpose is Asking.FILTER:
            self.drop_filter()
        self.rows.focus()

    def drop_filter(self) -> bool:
        """Show all rows again, and return whether a filter hid some."""
        was = bool(self.rows.kept_by.text)
        if was:
            self.rows.filter("")
            self.say("")
        return was

    def action_leave(self) -> None:
        if not self.drop_filter():
            self.go_back()
