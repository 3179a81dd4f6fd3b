"""The screen of a bisection, live or finished: its probes, each probe's logs, and the answer so far."""

from collections.abc import Iterable
from datetime import datetime, timezone
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from textual.containers import Horizontal, Vertical
from textual.events import DescendantFocus
from textual.widget import Widget

from trtforensics.bisection.search import Verdict
from trtforensics.bisection.session.artifacts import is_paused, set_paused
from trtforensics.bisection.session.history import Probe
from trtforensics.bisection.session.view import DirectoryView, view_directory
from trtforensics.errors import OutputError
from trtforensics.parsers.text.text import LogText
from trtforensics.tui.comparing import ComparingScreen
from trtforensics.tui.issue import quoted_issue
from trtforensics.tui.live_text import LiveText
from trtforensics.tui.rows import bisection_rows
from trtforensics.tui.rows.pieces import Piece, Presentation, Role
from trtforensics.tui.widgets.log_view import LogView
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList
from trtforensics.tui.widgets.work import in_thread

PERIOD_S = 0.5
"""Seconds between two reads of the directory."""

NARROW = 100
"""Width in cells below which the probes or a log take the whole width."""

_LOGS = {"build": ("build.log", "build.out"), "errors": ("build.err",), "check": ("check.log",)}
_QUOTED = 40
"""Most suspects that an issue names."""

_REMEMBERED = 8
"""Number of logs that are kept, so that going back to one does not read it again."""


class BisectionScreen(ComparingScreen["Probe"]):
    """Browse a bisection. Logs of its probes, and comparisons of two, open above it."""

    KEYS = "bisection"

    def __init__(self, path: Path, max_bytes: int) -> None:
        probe_list: VirtualList[Probe] = VirtualList(Presentation(), id="probes")
        self._log_view = LogView(LogText(), id="log")
        super().__init__(str(path), probe_list, self._log_view, max_bytes=max_bytes)
        self._probes = probe_list
        self._path = path
        self._answer = VirtualList(bisection_rows.LINES, id="answer")
        self._details = VirtualList(bisection_rows.LINES, id="details")
        self._view: DirectoryView | None = None
        self._log_at = lru_cache(_REMEMBERED)(LiveText)
        self._text: LiveText | None = None
        self._log_heading = LineBar((Piece(" Log", Role.STRONG),), id="log-heading", classes="heading")
        self._which = "build"

    def panes(self) -> Iterable[Widget]:
        yield Horizontal(
            Vertical(_headed(1, "Probes", self._probes), _headed(2, "Answer", self._answer), id="left"),
            Vertical(
                _headed(3, "Probe", self._details, "details-pane"),
                Vertical(self._log_heading, self._log_view, classes="pane", id="log-pane"),
                id="right",
            ),
            id="panes",
        )

    def on_mount(self) -> None:
        self._probes.focus()
        self.say("")
        self.set_interval(PERIOD_S, self._look_in_view)

    def _look_in_view(self) -> None:
        """Read the directory, unless another screen hides what it holds."""
        if self.is_active:
            self._look()

    def on_screen_resume(self) -> None:
        self._look()

    def _look(self) -> None:
        in_thread(self, partial(view_directory, self._path), self._show, group="look", failed=self.fail)

    def _show(self, view: DirectoryView) -> None:
        at_end = self._probes.cursor >= self._probes.row_count() - 1
        self._view = view
        self.show_rows()
        if at_end:
            self._probes.go_to(self._probes.row_count() - 1)
        self._answer.show(bisection_rows.answer_rows(view, present()), keep=True)
        self.show_title()
        self._show_probe()

    def show_rows(self) -> None:
        if self._view is not None:
            self._probes.show(self._view.probes, presentation=bisection_rows.probes(self._view, self.marked), keep=True)

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        if event.source is self._probes:
            self._show_probe()

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Open the build log of the probe that was chosen, as the screen of build logs shows it."""
        probe = self._probes.selected
        if event.source not in {self._probes, self._log_view} or probe is None:
            return
        path = self._build_log(probe)
        if path is None:
            self.say(f"probe {probe.number} has no build log yet")
            return
        errors = path.with_name(_LOGS["errors"][0])
        self.open_log(str(path), str(errors) if errors.is_file() and errors.stat().st_size else None)

    def on_resize(self) -> None:
        self.set_class(self.app.size.width < NARROW, "narrow")

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        self.set_class(event.widget in {self._details, self._log_view}, "right")

    def action_view(self, name: str) -> None:
        self.set_class(name == "details", "right")
        self.query_one(f"#{name}").focus()

    def action_log(self, log: str) -> None:
        self._which = log
        self._show_probe()
        self.open_view(self._log_view)

    def action_leave(self) -> None:
        """Forget the marked probe, or go back to the probes."""
        if not self.drop_mark():
            self.action_view("probes")

    def about_mark(self, row: Probe) -> str:
        return f"probe {row.number} is marked; go to another one"

    def compare(self, marked: Probe, row: Probe) -> None:
        good, bad = _sides(marked, row)
        logs = self._build_log(good), self._build_log(bad)
        if logs[0] is None or logs[1] is None:
            self.say(f"probe {(bad if logs[0] else good).number} has no build log yet")
        else:
            self.open_diff(*map(str, logs))

    def action_reload(self) -> None:
        self._look()
        self.say("read again; the screen follows by itself")

    def action_pause(self) -> None:
        if self._view is None:
            return
        paused = not is_paused(self._path)
        if paused and not self._view.live:
            self.say("no process works on it now: nothing to pause")
            return
        try:
            set_paused(self._path, paused=paused)
        except OutputError as error:
            self.notify(str(error), markup=False)
            return
        self.say("no further probe starts; P again goes on" if paused else "it goes on")
        self._look()

    def open_view(self, view: VirtualList[Any]) -> None:
        """Bring the log into view, on a narrow screen too, and focus it."""
        self.set_class(True, "right")  # noqa: FBT003 - Textual's own order of arguments
        view.focus()

    def cited(self) -> tuple[str, int, str] | None:
        if self._text is None or not len(self._text):
            return None
        number = self._log_view.current_line
        return str(self._text.path), number, self._text.line(number)

    def next_command(self) -> str:
        return bisection_rows.applying(self._view) if self._view is not None else ""

    def issue(self) -> str:
        """Return the answer so far, with the line under the log's cursor."""
        if self._view is None:
            return ""
        names = [member.item for members in self._view.culprits for member in members]
        suspects = () if names else bisection_rows.suspects_of(self._view)[:_QUOTED]
        sections = {"State": [bisection_rows.standing(self._view, present())], "Culprits": names, "Suspects": suspects}
        return quoted_issue(f"bisect {self._view.mode}", sections, [self.cited()])

    def _build_log(self, probe: Probe) -> Path | None:
        if self._view is None:
            return None
        folder = self._view.folder(probe)
        return next((path for name in _LOGS["build"] if (path := folder / name).is_file()), None)

    def say(self, note: str) -> None:
        self.status_bar.show(Piece(f" {note}", Role.DIM))

    def show_title(self) -> None:
        if self._view is not None:
            self.title_bar.show(*bisection_rows.bisection_title(self._view, self.app.size.width, present()))

    def _show_probe(self) -> None:
        probe = self._probes.selected
        if self._view is None or probe is None:
            return
        self._details.show(bisection_rows.probe_rows(self._view, probe), keep=True)
        path = next((path for name in _LOGS[self._which] if (path := self._view.folder(probe) / name).exists()), None)
        heading = f" {probe.folder}  {path.name if path else f'no {_LOGS[self._which][0]}'}"
        if path is None:
            self._text = None
            self._log_view.show_text(LogText())
        else:
            self._text = self._log_at(path)
            heading += f"  {self._text.state}" if self._text.state else ""
            if len(self._text):
                self._log_view.show_text(self._text)
            in_thread(self, partial(_grown, self._text), self._show_grown, group="log")
        self._log_heading.show(Piece(" 4 ", Role.DIM), Piece(heading.strip(), Role.STRONG))

    def _show_grown(self, text: LiveText) -> None:
        """Show the new lines of a log, unless another log is in view by now."""
        if text is self._text:
            self._log_view.show_text(text)
            self._log_view.replace_text(text)  # it may have begun anew


def present() -> datetime:
    """Return the present time."""
    return datetime.now(timezone.utc)


def _headed(key: int, title: str, shown: Widget, name: str | None = None) -> Vertical:
    """Return a pane with its heading: the key that leads there, and its title."""
    heading = LineBar((Piece(f" {key} ", Role.DIM), Piece(title, Role.STRONG)), classes="heading")
    return Vertical(heading, shown, classes="pane", id=name)


def _grown(text: LiveText) -> LiveText | None:
    """Read a log on; two threads may not read one text at a time. None where it did not change."""
    with text.lock:
        return text if text.update() else None


def _sides(first: Probe, second: Probe) -> tuple[Probe, Probe]:
    """Return two probes as good and bad: by their verdicts, else the one with fewer items from bad first."""
    ranks = {Verdict.GOOD: 0, Verdict.UNRESOLVED: 1, Verdict.BAD: 2}

    def key(probe: Probe) -> tuple[int, int]:
        return (ranks[probe.last.verdict] if probe.last else 1), len(probe.active)

    return (first, second) if key(first) <= key(second) else (second, first)
