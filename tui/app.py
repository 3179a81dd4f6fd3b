"""The app of the TUI, screens on sources: keys in their order, clipboard, themes, the command palette, NO_COLOR."""

import gc
import os
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.dom import DOMNode
from textual.filter import NoColor
from textual.screen import Screen
from textual.types import CSSPathType
from textual.widget import Widget

from trtforensics.console.diagnostics import ExitCode
from trtforensics.errors import ForensicsError
from trtforensics.tui import user_files
from trtforensics.tui.bindings import Keyed
from trtforensics.tui.widgets.virtual_list import ROLE_CLASSES, STYLES

_SWITCH_S = 0.0005
"""Seconds that a thread which parses may keep the interpreter while a key waits; Python's own 0.005 add up."""

_ANSWER_S = 0.06
"""Seconds in which a key is answered where no thread parses."""

_ROUNDS = 4
"""How often a mark passes all queues behind a key before the next key is sent.

The longest chain of messages after a key is that of Enter in the prompt: submitted, answered, focus requested, focus.
"""


def browse(first: Screen[ForensicsError]) -> int:
    """Show a source on its screen until the user quits; return the exit code, or raise the source's ForensicsError."""
    sys.setswitchinterval(_SWITCH_S)
    app = TerminalApp(first)
    error = app.run()
    if error is not None:
        raise error
    return ExitCode.BUG if app.return_code else ExitCode.OK  # Textual has shown the traceback by then


class TerminalApp(Keyed, App[ForensicsError]):
    """The app on the screen of its first source. ``run()`` returns the error that ended it, None when the user quit.

    A key is delivered when all that the key before it began has ended. Textual would put the keys of one write into
    the queue of the widget that has the focus when they arrive: of ``/qkv`` the list would take the q, and quit.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = Path(__file__).with_name("app.tcss")  # absolute, for subclasses elsewhere
    TITLE = "trtforensics"
    COMMAND_PALETTE_DISPLAY = "Ctrl+P"
    NOTIFICATION_TIMEOUT = 6

    COMPONENT_CLASSES: ClassVar[set[str]] = ROLE_CLASSES

    def __init__(self, first: Screen[ForensicsError]) -> None:
        # By default Textual turns NO_COLOR into shades of grey; with ANSI colours its filter drops all colour.
        no_color = "NO_COLOR" in os.environ
        super().__init__(ansi_color=True if no_color else None)
        if no_color and not self.no_color:
            self.no_color = True
            self._filters.append(NoColor())
        self._first = first
        self._keys: deque[events.Key] = deque()
        self._mark_at: DOMNode | None = None
        self._quits = False
        self._answered_by = 0.0
        self._colours: dict[str, str] = {}
        for theme in user_files.THEMES:
            self.register_theme(theme)
        self.theme = user_files.kept_theme()

    def get_default_screen(self) -> Screen[ForensicsError]:
        return self._first

    def refresh_css(self, animate: bool = True) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Take other colours. Textual asks at the start too, when the style sheet has those of the theme."""
        colours = self.get_css_variables()
        if colours != self._colours:
            self._colours = colours
            STYLES.clear()
            super().refresh_css(animate)

    def on_load(self) -> None:
        """Give the style sheet, which is not parsed yet, the colours of the theme."""
        self._colours = self.get_css_variables()
        self.stylesheet.set_variables(self._colours)

    def on_ready(self) -> None:
        """Search for reference cycles from now on, but not among modules and widgets: a search stops every thread."""
        if not gc.isenabled():
            gc.freeze()
            gc.enable()

    async def on_event(self, event: events.Event) -> None:
        """Queue the keys; pass everything else on."""
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
            return
        self._answered_by = time.monotonic() + _ANSWER_S
        self._keys.append(event)
        if self._mark_at is None or not self._mark_at.is_running:
            await self._deliver()

    def rest(self) -> None:
        """Let the thread that calls this wait until the last key is answered: both need the interpreter."""
        left = self._answered_by - time.monotonic()
        if left > 0:
            time.sleep(left)

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
            self.notify("nothing is selected to copy", markup=False)
            return
        copied = user_files.copy(text)
        if copied.through_terminal:
            super().copy_to_clipboard(copied.text)
        self.notify(copied.message, markup=False)

    def action_interrupt(self) -> None:
        """Quit at the second Ctrl+C in a row. One with a selected text copies it, by the screen's own key."""
        if self._quits:
            self.exit()
        self._quits = True
        self.notify("nothing is selected to copy; q quits, and so does another Ctrl+C", markup=False)

    def action_next_theme(self) -> None:
        names = [theme.name for theme in user_files.THEMES]
        self.choose_theme(names[(names.index(self.theme) + 1) % len(names)])

    def choose_theme(self, name: str) -> None:
        self.theme = name
        problem = user_files.keep_theme(name)
        self.notify(f"theme {name}" + (f"; not kept, as {problem}" if problem else ""), markup=False)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """List the actions of the screen and of all its lists, and the themes."""
        yield from self._actions(screen)
        for theme in user_files.THEMES:
            choose = partial(self.choose_theme, theme.name)
            yield SystemCommand(f"Theme: {theme.name}", "kept for later sessions", choose)

    def _actions(self, screen: Screen[object]) -> Iterator[SystemCommand]:
        """Return every described action of the app and the screen, then those of the lists in view, by their keys."""
        actions: set[tuple[str, str]] = set()
        lists = [node for node in screen.walk_children() if node.id and getattr(node, "focusable", False)]
        for node in (self, screen, *lists):
            where = f" in {node.id}" if node in lists else ""
            for bindings in node._bindings.key_to_bindings.values():  # noqa: SLF001 - Textual lists those in focus only
                for binding in bindings:
                    description = binding.description, node.id or ""
                    if binding.system or not binding.description or description in actions:
                        continue
                    actions.add(description)
                    key = self.get_key_display(binding)
                    yield SystemCommand(binding.description, f"{key}{where}", partial(self._act, node, binding))

    def _act(self, node: DOMNode, binding: Binding) -> None:
        """Run an action once the palette has closed; a list gets the focus first."""
        if isinstance(node, Widget) and node is not self.screen:
            self.screen.set_focus(node)
        self.call_later(self.run_action, binding.action, node)
