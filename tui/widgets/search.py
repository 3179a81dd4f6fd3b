"""Search in a text, and the prompt at the bottom, which asks for a search, a line number or a filter."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from trtforensics.tables.filtering import completions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType

    from trtforensics.parsers.text.text import LogText
    from trtforensics.tables.columns import TableColumn
    from trtforensics.tui.live_text import LiveText


def find_around(
    text: LogText | LiveText, needle: str, line: int, *, backwards: bool, here: bool
) -> tuple[int | None, bool]:
    """Search for the next match after a line (``here``: or in it), and wrap at the end.

    Returns the line of the match, and whether the search wrapped.
    """
    start = line if here else line - 1 if backwards else line + 1
    match = text.find(needle, start, backwards=backwards) if 1 <= start <= len(text) else None
    if match is not None:
        return match, False
    return text.find(needle, len(text) if backwards else 1, backwards=backwards), True


class Purpose(Enum):
    """What the prompt asks for; the value is shown while the prompt is empty."""

    SEARCH = "search the raw log"
    ONLY = "show only the lines of the log that hold"
    LINE = "go to line"
    FILTER = "keep rows: a text, type:half, time>0.05, margin<2%, -without"


_OF_LINES = frozenset({Purpose.SEARCH, Purpose.ONLY})


class FieldSuggester(Suggester):
    """Completes the names of the fields that a filter can ask for; the right arrow takes what it suggests."""

    def __init__(self, fields: Sequence[TableColumn]) -> None:
        super().__init__(case_sensitive=True)
        self._fields = fields

    async def get_suggestion(self, value: str) -> str | None:
        """Return the text with its last word completed."""
        word = value.rpartition(" ")[2].removeprefix("-")
        names = completions(value, len(value) + 1, self._fields) if word else ()
        first = next((name for name in names if name.startswith(word) and name != word), None)
        return None if first is None else value + first[len(word) :]


class Prompt(Input):
    """The input at the bottom of the screen, hidden when not in use."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", show=False),
        Binding("ctrl+r", "regex", "Regular expression", show=False),
    ]

    @dataclass(eq=False, repr=False)
    class Answered(Message):
        """The prompt was answered. A filter also posts this while the user types (``done`` False).

        ``regex``: the text is a regular expression.
        """

        purpose: Purpose
        text: str
        done: bool
        regex: bool = False

    @dataclass(eq=False, repr=False)
    class Dismissed(Message):
        """The prompt was left by Escape."""

        purpose: Purpose

    def __init__(self) -> None:
        super().__init__(id="prompt", compact=True, select_on_focus=True)
        self.purpose = Purpose.SEARCH
        self.regex = False
        self.display = False

    def ask(self, purpose: Purpose, text: str = "", fields: Sequence[TableColumn] = ()) -> None:
        """Open for a purpose, with a text to start from. The names of ``fields`` are completed."""
        self.purpose = purpose
        self.suggester = FieldSuggester(fields) if fields else None
        self._show_purpose()
        with self.prevent(Input.Changed):
            self.value = text
        self.display = True
        self.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close and post the answer."""
        event.stop()
        self.display = False
        regex = self.regex and self.purpose in _OF_LINES
        self.post_message(self.Answered(self.purpose, event.value, done=True, regex=regex))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while typing."""
        event.stop()
        if self.purpose is Purpose.FILTER and self.display:
            self.post_message(self.Answered(self.purpose, event.value, done=False))

    def action_regex(self) -> None:
        """Search for a regular expression, or for a text again."""
        self.regex = not self.regex
        self._show_purpose()

    def _show_purpose(self) -> None:
        """Say what the prompt asks for: while it is empty, and in its border."""
        of_lines = self.purpose in _OF_LINES
        self.placeholder = (
            f"{self.purpose.value} a regular expression" if of_lines and self.regex else self.purpose.value
        )
        self.set_class(of_lines and self.regex, "regex")

    def action_cancel(self) -> None:
        """Close without an answer."""
        self.display = False
        self.post_message(self.Dismissed(self.purpose))
