"""The prompt at the bottom, which asks for a search, a line number or a filter."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from trtforensics.tables.columns import TableColumn
from trtforensics.tables.table import FilterError, completions, parse_filter
from trtforensics.tui.bindings import Keyed
from trtforensics.tui.rows.pieces import Piece, Role
from trtforensics.tui.widgets.virtual_list import LineBar


class Asking(Enum):
    """What the prompt asks for; the value is shown while the prompt is empty."""

    SEARCH = "search the raw log"
    ONLY = "show only the lines of the log that hold"
    LINE = "its number"
    FILTER = "keep rows: a text, type:half, time>0.05, margin<2%, -without"


_LABELS = {Asking.SEARCH: "search", Asking.ONLY: "only", Asking.LINE: "line", Asking.FILTER: "filter"}
_OF_LINES = frozenset({Asking.SEARCH, Asking.ONLY})


class FieldSuggester(Suggester):
    """Completes fields of a filter, and their values in the rows; Tab and the right arrow take what it suggests."""

    def __init__(self, fields: Sequence[TableColumn], rows: Sequence[object]) -> None:
        super().__init__(case_sensitive=True)
        self._fields = fields
        self._rows = rows

    async def get_suggestion(self, value: str) -> str | None:
        word = value.rpartition(" ")[2].removeprefix("-")
        names = completions(value, len(value) + 1, self._fields, self._rows) if word else ()
        typed = word.casefold()
        first = next((name for name in names if name.casefold().startswith(typed) and len(name) > len(word)), None)
        return None if first is None else value + first[len(word) :]


class Prompt(Keyed, Input):
    """The input at the bottom of the screen, hidden when not in use."""

    @dataclass(eq=False, repr=False)
    class Answered(Message):
        """The prompt was answered; of a filter, also while the user types (``done`` False)."""

        purpose: Asking
        text: str
        done: bool
        regex: bool = False

    @dataclass(eq=False, repr=False)
    class Dismissed(Message):
        """The prompt was left by Escape."""

        purpose: Asking

    def __init__(self) -> None:
        super().__init__(id="prompt", compact=True, select_on_focus=True)
        self.purpose = Asking.SEARCH
        self.regex = False
        self.label = LineBar(id="prompt-label")
        """Says what the prompt is; it stands before the text."""
        self.display = self.label.display = False
        self._fields: Sequence[TableColumn] = ()

    def ask(
        self, purpose: Asking, text: str = "", fields: Sequence[TableColumn] = (), rows: Sequence[object] = ()
    ) -> None:
        """Open for a purpose, with a text to start from. ``fields`` and their values in ``rows`` are completed."""
        self.purpose, self._fields = purpose, fields
        self.suggester = FieldSuggester(fields, rows) if fields else None
        self._show_purpose()
        with self.prevent(Input.Changed):
            self.value = text
        self.display = self.label.display = True
        self.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close and post the answer; a text that cannot be read stays, with what is wrong in the line below."""
        event.stop()
        if self._is_readable(event.value):
            self.display = self.label.display = False
        self.post_message(self.Answered(self.purpose, event.value, done=not self.display, regex=self._reads_regex))

    @property
    def _reads_regex(self) -> bool:
        return self.regex and self.purpose in _OF_LINES

    def _is_readable(self, text: str) -> bool:
        try:
            if self._reads_regex:
                re.compile(text)
            elif self._fields:
                parse_filter(text, self._fields)
        except (re.error, FilterError):
            return False
        return True

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.display and (self.purpose is Asking.FILTER or not self._is_readable(event.value)):
            self.post_message(self.Answered(self.purpose, event.value, done=False, regex=self._reads_regex))

    def action_regex(self) -> None:
        self.regex = not self.regex
        self._show_purpose()

    def _show_purpose(self) -> None:
        self.placeholder = self.purpose.value + (" a regular expression" if self._reads_regex else "")
        label = f" {_LABELS[self.purpose]}{' regex' if self._reads_regex else ''}› "  # noqa: RUF001 - an arrowhead
        self.label.styles.width = len(label)
        self.label.show(Piece(label, Role.TITLE))

    def action_cancel(self) -> None:
        self.display = self.label.display = False
        self.post_message(self.Dismissed(self.purpose))
