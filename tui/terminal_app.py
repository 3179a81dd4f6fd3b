"""The base of every app of the TUI: keys in their order, the clipboard, themes, the palette; it obeys NO_COLOR."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.filter import NoColor

from trtforensics.errors import ForensicsError
from trtforensics.tui import clipboard, palette, themes
from trtforensics.tui.detours import Detour

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.binding import BindingType
    from textual.dom import DOMNode
    from textual.screen import Screen
    from textual.timer import Timer
    from textual.types import CSSPathType

BAD_INPUT = 2
"""The exit code of a source that cannot be parsed."""

STYLE = Path(__file__).with_name("terminal_app.tcss")
"""The style sheet of every app. The path is absolute, as Textual resolves a relative path beside the subclass."""

Outcome = ForensicsError | Detour
"""What ends an app besides the user: an error of the source, or something else to show meanwhile."""

REST_S = 0.1
"""Seconds without a move after which the cursor rests."""

_ROUNDS = 4
"""How often a mark passes all queues behind a key before the next key is sent.

The longest chain of messages after a key is that of Enter in the prompt: submitted, answered, focus requested, focus.
"""


class TerminalApp(App[Outcome]):
    """``run()`` returns the error or the detour that ended it, or None when the user quit.

    A key is delivered when all that the key before it began has ended. Textual would put the keys of one write into
    the queue of the widget that has the focus when they arrive: of ``/qkv`` the list would take the q, and quit.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = STYLE
    TITLE = "trtforensics"
    COMMAND_PALETTE_DISPLAY = "Ctrl+P"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "interrupt", "Copy the selected text", show=False),
        Binding("T", "next_theme", "Next theme", show=False),
    ]

    def __init__(self) -> None:
        # By default Textual turns NO_COLOR into shades of grey; with ANSI colours its filter drops all colour.
        no_color = "NO_COLOR" in os.environ
        super().__init__(ansi_color=True if no_color else None)
        if no_color and not self.no_color:
            self.no_color = True
            self._filters.append(NoColor())
        self._keys: deque[events.Key] = deque()
        self._mark_at: DOMNode | None = None
        self._quits = False
        self._resting: Timer | None = None
        for theme in themes.THEMES:
            self.register_theme(theme)
        self.theme = themes.stored()

    async def on_event(self, event: events.Event) -> None:
        """Queue the keys; pass everything else on."""
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
            return
        self._keys.append(event)
        if self._mark_at is None or not self._mark_at.is_running:
            await self._deliver()

    async def _deliver(self) -> None:
        """Deliver the next key, with a mark behind it in the same queue."""
        self._mark_at = None
        if not self._keys:
            return
        event = self._keys.popleft()
        self._quits = self._quits and event.key == "ctrl+c"
        target = self.focused or self.screen
        await super().on_event(event)
        self._mark(target, _ROUNDS)

    def _mark(self, node: DOMNode, rounds: int) -> None:
        """Queue a mark in a widget; when it is reached it goes on to the parent, as the messages before it did."""
        while not node.call_later(self._marked, node, rounds):
            if node is self or node.parent is None:
                self._mark_at = None
                return
            node = node.parent
        self._mark_at = node

    async def _marked(self, node: DOMNode, rounds: int) -> None:
        if node is not self:
            self._mark(node.parent or self, rounds)
        elif not self.screen_stack:  # the app ends
            self._mark_at = None
        elif rounds:
            self._mark(self.focused or self.screen, rounds - 1)
        else:
            await self._deliver()

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text, without secrets, to the terminal's clipboard and to a file, and say so. Copy no empty text."""
        if not text:
            self.inform("nothing is selected to copy")
            return
        copied = clipboard.copy(text)
        if copied.through_terminal:
            super().copy_to_clipboard(copied.text)
        self.inform(copied.message)

    def when_resting(self, follow: Callable[[], None]) -> None:
        """Let panes follow the cursor once it rests, as repainting them at each key takes long over a slow line."""
        if self._resting is not None:
            self._resting.stop()
        if REST_S:
            self._resting = self.set_timer(REST_S, follow)
        else:
            follow()

    def inform(self, text: str) -> None:
        """Show a sentence for some seconds."""
        self.notify(text, markup=False, timeout=6)

    def action_interrupt(self) -> None:
        """Quit at the second Ctrl+C in a row. One with a selected text copies it, by the screen's own key."""
        if self._quits:
            self.exit()
        self._quits = True
        self.inform("nothing is selected to copy; q quits, and so does another Ctrl+C")

    def action_next_theme(self) -> None:
        """Switch to the next theme and keep it for later sessions."""
        names = [theme.name for theme in themes.THEMES]
        self.choose_theme(names[(names.index(self.theme) + 1) % len(names)])

    def choose_theme(self, name: str) -> None:
        """Switch to a theme and keep it for later sessions."""
        self.theme = name
        problem = themes.store(name)
        self.inform(f"theme {name}" + (f"; not kept, as {problem}" if problem else ""))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """List the actions of the screen and of all its lists, and the themes."""
        yield from palette.actions(self, screen)
        for theme in themes.THEMES:
            yield SystemCommand(f"Theme: {theme.name}", "kept for later sessions", _chooser(self, theme.name))


def _chooser(app: TerminalApp, name: str) -> palette.Deed:
    return lambda: app.choose_theme(name)
