"""Dialogs that every screen opens: lists in a frame, whole rows, the help, and the question for a line of text."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from textwrap import wrap
from typing import Generic, TypeAlias, TypeVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import Horizontal
from textual.events import MouseDown
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widgets import Input

from trtforensics.console.terminal import visible
from trtforensics.knowledge.table import rows as table_rows
from trtforensics.tui.bindings import Keyed
from trtforensics.tui.rows.log_lines import LONGEST
from trtforensics.tui.rows.pieces import CitingLine, Piece, Presentation, Role, fit, width_of
from trtforensics.tui.widgets.row_list import WrappedList
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList

Row = TypeVar("Row")

Keys = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
LONGEST_KEY = 19
"""Columns of the keys; a test holds that all keys fit."""


def keys_of(screen: str) -> Keys:
    """Return a screen's groups of keys from ``tables/keys.tsv``: titles, each with its keys and what they do."""
    of_screen = [row for row in table_rows("keys", "trtforensics.tui") if screen in row["screens"].split()]
    groups = groupby(of_screen, key=itemgetter("group"))
    return tuple((group, tuple((row["keys"], row["meaning"]) for row in members)) for group, members in groups)


_Key: TypeAlias = tuple[Piece, Piece, str]
"""A key and what it does, as they are shown, and its name."""


class KeyFooter(LineBar):
    """The keys of the screen that fit, the palette's at the right; faster than Textual's, a widget of each key."""

    _valid: Sequence[object] = ()
    _pressed: list[tuple[int, int, str]]
    """The columns of each key, from and up to, and its name."""

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self.bindings_changed)

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Lay the keys out anew where others are valid: Textual asks after most events."""
        if self.is_attached and screen is self.screen and self.app.app_focus:
            valid = [state[1:] for state in screen.active_bindings.values()]
            if valid != self._valid:
                self._valid = valid
                self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        active, shown = self.screen.active_bindings, dict[str, _Key]()
        for each in active.values():
            if each.binding.show:
                shown.setdefault(each.binding.action, self._key(each))
        palette = active.get(self.app.COMMAND_PALETTE_BINDING)
        last = [] if palette is None else [self._key(palette)]
        room, line, self._pressed = self.app.size.width - sum(width_of(key[:2]) for key in last), list[Piece](), []
        end = 0
        for key in (*shown.values(), *last):
            if key in last:
                line.append(Piece(" " * (room - end)))
                end = room
            elif end + width_of(key[:2]) > room:
                continue
            line += key[:2]
            start, end = end, end + width_of(key[:2])
            self._pressed.append((start, end, key[2]))
        self.show(*line)

    def _key(self, active: ActiveBinding) -> _Key:
        binding, dim = active.binding, None if active.enabled else Role.DIM
        does = Piece(f"{binding.description} ", dim or Role.PLAIN)
        return Piece(f" {self.app.get_key_display(binding)} ", dim or Role.ACCENT), does, binding.key

    def on_mouse_down(self, event: MouseDown) -> None:
        for start, end, key in self._pressed:
            if start <= event.x < end:
                self.app.simulate_key(key)


class Dialog(Keyed, ModalScreen[ScreenResultType], Generic[Row, ScreenResultType]):
    """A list in a frame. What happens in it does not move the log below."""

    def __init__(self, shown: VirtualList[Row], title: str, keys: str, rows: Sequence[Row] = ()) -> None:
        super().__init__()
        self.list = shown
        self.list.border_title, self.list.border_subtitle = title, keys
        self._rows = rows

    def compose(self) -> ComposeResult:
        yield self.list

    def on_mount(self) -> None:
        self.fill()

    def fill(self) -> None:
        self.list.show(self._rows)

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self.choose(event.index)

    def action_take(self) -> None:
        self.choose(self.list.cursor)

    def choose(self, place: int) -> None:
        """Act on the row at a place; by default nothing."""


def whole(texts: Sequence[str]) -> Dialog[str, None]:
    """Return texts that are too long for a row, wrapped; of one longer than any line of the log the beginning."""

    def wrapped(text: str, width: int) -> Iterator[CitingLine]:
        rest = len(text) - LONGEST
        lines = wrap(visible(text)[:LONGEST], max(width, 16), break_on_hyphens=False) or [""]
        lines += [f"… {rest:,} more characters"] if rest > 0 else []
        return (CitingLine((Piece(line),)) for line in lines)

    return Dialog(WrappedList(Presentation(wrapped=wrapped), id="whole"), "The whole row", "w or Esc closes", texts)


def _help_lines(row: tuple[str, str], width: int) -> Iterator[CitingLine]:
    """Wrap what a key does; a row without it is a title, one without a key a text of the whole width."""
    key, does = row
    if not does:
        yield CitingLine((Piece(f" {key}", Role.TITLE),))
        return
    if not key:
        yield from (CitingLine((Piece(f"  {text}"),)) for text in wrap(visible(does), max(width - 2, 16)))
        return
    for number, text in enumerate(wrap(does, max(width - LONGEST_KEY - 3, 16), break_on_hyphens=False)):
        yield CitingLine((Piece(f"  {fit('' if number else key, LONGEST_KEY)} ", Role.ACCENT), Piece(text)))


class HelpText(WrappedList[tuple[str, str]]):
    """The help, scrollable on a small terminal."""

    def __init__(self, keys: Keys) -> None:
        super().__init__(Presentation(wrapped=_help_lines))
        self._keys = [row for title, of_title in keys for row in ((title, ""), *of_title)]

    def tell(self, about: Sequence[str]) -> None:
        """Show the keys below what is said of the row in view; do not paint again what is shown already."""
        cursor_rows = [("Under the cursor", ""), *(("", text) for text in about)] if about else []
        if self.every != [*cursor_rows, *self._keys]:
            self.every = [*cursor_rows, *self._keys]
            self.list_rows()
        if self.scroll_offset.y:
            self.scroll_home(animate=False)

    def wrap(self) -> None:
        super().wrap()
        self.styles.height = self.place_count() + 2

    def action_move(self, by: int) -> None:
        """Scroll, as the text has no cursor."""
        self.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        self.scroll_relative(y=by * self.rows_in_view(), animate=False)


class HelpScreen(Keyed, ModalScreen[None]):
    """The help above the screen in view; Escape, ? and q close it."""

    def __init__(self, keys: Keys) -> None:
        super().__init__()
        self._keys = keys
        self.about: Sequence[str] = ()
        """What is said of the row in view of the screen below."""

    def compose(self) -> ComposeResult:
        text = HelpText(self._keys)
        text.border_title = "Keys"
        text.border_subtitle = "q, Esc or ? to close"
        yield text

    def on_screen_resume(self) -> None:
        self.query_one(HelpText).tell(self.about)


class TextQuestion(Keyed, ModalScreen["str | None"]):
    """One line at the bottom of the screen; it returns what was typed, or None after Escape."""

    def __init__(self, question: str, proposed: str) -> None:
        super().__init__()
        self._question = f" {question}: "
        self._proposed = proposed

    def compose(self) -> ComposeResult:
        with Horizontal():
            label = LineBar((Piece(self._question),))
            label.styles.width = len(self._question)
            yield label
            yield Input(self._proposed, compact=True, select_on_focus=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())
