"""The app of a bisection, live or finished: its probes, each probe's logs, and the answer so far."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Footer

from trtforensics.bisect.search import Verdict
from trtforensics.errors import ForensicsError
from trtforensics.tui.bisection.keys import KEYS
from trtforensics.tui.bisection.lists import LineList, ProbeList
from trtforensics.tui.copying import CopyingApp
from trtforensics.tui.detours import DiffDetour, LogDetour
from trtforensics.tui.issue import IssueSection, quoted_issue
from trtforensics.tui.rows.bisection_rows import answer_rows, bisection_title, probe_rows
from trtforensics.tui.rows.bisection_state import applying, standing, suspects_of
from trtforensics.tui.rows.pieces import Piece, Role
from trtforensics.tui.terminal_app import BAD_INPUT, STYLE
from trtforensics.tui.widgets.help import show_help
from trtforensics.tui.widgets.log_view import LogView
from trtforensics.tui.widgets.numbered_lines import NoLines
from trtforensics.tui.widgets.search import Match, Prompt, Purpose, search_view
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.events import DescendantFocus
    from textual.types import CSSPathType

    from trtforensics.bisect.session.history import Probe
    from trtforensics.bisect.session.view import DirectoryView
    from trtforensics.tui.live_text import LiveText
    from trtforensics.tui.sessions import BisectionSession

PERIOD_S = 0.5
"""Seconds between two reads of the directory."""

NARROW = 100
"""Width in cells below which the probes or a log take the whole width."""

_LOGS = {"build": ("build.log", "build.out"), "errors": ("build.err",), "check": ("check.log",)}
_QUOTED = 40
"""Most suspects that an issue names."""

_REMEMBERED = 8
"""Number of logs that are kept, so that going back to one does not read it again."""


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


class LogRead(Message):
    """A log was read on."""

    def __init__(self, text: LiveText) -> None:
        super().__init__()
        self.text = text


class BisectionApp(CopyingApp):
    """Browse a bisection. ``probe`` is the number of the probe to begin at, ``note`` what to say first."""

    CSS_PATH: ClassVar[CSSPathType | None] = [STYLE, "app.tcss"]

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "view('probes')", "Probes"),
        Binding("2", "view('answer')", "Answer"),
        Binding("3", "view('details')", "Details", show=False),
        Binding("4", "log('build')", "Build log"),
        Binding("5", "log('errors')", "Build errors", show=False),
        Binding("6", "log('check')", "Check log"),
        Binding("d", "compare", "Diff two probes"),
        Binding("r", "reload", "Reload", show=False),
        Binding("p", "prefixes", "Prefix", show=False),
        Binding("slash", "ask_search", "Search", key_display="/"),
        Binding("n", "search(False)", "Next", show=False),
        Binding("N", "search(True)", "Previous", show=False),
        Binding("escape", "leave", "Back to the probes", show=False),
        Binding("question_mark", "help", "Help", key_display="?"),
    ]

    def __init__(self, session: BisectionSession, probe: int | None = None, note: str = "") -> None:
        super().__init__()
        self._session = session
        self._probes = ProbeList(probe)
        self._answer = LineList("answer")
        self._details = LineList("details")
        self._view: DirectoryView | None = None
        self._log_view = LogView(NoLines(), id="log")
        self._texts: dict[Path, LiveText] = {}
        self._text: LiveText | None = None
        self._title, self._status = LineBar(id="title"), LineBar(id="status")
        self._log_heading = LineBar((Piece(" Log", Role.STRONG),), id="log-heading", classes="heading")
        self._prompt = Prompt()
        self._needle = ""
        self._which = "build"
        self._note = note

    def compose(self) -> ComposeResult:
        """Lay the screen out: probes and answer, a probe's details and its log."""
        yield self._title
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                with Vertical(classes="pane"):
                    yield LineBar((Piece(" 1 ", Role.DIM), Piece("Probes", Role.STRONG)), classes="heading")
                    yield self._probes
                with Vertical(classes="pane"):
                    yield LineBar((Piece(" 2 ", Role.DIM), Piece("Answer", Role.STRONG)), classes="heading")
                    yield self._answer
            with Vertical(id="right"):
                with Vertical(classes="pane", id="details-pane"):
                    yield LineBar((Piece(" 3 ", Role.DIM), Piece("Probe", Role.STRONG)), classes="heading")
                    yield self._details
                with Vertical(classes="pane", id="log-pane"):
                    yield self._log_heading
                    yield self._log_view
        yield self._prompt
        yield self._status
        yield Footer()

    def on_mount(self) -> None:
        """Read the directory now, and then periodically."""
        self._probes.focus()
        self._say(self._note)
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
        self._answer.show(answer_rows(event.view, self._session.now()))
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
        """Open the build log of the probe that was chosen, as the screen of build logs shows it."""
        probe = self._probes.selected
        if event.source not in {self._probes, self._log_view} or probe is None:
            return
        path = self._build_log(probe)
        if path is None:
            self._say(f"probe {probe.number} has no build log yet")
        else:
            self.exit(LogDetour(str(path), probe.number))

    def on_resize(self) -> None:
        """Fit the title to the new width; a narrow screen shows one half at a time."""
        self._show_title()
        self.set_class(self.size.width < NARROW, "narrow")

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """On a narrow screen, show the half that has the focus."""
        self.set_class(event.widget in {self._details, self._log_view}, "right")

    def action_view(self, name: str) -> None:
        """Go to a pane."""
        self.set_class(name == "details", "right")
        self.query_one(f"#{name}").focus()

    def action_log(self, log: str) -> None:
        """Show one of the selected probe's logs, and go there."""
        self._which = log
        self._show_probe()
        self.set_class(True, "right")  # noqa: FBT003 - Textual's own order of arguments
        self._log_view.focus()

    def action_leave(self) -> None:
        """Forget the marked probe, or go back to the probes."""
        if self._probes.marked is not None:
            self._probes.mark(None)
            self._say("")
        else:
            self.action_view("probes")

    def action_compare(self) -> None:
        """Mark the probe under the cursor, or compare the marked one with it."""
        probe, marked = self._probes.selected, self._probes.marked
        if probe is None:
            return
        if marked is None or marked.number == probe.number:
            self._probes.mark(probe)
            self._say(f"probe {probe.number} is marked; go to another one and press d again, or Esc")
            return
        good, bad = _sides(marked, probe)
        paths = [self._build_log(each) for each in (good, bad)]
        if paths[0] is None or paths[1] is None:
            missing = good if paths[0] is None else bad
            self._say(f"probe {missing.number} has no build log yet")
        else:
            self.exit(DiffDetour(str(paths[0]), str(paths[1]), probe.number))

    def action_reload(self) -> None:
        """Read the directory now."""
        self._look()
        self._say("read again; the screen follows by itself")

    def action_prefixes(self) -> None:
        """Hide the loggers' prefixes in the log, or show them again."""
        self._log_view.toggle_prefixes()

    def action_help(self) -> None:
        """Show the keys."""
        show_help(self, KEYS)

    def action_ask_search(self) -> None:
        """Ask what to search for in the log in view."""
        self._prompt.ask(Purpose.SEARCH, self._needle)

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        """Search from the line under the cursor."""
        self._needle = event.text
        self._log_view.mark(event.text)
        self.set_class(True, "right")  # noqa: FBT003 - as above
        self._log_view.focus()
        search_view(self._log_view, self._log_view.text, self._needle, backwards=False, here=True)

    def on_prompt_dismissed(self) -> None:
        """Go back to the probes."""
        self._probes.focus()

    def action_search(self, backwards: bool) -> None:  # noqa: FBT001 - Textual passes actions' arguments by position
        """Go to the next match, or the previous one."""
        if not self._needle:
            self._say("nothing to search for; type / and a text")
        else:
            search_view(self._log_view, self._log_view.text, self._needle, backwards=backwards, here=False)

    def on_match(self, event: Match) -> None:
        """Show the match, unless another search has replaced it."""
        if event.needle == self._needle:
            event.show(self._say, "log")

    def cited(self) -> tuple[str, int, str] | None:
        """Return the line under the cursor of the log."""
        if self._text is None or not len(self._text):
            return None
        number = self._log_view.current_line
        return str(self._text.path), number, self._text.line(number)

    def next_command(self) -> str:
        """Return the command that builds with the repair."""
        return applying(self._view) if self._view is not None else ""

    def issue(self) -> str:
        """Return the answer so far, with the line under the log's cursor."""
        if self._view is None:
            return ""
        state = IssueSection("State", [standing(self._view, self._session.now())], ours=True)
        names = [str(member.get("item")) for members in self._view.culprits for member in members]
        culprits = IssueSection("Culprits", names)
        suspects = IssueSection("Suspects", [] if names else suspects_of(self._view)[:_QUOTED])
        cited = self.cited()
        return quoted_issue(f"bisect {self._view.mode}", [state, culprits, suspects], [cited] if cited else [])

    def source_name(self) -> str:
        """Return the directory."""
        return str(self._view.path) if self._view is not None else ""

    def _build_log(self, probe: Probe) -> Path | None:
        if self._view is None:
            return None
        folder = self._view.folder(probe)
        return next((path for name in _LOGS["build"] if (path := folder / name).is_file()), None)

    def _say(self, text: str) -> None:
        self._status.show(Piece(f" {text}", Role.DIM))

    def _show_title(self) -> None:
        if self._view is not None:
            self._title.show(*bisection_title(self._view, self.size.width, self._session.now()))

    def _show_probe(self) -> None:
        """Show the selected probe, and let its log be read."""
        probe = self._probes.selected
        if self._view is None or probe is None:
            return
        self._details.show(probe_rows(self._view, probe))
        path = next((path for name in _LOGS[self._which] if (path := self._view.folder(probe) / name).exists()), None)
        heading = f" {probe.folder}  {path.name if path else f'no {_LOGS[self._which][0]}'}"
        if path is None:
            self._text = None
            self._log_view.show_text(NoLines())
        else:
            self._text = self._kept(path)
            heading += f"  {self._text.state}" if self._text.state else ""
            if len(self._text):
                self._log_view.show_text(self._text)
            read = partial(self._read_log, self._text)
            self.run_worker(read, group="log", thread=True, exclusive=True)
        self._log_heading.show(Piece(" 4 ", Role.DIM), Piece(heading.strip(), Role.STRONG))

    def _kept(self, path: Path) -> LiveText:
        """Return the text of a log, a new one for a log that was not shown lately."""
        text = self._texts.pop(path, None) or self._session.log(path)
        self._texts[path] = text
        while len(self._texts) > _REMEMBERED:
            self._texts.pop(next(iter(self._texts)))
        return text

    def _read_log(self, text: LiveText) -> None:
        """Read a log on, in a thread; two threads may not read one text at a time."""
        with text.lock:
            if text.update():
                self.post_message(LogRead(text))

    def on_log_read(self, event: LogRead) -> None:
        """Show the new lines, unless another log is in view by now."""
        if event.text is self._text:
            self._log_view.show_text(event.text)
            self._log_view.replace_text(event.text)  # it may have begun anew


def _sides(one: Probe, other: Probe) -> tuple[Probe, Probe]:
    """Return two probes as good and bad: by their verdicts, else the one with fewer items from bad first."""
    ranks = {Verdict.GOOD: 0, Verdict.UNRESOLVED: 1, Verdict.BAD: 2}

    def key(probe: Probe) -> tuple[int, int]:
        return (ranks[probe.last.verdict] if probe.last else 1), len(probe.active)

    return (one, other) if key(one) <= key(other) else (other, one)
