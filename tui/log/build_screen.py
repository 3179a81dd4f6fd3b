"""The build in view, on every pane. Threads read and judge the log, and again when it changes; its lines are shown."""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, cast

from textual.events import ScreenResume
from textual.widget import Widget
from textual.worker import get_current_worker

from trtforensics.console.counting import counted
from trtforensics.console.progress import Progress
from trtforensics.engines.facts import LayerFacts
from trtforensics.errors import ForensicsError
from trtforensics.findings.finding import Finding, Report, in_words
from trtforensics.model.log import Build, BuildLog
from trtforensics.model.timings import NEAR_TIE_RATIO
from trtforensics.tables.layers import LAYER_COLUMNS
from trtforensics.tables.table import parse_filter
from trtforensics.tui.app import TerminalApp
from trtforensics.tui.log.panes import Panes
from trtforensics.tui.rows.finding_rows import in_view
from trtforensics.tui.rows.first_rows import first_rows
from trtforensics.tui.rows.layers.candidates import (
    NO_LAYERS,
    UNSELECTED,
    CandidateTable,
    candidate_table,
    layer_table,
    unknown_table,
)
from trtforensics.tui.rows.layers.index import LayerIndex, RowKind, Subject, TreeRow, line_of
from trtforensics.tui.rows.overview_rows import (
    OverviewRow,
    first_failed,
    progress_line,
    strip_line,
    title_line,
    waiting_rows,
)
from trtforensics.tui.rows.pieces import Piece, Role
from trtforensics.tui.rows.time_map import MapRow, TimeMap
from trtforensics.tui.screen import SourceScreen
from trtforensics.tui.searching import LogSearch
from trtforensics.tui.sessions import LogSession
from trtforensics.tui.user_files import KeptSource
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList
from trtforensics.tui.widgets.work import in_thread

PERIOD_S = 1.0
"""Seconds between two looks at the file."""

GROWS_S = 30.0
"""Seconds without a new line after which a file that grew counts as complete."""

_STOPS = "TF701"
"""Says that a log stops, which is not said of one that grows."""

_PAUSE = 4
"""A growing file is parsed again after so many times as long as the last parse took, so that keys stay fast."""

PROGRESS_S = 0.2
"""Least seconds between two looks at the progress: a fast parse reports more often, and each look paints the log."""

TIES = (1.005, 1.01, NEAR_TIE_RATIO, 1.03, 1.05, 1.1, 1.2)
"""The ratios of runner-up to winner up to which ``<`` and ``>`` let a choice count as a near tie."""


class BuildScreen(SourceScreen):
    """Shows one build of a log, first the one asked for, else the first failed one. A subclass adds the keys."""

    def __init__(self, session: LogSession, first: int | None = None) -> None:
        super().__init__(session.name)
        self._asked = first
        self.session = session
        """The log as it was read last."""
        self._busy = True
        self._due = 0.0
        self._grows_until = 0.0
        self.progress: Progress | None = None
        """The progress of the parse; None before it begins, and after it."""
        self._is_shown = self._was_shown = False
        self.reading = True
        """Whether the log may still get lines."""
        self.kept: KeptSource | None = None
        """Bookmarks and the place of the last session; None before the log is parsed, and of what is no file."""
        self.judgement: Report | None = None
        """The findings; None before the rules have run, and where they could not."""
        self._panes = Panes(session.text)
        self._strip = LineBar(id="strip")
        self._note = ""
        self._search = LogSearch(self._panes.log_view, self.say)
        self._tie = TIES.index(NEAR_TIE_RATIO)
        self._filtered: VirtualList[Any] = self._panes.layer_tree
        self._parsed: BuildLog | None = None
        self._number = 0
        self._index: LayerIndex | None = None
        self._prepared: tuple[LayerIndex, TimeMap] | None = None
        self._map: TimeMap | None = None
        self._shown: LayerFacts | Subject | None = None
        self._path: tuple[MapRow, ...] = ()
        """The way from the engine to the place of the time map in view."""

    @property
    def search(self) -> LogSearch:
        return self._search

    @property
    def build(self) -> Build | None:
        """The build in view, or None before the first build is known."""
        return self._parsed.builds[self._number] if self._parsed and self._parsed.builds else None

    @property
    def _goes_on(self) -> bool:
        goes_on = self.reading or time.monotonic() < self._grows_until
        return goes_on and self._parsed is not None and self._number == len(self._parsed.builds) - 1

    def discard(self) -> None:
        self.session.close()

    def panes(self) -> Iterable[Widget]:
        yield self._strip
        yield self._panes

    def on_mount(self) -> None:
        self._panes.show_overview(waiting_rows(self.session.name))
        self.show_title()
        self._show_status()
        self.set_interval(PROGRESS_S, self._show_progress)
        self.set_interval(PERIOD_S, self._look)
        self.call_after_refresh(self._read)

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Let the first picture not wait for styles that are worked out a second time, now by the focus too."""
        if not self._was_shown:
            event.refresh_styles, self._was_shown = False, True
            self.call_after_refresh(self.update_node_styles, animate=False)

    def _read(self) -> None:
        """Start the parse; what a log says that is still being written is shown meanwhile."""
        app = cast("TerminalApp", self.app)

        def parse() -> BuildLog | None:
            worker = get_current_worker()

            def cancelled() -> bool:
                app.rest()
                return worker.is_cancelled

            send: Callable[..., Any] = self.call_later
            log = self.session.parse(partial(send, self.progressed), partial(send, self.take), cancelled)
            if log is not None:
                self.prepare(log)
            return log

        in_thread(self, parse, self.parsed, group="parse", failed=self.fail)

    def progressed(self, progress: Progress) -> None:
        """Keep the progress of the parse; show the first at once, and others now and then."""
        first, self.progress, self._is_shown = self.progress is None, progress, False
        if first:
            self.lines_arrived()

    def _show_progress(self) -> None:
        """Show new progress, but not behind another screen, such as the help, which would be painted anew each time."""
        if self.progress is not None and not self._is_shown and self.is_active:
            self.lines_arrived()

    def parsed(self, log: BuildLog) -> None:
        self.progress = None
        self.reading = False
        self.take(log)
        self._recall()
        self._busy = False
        self._judge(log)

    def _recall(self) -> None:
        """Show the source as the user left it, if it has not changed since; its bookmarks in any case."""
        if not self.session.is_file or self._parsed is None:
            return
        self.kept = kept = KeptSource(self.session.name, self._text_at)
        self._panes.log_view.bookmarked = kept.bookmarks
        build = kept.place.get("build", 0)
        if kept.place.get("source") != self.session.identity or build not in range(len(self._parsed.builds)):
            return
        if build != self._number:
            self._show_build(int(str(build)))
        self._panes.recall(kept.place)
        self.say("as you left it; 1 shows the first screen")

    def on_unmount(self) -> None:
        if self.kept is not None:
            memory = self._panes.memory() | ({"build": self._number} if self._number else {})
            self.kept.keep(memory and {"source": self.session.identity, **memory})

    def _judge(self, log: BuildLog) -> None:
        in_thread(self, partial(self.session.judge, log), self.judged, group="judge", failed=self.unjudged)

    def reparsed(self, parsed: tuple[LogSession, BuildLog]) -> None:
        self.session, log = parsed
        self._grows_until = time.monotonic() + GROWS_S
        self.set_timer(GROWS_S + 0.01, self._rested)
        self._busy = False
        self._panes.log_view.replace_text(self.session.text)
        self.take(log)
        self.say(f"the file has {counted(len(self.session.text), 'line')} now")
        self._judge(log)

    def _rested(self) -> None:
        """Say how the log ended, if it has not grown since."""
        if not self._goes_on:
            self.show_title()
            self._show_findings()

    def judged(self, report: Report) -> None:
        self.judgement = report
        self._show_findings()

    def unjudged(self, error: ForensicsError) -> None:
        self.judgement = None
        self._panes.findings.show_findings((), "", str(error))

    def action_reload(self) -> None:
        if self._busy:
            self.say("the log is still being read")
        elif not self.session.is_file:
            self.say("standard input cannot be read again")
        else:
            self._reread()

    def _look(self) -> None:
        if self._busy or not self.session.is_file or time.monotonic() < self._due:
            return
        change = self.session.change()
        if change == "gone":
            self.say("the file is gone; these are its last lines")
        elif change:
            self._reread()

    def _reread(self) -> None:
        self._busy = True
        in_thread(self, self._reparse, self.reparsed, group="parse", failed=self._not_reread)

    def _reparse(self) -> tuple[LogSession, BuildLog] | None:
        began = time.monotonic()
        try:
            newer = self.session.again()
            log = newer.parse(lambda _: None, lambda _: None, lambda: not self.is_running)
            return None if log is None else (newer, log)
        finally:
            now = time.monotonic()
            self._due = now + _PAUSE * (now - began)

    def _not_reread(self, error: ForensicsError) -> None:
        """Say why the file could not be read again; it is asked only once it changes."""
        self.session.note_change()
        self._busy = False
        self.say(f"not read again: {error}")

    def lines_arrived(self) -> None:
        self._is_shown = True
        self._panes.log_view.grow()
        self._show_status()

    def _show_findings(self) -> None:
        findings = self._findings()
        if findings is None or self._parsed is None:
            return
        empty = f"nothing found: {in_words(self._parsed.builds[self._number].coverage)}"
        self._panes.findings.show_findings(findings, self._parsed.source.path, empty)
        self._panes.tabs["findings"].lay_out(count=f"{len(findings):,}")
        self._show_overview(keep=True)

    def _findings(self) -> Sequence[Finding] | None:
        """Return the findings about the build in view, worst first; None before the rules have run."""
        if self.judgement is None or self._parsed is None:
            return None
        build = self._parsed.builds[self._number]
        about = (finding for finding in self.judgement.as_tree() if build.index in finding.builds)
        about = (finding for finding in about if not (self._goes_on and finding.code == _STOPS))
        return [in_view(finding.in_build(build.index), build.first_line, build.last_line) for finding in about]

    def _show_overview(self, *, keep: bool) -> None:
        time_map = self._map
        if self._parsed is None or time_map is None:
            return
        time_map.findings = self._findings()
        if self._path:
            self._panes.show_overview(time_map.inside(self._path[-1]), self._path, keep=keep)
            return
        files = self.session.files
        rows = first_rows(self._parsed, time_map, self._text_at, reading=self._goes_on, files=files)
        self._panes.show_overview(rows, keep=keep)

    def _text_at(self, line: int) -> str | None:
        return self.session.text.line(line) if 0 < line <= len(self.session.text) else None

    def drill(self, row: MapRow) -> None:
        """Show what stands below a row of the map, and select its layer, so that its candidates are a key away."""
        if self._map is not None:
            self._path = self._map.path_to(self._path, row)
            self._show_overview(keep=False)

    def rise(self) -> bool:
        """Show the place of the map above the one in view, with the cursor where it was; False at the engine."""
        if not self._path:
            return False
        *above, left = self._path
        self._path = tuple(above)
        self._show_overview(keep=False)
        overview = self._panes.overview
        place = next((row for row in overview.rows if (row.label, row.line) == (left.label, left.line)), None)
        if place is not None:
            overview.go_to(overview.place_of(place))
        return True

    def prepare(self, log: BuildLog) -> None:
        """Make the index of the build that comes into view, in the thread that parses, so that keys are answered."""
        if log.builds:
            known = self.build is not None
            number = min(self._number, len(log.builds) - 1) if known else self._first_of(log.builds)
            index = LayerIndex(log.builds[number], self.session.model)
            index.questions(TIES[self._tie])
            index.rows(parse_filter('"|"', LAYER_COLUMNS).keeps)  # starts Lark and reads all texts: no key waits
            time_map = TimeMap(index.facts)
            first_rows(log, time_map, self._text_at, files=self.session.files)
            self._prepared = index, time_map

    def take(self, log: BuildLog) -> None:
        """Show the first build; if a build is in view already, update it."""
        known = self.build is not None
        self._panes.log_view.grow()
        if not self.reading:
            self._search.renew()
        self._parsed = log
        self._show_build(min(self._number, len(log.builds) - 1) if known else self._first_of(log.builds), keep=known)
        if not known and self._number:
            self._panes.log_view.show_line(log.builds[self._number].first_line)
            if self._asked is None:
                self.say(f"build {self._number + 1} failed and is shown first")

    def _first_of(self, builds: Sequence[Build]) -> int:
        return first_failed(builds) if self._asked is None else min(self._asked, max(len(builds) - 1, 0))

    def _show_build(self, number: int, *, keep: bool = False) -> None:
        """Show a build in every pane but the log. With ``keep`` it was in view before and every cursor stays."""
        self._number = number
        build = self.build
        panes = self._panes
        if self._parsed is None or build is None:
            panes.show_overview([OverviewRow("file", self.session.name), OverviewRow("state", "holds no build")])
            self._show_status()
            return
        prepared, self._prepared = self._prepared, None
        if prepared is not None and prepared[0].build is build:
            self._index, self._map = prepared
        elif self._index is None or self._index.build is not build:
            self._index = LayerIndex(build, self.session.model)
            self._map = TimeMap(self._index.facts)
        self._path = self._map.renewed(self._path) if keep and self._path and self._map else ()
        self._show_overview(keep=keep)
        layers = None if self._goes_on and not self._index.rows() else self._index
        if keep:
            panes.layer_tree.update_layers(layers)
        else:
            panes.layer_tree.show_layers(layers)
        panes.show_messages(build.messages, keep=keep)
        panes.show_nodes(build, keep=keep)
        panes.show_timeline(self._parsed, build, self._text_at, keep=keep)
        self._show_findings()
        self._show_candidates(keep=keep)
        panes.tabs["layers"].lay_out(count=panes.layer_tree.count_text)
        self.show_title()
        self._show_status()

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:

        def follow() -> None:
            if event.source is self._panes.layer_tree:
                self._show_candidates()
            elif event.source is self._panes.overview:
                self.select_mapped()
            if event.index < event.source.row_count():
                self._follow(event.source, event.index)

        self.when_resting(follow)

    def select_mapped(self) -> None:
        """Select the layer under the map's cursor among the layers, unless a filter hides it."""
        row = self._panes.overview.selected
        entry = getattr(row, "entry", None) or (self._path[-1].entry if self._path else None)
        if entry is not None and self._panes.layer_tree.select(entry):
            self._show_candidates()

    def _show_candidates(self, *, keep: bool = False, anew: bool = False) -> None:
        """Show the candidates of the layer under the cursor if it is new, or ``anew``; ``keep``: parsed again."""
        row = self._panes.layer_tree.selected
        shown = row.entry if row and row.kind is RowKind.LAYER else row.subject if row else None
        if shown is None or shown is not self._shown or anew:
            before, self._shown = self._shown, shown
            same = anew or (keep and before is not None and shown is not None and _line(before) == _line(shown))
            self._panes.show_candidates(self._table(row), keep=same)

    def _table(self, row: TreeRow | None) -> CandidateTable:
        """Return the candidates of a row: of a layer in all formats, of anything else its own."""
        tie = TIES[self._tie]
        if row is None or self._index is None:
            return UNSELECTED if self._index is None or self._goes_on or self._index.rows() else NO_LAYERS
        if row.kind is RowKind.LAYER and row.entry is not None:
            return layer_table(row.entry, tie=tie)
        if row.subject is None:
            return unknown_table(row.why)
        return candidate_table(self._index.facts.alternatives, row.subject, row.why, tie=tie)

    def _follow(self, source: VirtualList[Any], index: int) -> None:
        line = source.log_line(index)
        if line is not None and source is not self._panes.log_view:
            self._panes.log_view.show_line(line)
        self._note = ""
        self._show_status()

    def say(self, note: str) -> None:
        self._note = note
        self._show_status()

    def show_title(self) -> None:
        """Show the build in view and how it ended; outcomes of builds where there are several, or several passes."""
        log, build, width = self._parsed, self.build, self.app.size.width
        line = strip_line(log, build, width, reading=self.reading) if log and build else ()
        self._strip.display = bool(line)
        self._strip.show(*line)
        self.title_bar.show(*title_line(self.session.name, log, build, width, reading=self._goes_on))

    def _show_status(self) -> None:
        """Show the progress while parsing, later the position in the log; then the filter and the note, if any."""
        log_view = self._panes.log_view
        if self.prompt.display and self._note:  # what is wrong with the text stands below it, uncut
            self.status_bar.show(Piece(f" {self._note}", Role.ERROR))
            return
        if not self.reading:
            place = f" line {log_view.current_line:,} of {log_view.line_count:,}"
            pieces = [Piece(place, Role.DIM)]
        elif self.progress is not None:
            pieces = list(progress_line(self.progress, self.app.size.width))
        else:
            pieces = [Piece(" opening", Role.WARNING)]
        kept = self._panes.list_of(self._panes.tab).kept_by.text
        if kept:
            pieces.append(Piece(f" · kept: {kept}", Role.ACCENT))
        if self._search.only:
            pieces.append(Piece(f" · only {self._search.only}", Role.ACCENT))
        if self._note:
            pieces.append(Piece(f" · {self._note}", Role.ACCENT))
        self.status_bar.show(*pieces)


def _line(shown: LayerFacts | Subject) -> int | None:
    return line_of(shown) if isinstance(shown, LayerFacts) else shown.span.line
