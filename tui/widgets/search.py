"""Searching in a text, and the prompt at the bottom: what to search for, a line to go to, a filter for the layers."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType

    from trtforensics.tui.widgets.log_view import LogView
    from trtforensics.tui.widgets.numbered_lines import NumberedLines

    Search = Callable[[], tuple[int | None, bool]]


def find_around(text: NumberedLines, needle: str, line: int, *, backwards: bool, here: bool) -> tuple[int | None, bool]:
    """Find the next match behind a line (``here``: or in it), going round at the end.

    Returns its line, and whether it is beyond the end.
    """
    start = line if here else line - 1 if backwards else line + 1
    found = text.find(needle, start, backwards=backwards) if 1 <= start <= len(text) else None
    if found is not None:
        return found, False
    return text.find(needle, len(text) if backwards else 1, backwards=backwards), True


class Match(Message):
    """A search in the text of a view ended; ``line`` is None when nothing was found."""

    def __init__(self, view: LogView, needle: str, line: int | None) -> None:
        super().__init__()
        self.view = view
        self.needle = needle
        self.line = line

    def show(self, say: Callable[[str], None], where: str) -> None:
        """Go to it, and say where it is; ``where`` is what was searched."""
        if self.line is None:
            say(f"{self.needle!r} is nowhere in this {where}")
        else:
            self.view.show_match(self.line)
            say(f"{self.needle!r} at line {self.line:,}")


def search_view(view: LogView, text: NumberedLines, needle: str, *, backwards: bool, here: bool) -> None:
    """Search a text in a thread, from its view's cursor on; a :class:`Match` tells the app what came of it."""
    app, line = view.app, view.current_line

    def find() -> None:
        found, _ = find_around(text, needle, line, backwards=backwards, here=here)
        app.post_message(Match(view, needle, found))

    app.run_worker(find, group="search", thread=True, exclusive=True)


class Purpose(Enum):
    """What the prompt asks for; the value is what it shows while empty."""

    SEARCH = "search the raw log"
    LINE = "go to line"
    FILTER = "keep layers whose name holds"


class Prompt(Input):
    """One input for all purposes, hidden while not needed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", show=False)]

    class Answered(Message):
        """The prompt was answered; for a filter also while typing (``done`` False)."""

        def __init__(self, purpose: Purpose, text: str, *, done: bool) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text
            self.done = done

    class Dismissed(Message):
        """The prompt was left by Escape."""

        def __init__(self, purpose: Purpose) -> None:
            super().__init__()
            self.purpose = purpose

    def __init__(self) -> None:
        super().__init__(id="prompt", compact=True, select_on_focus=True)
        self.purpose = Purpose.SEARCH
        self.display = False

    def ask(self, purpose: Purpose, text: str = "") -> None:
        """Open for a purpose, with a text to start from."""
        self.purpose = purpose
        self.placeholder = purpose.value
        with self.prevent(Input.Changed):
            self.value = text
        self.display = True
        self.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close and hand over the answer."""
        event.stop()
        self.display = False
        self.post_message(self.Answered(self.purpose, event.value, done=True))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while typing."""
        event.stop()
        if self.purpose is Purpose.FILTER and self.display:
            self.post_message(self.Answered(self.purpose, event.value, done=False))

    def action_cancel(self) -> None:
        """Close without an answer."""
        self.display = False
        self.post_message(self.Dismissed(self.purpose))
