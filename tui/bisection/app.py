"""The app of a bisection, live or finished: its probes, each probe's logs, and the answer so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Footer

from trtforensics.errors import ForensicsError
from trtforensics.tui.bisection.lists import LineList, ProbeList
from trtforensics.tui.rows.bisection_rows import answer_rows, bisection_title, probe_rows
from trtforensics.tui.rows.pieces import Piece, Role
from trtforensics.tui.terminal_app import BAD_INPUT, TerminalApp
from trtforensics.tui.widgets.help import HelpScreen, Keys
from trtforensics.tui.widgets.log_view import LogView
from trtforensics.tui.widgets.search import Match, Prompt, Purpose, search_view
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from trtforensics.bisect.session.view import DirectoryView
    from trtforensics.tui.sessions import BisectionSession
    from trtforensics.tui.widgets.numbered_lines import NumberedLines

PERIOD_S = 0.5
"""Seconds between two reads of the directory."""

KEYS: Keys = (
    (
        "Go somewhere",
        (
            ("p  Esc", "the probes, in the order in which they ran"),
            ("b  e  c", "a probe's build log, build errors, check log"),
            ("a", "the answer as far as it is known"),
            ("Tab  Shift+Tab", "next, previous pane"),
        ),
    ),
    (
        "Move in a pane",
        (
            ("↑ ↓  k j", "one row; the probe and its log follow"),
            ("PgUp PgDn Home End", "pages and ends; the end follows new probes"),
            ("← →  h l", "sideways"),
            ("Enter", "go to the probe's log"),
        ),
    ),
    ("Find", (("/", "search the log (a capital makes case count)"), ("n  N", "next, previous match"))),
    ("", (("?", "this help"), ("q", "quit; a bisection that runs goes on"))),
)

_LOGS = {"build": ("build.log", "build.out"), "errors": ("build.err",), "check": ("check.log",)}


class Looked(Message):
    """The directory was read again."""

    def __init__(self, view: DirectoryView) -> None:
        super().__init__()
        self.view = view


class LookFailed(Message):
    """The directory can no longer be read."""

    def __init__(self, error: ForensicsError) -> None:
        super().__init__()
        self.error = error


class BisectionApp(TerminalApp):
    """Browse a bisection."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", "Quit", show=False),
        Binding("b", "log('build')", "Build log"),
        Binding("e", "log('errors')", "Build errors"),
        Binding("c", "log('check')", "Check log"),
        Binding("a", "go('answer')", "Answer"),
        Binding("p,escape", "go('probes')", "Probes", key_display="p"),
        Binding("slash", "ask_search", "Search", key_display="/"),
        Binding("n", "search(False)", "Next"),
        Binding("N", "search(True)", "Previous", show=False),
        Binding("question_mark", "help", "Help", key_display="?"),
    ]

    def __init__(self, session: BisectionSession) -> None:
        super().__init__()
        self._session = session
        self._probes = ProbeList()
        self._answer = LineList("answer")
        self._details = LineList("details")
        self._view: DirectoryView | None = None
        self._log_view: LogView | None = None
        self._title, self._status = LineBar(id="title"), LineBar(id="status")
        self._log_heading = LineBar((Piece(" Log", Role.STRONG),), id="log-heading", classes="heading")
        self._log_pane = Vertical(classes="pane", id="log-pane")
        self._prompt = Prompt()
        self._needle = ""
        self._which = "build"
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """Lay the screen out: probes and answer, a probe's details and its log."""
        yield self._title
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                with Vertical(classes="pane"):
                    yield LineBar((Piece(" Probes", Role.STRONG),), classes="heading")
                    yield self._probes
                with Vertical(classes="pane"):
                    yield LineBar((Piece(" Answer", Role.STRONG),), classes="heading")
                    yield self._answer
            with Vertical(id="right"):
                with Vertical(classes="pane"):
                    yield LineBar((Piece(" Probe", Role.STRONG),), classes="heading")
                    yield self._details
                with self._log_pane:
                    yield self._log_heading
        yield self._prompt
        yield self._status
        yield Footer()

    def on_mount(self) -> None:
        """Read the directory now, and then periodically."""
        self._probes.focus()
        self._look()
        self.set_interval(PERIOD_S, self._look)

    def _look(self) -> None:
        self.run_worker(self._read, name="look", group="look", thread=True, exclusive=True)

    def _read(self) -> None:
        """Read the directory, in a thread; post the outcome as a message."""
        try:
            view = self._session.look()
        except ForensicsError as error:
            self.post_message(LookFailed(error))
        else:
            self.post_message(Looked(view))

    def on_looked(self, event: Looked) -> None:
        """Show the directory's present state."""
        self._view = event.view
        self._probes.show(event.view)
        self._answer.show(answer_rows(event.view))
        self._show_title()
        self._show_probe()

    def on_look_failed(self, event: LookFailed) -> None:
        """Exit with the error; the command prints it."""
        self.exit(event.error, return_code=BAD_INPUT)

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        """Show the probe under the cursor."""
        if event.source is self._probes:
            self._show_probe()

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Go to the log of the probe that was chosen."""
        if event.source is self._probes:
            self.action_log(self._which)

    def on_resize(self) -> None:
        """Fit the title to the new width."""
        self._show_title()

    def action_log(self, log: str) -> None:
        """Show one of the selected probe's logs, and go there."""
        self._which = log
        self._show_probe()
        if self._log_view is not None:
            self._log_view.focus()

    def action_go(self, name: str) -> None:
        """Go to a pane."""
        self.query_one(f"#{name}").focus()

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(HelpScreen(KEYS))

    def action_ask_search(self) -> None:
        """Ask what to search for in the log in view."""
        if self._log_view is not None:
            self._prompt.ask(Purpose.SEARCH, self._needle)

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        """Search from the line under the cursor."""
        self._needle = event.text
        if self._log_view is not None:
            self._log_view.mark(event.text)
            self._log_view.focus()
            search_view(self._log_view, self._log_view.text, self._needle, backwards=False, here=True)

    def on_prompt_dismissed(self) -> None:
        """Go back to the probes."""
        self._probes.focus()

    def action_search(self, backwards: bool) -> None:  # noqa: FBT001 - Textual passes actions' arguments by position
        """Go to the next match, or the previous one."""
        if not self._needle:
            self._say("nothing to search for; type / and a text")
        elif self._log_view is not None:
            search_view(self._log_view, self._log_view.text, self._needle, backwards=backwards, here=False)

    def on_match(self, event: Match) -> None:
        """Show the match, unless another log or another search has replaced it."""
        if event.needle == self._needle and event.view is self._log_view:
            event.show(self._say, "log")

    def _say(self, text: str) -> None:
        self._status.show(Piece(f" {text}", Role.DIM))

    def _show_title(self) -> None:
        if self._view is not None:
            self._title.show(*bisection_title(self._view, self.size.width))

    def _show_probe(self) -> None:
        """Show the selected probe, and its log unless that is shown already."""
        probe = self._probes.selected
        if self._view is None or probe is None or not self._log_pane.is_attached:
            return
        self._details.show(probe_rows(self._view, probe))
        path = next((path for name in _LOGS[self._which] if (path := self._view.folder(probe) / name).exists()), None)
        shown = (path, path.stat().st_size if path else 0)
        if shown != self._shown:
            same, self._shown = self._shown[:1] == (path,), shown
            name = path.name if path else f"no {_LOGS[self._which][0]}"
            self._log_heading.show(Piece(f" {probe.folder}  {name}", Role.STRONG))
            self._show_log(self._session.log(path) if path else None, keep=same)

    def _show_log(self, text: NumberedLines | None, *, keep: bool) -> None:
        """Replace the log in view."""
        before, self._log_view = self._log_view, None
        focused, line = (before.has_focus, before.current_line) if before is not None else (False, 1)
        if before is not None:
            before.remove()
        if text is not None:
            self._log_view = after = LogView(text)
            self._log_pane.mount(after)
            after.grow()
            after.mark(self._needle)
            after.show_line(line if keep else 1)
            if focused:
                after.focus()
