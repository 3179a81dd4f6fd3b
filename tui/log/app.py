"""The app of a build log: it shows the raw log at once, and the parsed builds when the parse ends."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.widgets import Footer
from textual.worker import get_current_worker

from trtforensics.errors import ForensicsError
from trtforensics.findings.coverage import in_words
from trtforensics.tui.copying import CopyingApp
from trtforensics.tui.log.following import Follower, Reparsed
from trtforensics.tui.log.issue import finding_issue, layer_issue
from trtforensics.tui.log.keys import KEYS
from trtforensics.tui.log.messages import Arrived, Judged, Parsed, ParseFailed, Progressed, SearchEnded
from trtforensics.tui.log.panes import Panes, Tab
from trtforensics.tui.rows.build_strip import first_failed, strip_line
from trtforensics.tui.rows.candidate_rows import candidate_table
from trtforensics.tui.rows.layer_index import LayerIndex
from trtforensics.tui.rows.overview_rows import OverviewRow, overview_rows, waiting_rows
from trtforensics.tui.rows.pieces import Piece, Role
from trtforensics.tui.rows.title_and_progress import progress_line, title_line
from trtforensics.tui.terminal_app import BAD_INPUT, STYLE
from trtforensics.tui.widgets.help import HelpScreen
from trtforensics.tui.widgets.search import Prompt, Purpose, find_around
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.types import CSSPathType

    from trtforensics.console.progress import Progress
    from trtforensics.findings.finding import Finding, Report
    from trtforensics.model.log import Build, BuildLog
    from trtforensics.tui.rows.layer_index import Subject
    from trtforensics.tui.sessions import LogSession
    from trtforensics.tui.widgets.search import Search

_MOST_DIGITS = 18
"""Digits of the longest line number that the prompt accepts."""


class LogApp(CopyingApp):
    """Browse one build log."""

    CSS_PATH: ClassVar[CSSPathType | None] = [STYLE, "app.tcss"]

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("slash", "ask_search", "Search", key_display="/"),
        Binding("n", "search(False)", "Next"),
        Binding("N", "search(True)", "Previous", show=False),
        Binding("f", "ask_filter", "Filter"),
        Binding("g", "ask_line", "Line", show=False),
        Binding("1", "open('overview')", "Overview", show=False),
        Binding("2", "open('layers')", "Layers", show=False),
        Binding("3", "open('candidates')", "Candidates", show=False),
        Binding("4", "open('log')", "Raw log", show=False),
        Binding("5", "open('findings')", "Findings"),
        Binding("w", "open('messages')", "Messages"),
        Binding("r", "reload", "Reload", show=False),
        Binding("p", "prefixes", "Prefix"),
        Binding("z", "zoom", "Zoom"),
        Binding("left_square_bracket", "build(-1)", "Previous build", show=False),
        Binding("right_square_bracket", "build(1)", "Next build", show=False),
        Binding("escape", "unfilter", "Drop filter", show=False),
    ]

    def __init__(self, session: LogSession) -> None:
        super().__init__()
        self._session = session
        self._panes = Panes(session.text)
        self._title, self._strip, self._status = LineBar(id="title"), LineBar(id="strip"), LineBar(id="status")
        self._prompt = Prompt()
        self._progress: Progress | None = None
        self._note = ""
        self._needle = ""
        self._filter = ""
        self._parsed: BuildLog | None = None
        self._reading = True
        self._number = 0
        self._index: LayerIndex | None = None
        self._shown: tuple[Subject | None, str] = (None, "")
        self._judgement: Report | None = None
        self._follower = Follower(self, self._say)

    @property
    def build(self) -> Build | None:
        """The build in view, or None before the first build is known."""
        return self._parsed.builds[self._number] if self._parsed and self._parsed.builds else None

    @property
    def _goes_on(self) -> bool:
        """Whether the build in view may still get lines."""
        return self._reading and self._parsed is not None and self._number == len(self._parsed.builds) - 1

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self._title
        yield self._strip
        yield self._panes
        yield self._prompt
        yield self._status
        yield Footer()

    def on_mount(self) -> None:
        """Show the waiting text and start the parse once it is on the screen."""
        self._panes.overview.show_rows(waiting_rows(self._session.name))
        self._show_title()
        self._show_status()
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        self.run_worker(self._parse, name="parse", group="parse", thread=True)

    def _parse(self) -> None:
        """Parse, in a thread; post the outcome as a message."""
        worker = get_current_worker()
        try:
            log = self._session.parse(self._report, self._arrive, lambda: worker.is_cancelled)
        except ForensicsError as error:
            self.post_message(ParseFailed(error))
        else:
            if log is not None:
                self.post_message(Parsed(log))

    def _report(self, progress: Progress) -> None:
        self.post_message(Progressed(progress))

    def _arrive(self, log: BuildLog) -> None:
        self.post_message(Arrived(log))

    def on_progressed(self, event: Progressed) -> None:
        """Show the progress of the parse and the lines read so far."""
        self._progress = event.progress
        self._panes.log_view.grow()
        self._show_status()

    def on_parse_failed(self, event: ParseFailed) -> None:
        """Exit with the error; the command prints it."""
        self.exit(event.error, return_code=BAD_INPUT)

    def on_arrived(self, event: Arrived) -> None:
        """Show the builds of the log so far."""
        self._take(event.log)

    def on_parsed(self, event: Parsed) -> None:
        """Show the builds of the whole log, and start the rules."""
        self._progress = None
        self._reading = False
        self._panes.log_view.grow()
        self._take(event.log)
        self._follower.follow(self._session)
        self.run_worker(partial(self._judge, event.log), name="judge", group="judge", thread=True)

    def on_reparsed(self, event: Reparsed) -> None:
        """Show what the file holds by now; every cursor stays."""
        self._follower.ended(event)
        if event.log is None:
            self._say(event.problem)
            return
        self._session = event.session
        self._panes.log_view.replace_text(event.session.text)
        self._take(event.log)
        self._say(f"the file has {len(event.session.text):,} lines now")
        self.run_worker(partial(self._judge, event.log), name="judge", group="judge", thread=True)

    def action_reload(self) -> None:
        """Read the file again; one that grows is followed anyway."""
        self._follower.reload()

    def _judge(self, log: BuildLog) -> None:
        """Run the rules, in a thread; post the outcome as a message."""
        try:
            self.post_message(Judged(self._session.judge(log)))
        except ForensicsError as error:
            self.post_message(Judged(None, str(error)))

    def on_judged(self, event: Judged) -> None:
        """Show the findings, or why there are none."""
        self._judgement = event.report
        if event.report is None:
            self._panes.findings.show_findings((), "", event.problem)
        else:
            self._show_findings()

    def _show_findings(self) -> None:
        """Show the findings of the build in view."""
        if self._judgement is None or self._parsed is None:
            return
        findings = [finding for finding in self._judgement.as_tree() if self._number in finding.builds]
        empty = f"nothing found: {in_words(self._parsed.builds[self._number].coverage)}"
        self._panes.findings.show_findings(findings, self._parsed.source.path, empty)
        self._tab("findings").count_up(f"{len(findings):,}")

    def _take(self, log: BuildLog) -> None:
        """Show the first build; if a build is in view already, update it."""
        known = self.build is not None
        self._parsed = log
        self._show_build(min(self._number, len(log.builds) - 1) if known else first_failed(log.builds), keep=known)
        if not known and self._number:
            self._panes.log_view.show_line(log.builds[self._number].first_line)
            self._say(f"build {self._number + 1} failed and is shown first")

    def _show_build(self, number: int, *, keep: bool = False) -> None:
        """Show a build in every pane but the log. With ``keep`` it was in view before and every cursor stays."""
        self._number = number
        build = self.build
        panes = self._panes
        if self._parsed is None or build is None:
            panes.overview.show_rows([OverviewRow("file", self._session.name), OverviewRow("state", "holds no build")])
            self._show_status()
            return
        self._index = LayerIndex(build)
        panes.overview.show_rows(overview_rows(self._parsed, build, reading=self._goes_on), keep=keep)
        layers = None if self._goes_on and not self._index.rows() else self._index
        if keep:
            panes.layer_tree.update_layers(layers)
        else:
            panes.layer_tree.show_layers(layers)
        panes.messages.show_messages(build.messages, keep=keep)
        self._show_findings()
        self._show_candidates(keep=keep)
        self._tab("layers").count_up(panes.layer_tree.count_text)
        self._tab("messages").count_up(f"{len(build.messages):,}")
        self._show_title()
        self._show_status()

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        """Let the log follow the cursor once it rests; in the layers, the candidates too."""

        def follow() -> None:
            if event.source is self._panes.layer_tree:
                self._show_candidates()
            if event.index < event.source.row_count():
                self._follow(event.source, event.index)

        self.when_resting(follow)

    def _show_candidates(self, *, keep: bool = False) -> None:
        """Show the candidates of the layer under the cursor, unless they are shown already.

        With ``keep`` the log was parsed again: subjects at the same line are the same, though other objects.
        """
        row = self._panes.layer_tree.selected
        subject, why = (row.subject, row.why) if row else (None, "")
        if (subject, why) == (None, "") or subject is not self._shown[0] or why != self._shown[1]:
            before, self._shown = self._shown[0], (subject, why)
            same = keep and before is not None and subject is not None and before.span.line == subject.span.line
            self._panes.show_candidates(candidate_table(self.build, subject, why), keep=same)

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Show the line of a row in the log, or the layer of a line of the log."""
        if event.source is self._panes.log_view:
            self._reveal(event.index + 1)
        else:
            self._follow(event.source, event.index)
            if event.source is self._panes.findings:
                self._show_evidence()

    def _follow(self, source: VirtualList, index: int) -> None:
        """Scroll the log to the line that a row is about."""
        line = source.log_line(index)
        if line is not None and source is not self._panes.log_view:
            self._panes.log_view.show_line(line)
        self._note = ""
        self._show_status()

    def _show_evidence(self) -> None:
        """Show the layer that a finding is about, if any, and the log at the finding's line."""
        row = self._panes.findings.selected
        if row is None or self._index is None:
            return
        line = row.line if row.line is not None else row.finding.line
        entry = None if row.headline else self._index.at_line(line)
        entry = entry or self._index.named((*row.finding.layers, *row.finding.onnx_nodes)) or self._index.at_line(line)
        if entry is None:
            self._panes.open("log")
        else:
            self._panes.open("layers", announce=False)
            self._panes.layer_tree.reveal(entry, announce=False)
            self._show_candidates()
        self._panes.log_view.show_line(line)
        self._say(f"{row.finding.code} at line {line:,}")

    def _reveal(self, line: int) -> None:
        """Show the layer, and its combination of formats, that a line belongs to; switch the build if needed."""
        build = self._parsed.build_at(line) if self._parsed else None
        if build is not None and build is not self.build:
            self._show_build(build.index)
        entry = self._index.at_line(line) if self._index else None
        if entry is None:
            self._say(f"line {line:,} belongs to no layer")
            return
        self._panes.open("layers")
        self._panes.layer_tree.reveal(entry, self._index.result_at(line) if self._index else None)

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        """Search, go to a line, or filter, as the prompt asked."""
        if event.purpose is Purpose.FILTER:
            self._keep_layers(event.text)
            if event.done:
                self._panes.open("layers")
        elif event.purpose is Purpose.LINE:
            self._go_to_line(event.text)
        else:
            self._needle = event.text
            self._panes.log_view.mark(event.text)
            self._panes.open("log")
            self._search(here=True)

    def on_prompt_dismissed(self, event: Prompt.Dismissed) -> None:
        """Go back to the pane that the prompt was opened for."""
        if event.purpose is Purpose.FILTER:
            self._keep_layers("")
            self._panes.open("layers")
        else:
            self._panes.open("log")

    def _go_to_line(self, text: str) -> None:
        """Move the log to a typed line number."""
        self._panes.open("log")
        digits = text.strip().replace(",", "")
        if digits.isdecimal() and len(digits) <= _MOST_DIGITS:
            self._panes.log_view.show_line(int(digits))
            self._say("")
        else:
            self._say(f"{text!r} is not a line number")

    def _keep_layers(self, needle: str) -> None:
        self._filter = needle
        self._panes.layer_tree.filter(needle)
        self._tab("layers").count_up(self._panes.layer_tree.count_text if self._index else "")

    def _search(self, *, backwards: bool = False, here: bool = False) -> None:
        """Search for the next match in a thread, as a log may have gigabytes. ``here`` includes the current line."""
        if not self._needle:
            self._say("nothing to search for; type / and a text")
            return
        line = self._panes.log_view.current_line
        search = partial(find_around, self._session.text, self._needle, line, backwards=backwards, here=here)
        self.run_worker(partial(self._find, self._needle, search), group="search", thread=True, exclusive=True)

    def _find(self, needle: str, search: Search) -> None:
        """Search, in a thread; post the outcome as a message."""
        line, wrapped = search()
        self.post_message(SearchEnded(needle, line, wrapped=wrapped))

    def on_search_ended(self, event: SearchEnded) -> None:
        """Show the match, unless another search has begun."""
        if event.needle != self._needle:
            return
        if event.line is None:
            self._say(f"{event.needle!r} is nowhere in the lines read")
            return
        self._panes.log_view.show_match(event.line)
        self._say(f"{event.needle!r}" + (", from the other end again" if event.wrapped else ""))

    def on_resize(self) -> None:
        """Fit the title to the new width."""
        self._show_title()

    def cited(self) -> tuple[str, int, str] | None:
        """Return the line that the row of the focused list is about; of a list without lines, the log's own."""
        pane = self.pane or self._panes.log_view
        line = pane.log_line(pane.cursor) if pane.row_count() else None
        line = line or self._panes.log_view.current_line
        text = self._session.text
        return (self._session.name, line, text.line(line)) if line <= len(text) else None

    def next_command(self) -> str:
        """Return the command that the finding under the cursor says to run next."""
        finding = self._finding
        return next((step.command for step in finding.next_steps if step.command), "") if finding is not None else ""

    @property
    def _finding(self) -> Finding | None:
        """The finding in view, if the findings are."""
        row = self._panes.findings.selected if self._panes.tab == "findings" else None
        return row.finding if row is not None else None

    def issue(self) -> str:
        """Return the finding or the layer in view, with its candidates and its lines."""
        build, finding, row = self.build, self._finding, self._panes.layer_tree.selected
        text, cited = self._session.text, self.cited()
        if build is None:
            return ""
        if finding is not None:
            lines = [each.span.line for each in finding.evidence if each.span.line <= len(text)]
            return finding_issue(build, finding, [(self._session.name, line, text.line(line)) for line in lines])
        if row is None:
            return ""
        return layer_issue(build, row, self._panes.candidates.table, [cited] if cited else [])

    def source_name(self) -> str:
        """Return the path of the log."""
        return self._session.name

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(HelpScreen(KEYS))

    def action_open(self, pane: str) -> None:
        """Open a pane."""
        self._panes.open(pane)

    def action_zoom(self) -> None:
        """Let the focused pane fill the screen, or undo that."""
        self._panes.zoom()

    def action_prefixes(self) -> None:
        """Hide the loggers' prefixes in the log, or show them again."""
        self._panes.log_view.toggle_prefixes()

    def action_build(self, by: int) -> None:
        """Switch to another build of the file."""
        count = len(self._parsed.builds) if self._parsed else 0
        if count > 1:
            self._show_build((self._number + by) % count)
            build = self.build
            if build is not None:
                self._panes.log_view.show_line(build.first_line)
        else:
            self._say("the file holds one build" if count else "the log is still being read")

    def action_search(self, backwards: bool) -> None:  # noqa: FBT001 - Textual passes actions' arguments by position
        """Go to the next match, or the previous one."""
        self._search(backwards=backwards)

    def action_ask_search(self) -> None:
        """Ask what to search for."""
        self._prompt.ask(Purpose.SEARCH, self._needle)

    def action_ask_filter(self) -> None:
        """Ask which layers to keep."""
        self._panes.open("layers")
        self._prompt.ask(Purpose.FILTER, self._filter)

    def action_ask_line(self) -> None:
        """Ask for a line number."""
        self._prompt.ask(Purpose.LINE)

    def action_unfilter(self) -> None:
        """Show all layers again."""
        self._keep_layers("")

    def _say(self, note: str) -> None:
        """Show a note in the status line until the next event."""
        self._note = note
        self._show_status()

    def _tab(self, pane: str) -> Tab:
        return self.query_one(f"#tab-{pane}", Tab)

    def _show_strip(self) -> None:
        """Show the outcomes of the builds where there are several, or several passes."""
        strip, log, build = self._strip, self._parsed, self.build
        line = strip_line(log, build, self.size.width, reading=self._reading) if log and build else ()
        strip.display = bool(line)
        strip.show(*line)

    def _show_title(self) -> None:
        self._show_strip()
        self._title.show(
            *title_line(self._session.name, self._parsed, self.build, self.size.width, reading=self._goes_on)
        )

    def _show_status(self) -> None:
        """Show the progress while parsing, later the position in the log; then the filter and the note, if any."""
        log_view = self._panes.log_view
        if not self._reading:
            place = f" line {log_view.current_line:,} of {log_view.row_count():,}"
            pieces = [Piece(place, Role.DIM)]
        elif self._progress is not None:
            pieces = list(progress_line(self._progress, self.size.width))
        else:
            pieces = [Piece(" opening", Role.WARNING)]
        if self._filter:
            pieces.append(Piece(f" · layers with {self._filter!r}", Role.ACCENT))
        if self._note:
            pieces.append(Piece(f" · {self._note}", Role.ACCENT))
        self._status.show(*pieces)
