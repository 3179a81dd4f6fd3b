"""The base of the screens about one list, which the keys filter and search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from trtforensics.tables.filtering import FilterError
from trtforensics.tui.rows.pieces import Row
from trtforensics.tui.screen import SourceScreen
from trtforensics.tui.widgets.search import Prompt, Purpose

if TYPE_CHECKING:
    from trtforensics.tui.widgets.row_list import RowList


class ListScreen(SourceScreen, Generic[Row]):
    """A list of rows; subclasses fill it and say what a search finds in a row."""

    def __init__(self, source: str, rows: RowList[Row]) -> None:
        super().__init__(source)
        self.rows = rows
        self._needle = ""

    def text_of(self, row: Row) -> str:
        """Return what a search looks in."""
        raise NotImplementedError

    def action_ask_filter(self) -> None:
        """Ask which rows to keep."""
        self.prompt.ask(Purpose.FILTER, self.rows.kept_by.text, self.rows.fields, self.rows.every)

    def action_ask_search(self) -> None:
        """Ask for a text in the rows."""
        self.prompt.ask(Purpose.SEARCH, self._needle)

    def action_search(self, backwards: bool) -> None:  # noqa: FBT001 - Textual passes actions' arguments by position
        """Go to the next row that holds the text, or the previous one."""
        rows = self.rows.rows
        start, step = self.rows.cursor, -1 if backwards else 1
        order = ((start + step * turn) % len(rows) for turn in range(1, len(rows) + 1)) if rows and self._needle else ()
        wanted = self._needle.lower()
        place = next((place for place in order if wanted in self.text_of(rows[place]).lower()), None)
        if place is not None:
            self.rows.go_to(place, center=True)
        elif self._needle:
            self.say(f"{self._needle!r} is in no {self.rows.presentation.noun}")
        else:
            self.say("nothing to search for; type / and a text")

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        """Filter or search."""
        if event.purpose is Purpose.FILTER:
            try:
                self.rows.filter(event.text)
                self.say("")
            except FilterError as error:
                self.say(str(error))
        else:
            self._needle = event.text
            self.action_search(backwards=False)
        if event.done:
            self.rows.focus()

    def on_prompt_dismissed(self, event: Prompt.Dismissed) -> None:
        """Go back to the rows; if the prompt was the filter, drop it."""
        if event.purpose is Purpose.FILTER:
            self.rows.filter("")
            self.say("")
        self.rows.focus()

    def action_leave(self) -> None:
        """Drop the filter; without one, go back to the source below."""
        if self.rows.kept_by.text:
            self.rows.filter("")
            self.say("")
        else:
            self.go_back()
