"""The screen of a build log: it shows the raw log at once, and the parsed builds when the parse ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from trtforensics.engines.facts import LayerFacts
from trtforensics.findings.finding import Finding
from trtforensics.model.log import EngineLayer
from trtforensics.tables.table import FilterError
from trtforensics.tui.log.build_screen import TIES, BuildScreen
from trtforensics.tui.log.dialogs import BookmarkScreen, DetailScreen, NeighbourScreen
from trtforensics.tui.log.layer_tree import LayerTree
from trtforensics.tui.rows.finding_rows import line_in_view
from trtforensics.tui.rows.first_rows import Row
from trtforensics.tui.rows.layers.index import RowKind
from trtforensics.tui.rows.overview_rows import OverviewRow
from trtforensics.tui.rows.time_map import MapRow
from trtforensics.tui.sessions import LogSession
from trtforensics.tui.widgets.dialogs import TextQuestion
from trtforensics.tui.widgets.search import Asking, Prompt
from trtforensics.tui.widgets.virtual_list import VirtualList

SUGGESTING = 1_000
"""Rows whose values the prompt suggests; a key must not wait for more."""

_MOST_DIGITS = 18


_MOST_PLACES = 100
"""Places that are kept, to go back and forward through."""


@dataclass(frozen=True, slots=True)
class Place:
    """What the screen showed: a build, the list in focus with its cursor, the selected layer, and the log's line."""

    build: int
    pane: str
    entry: LayerFacts | None
    cursor: int
    line: int

    def is_at(self, other: Place) -> bool:
        """Whether both show the same: the log that follows a cursor does not count, a log in focus does."""
        if (self.build, self.pane) != (other.build, other.pane) or self.entry is not other.entry:
            return False
        return self.line == other.line if self.pane == "log" else self.cursor == other.cursor


class Trail:
    """Places in the order in which they were looked at. A jump from an older place drops the newer ones."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._at = -1

    def keep(self, place: Place) -> None:
        """Keep the place that a jump starts from, or led to."""
        if self._at >= 0 and place.is_at(self._places[self._at]):
            return
        del self._places[self._at + 1 :]
        self._places.append(place)
        del self._places[:-_MOST_PLACES]
        self._at = len(self._places) - 1

    def step(self, by: int, here: Place) -> Place | None:
        """Go ``by`` places back (negative) or forward from here; None where there is none."""
        if by < 0 and self._at == len(self._places) - 1 and self._places and not here.is_at(self._places[self._at]):
            self.keep(here)
        if not 0 <= self._at + by < len(self._places):
            return None
        self._at += by
        return self._places[self._at]


class LogScreen(BuildScreen):
    """Browse one build log."""

    KEYS = "log"

    def __init__(self, session: LogSession, first: int | None = None) -> None:
        super().__init__(session, first)
        self._history = Trail()

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Open what a row is about: a layer's detail, a finding's evidence, a node's layer, a log line's layer."""
        panes = self._panes
        if event.source is panes.log_view:
            self._visit(partial(self._reveal, panes.log_view.rows[event.index]))
        elif (event.source is panes.layer_tree and self._opened(panes.layer_tree)) or (
            event.source is panes.overview and self._entered(panes.overview.selected)
        ):
            return
        elif event.source is panes.nodes:
            self._visit(self._show_node)
        else:
            self._follow(event.source, event.index)
            panes.pull_drawer()
            if event.source is panes.findings:
                self._visit(self._show_evidence)

    def _entered(self, row: Row | None) -> bool:
        """Open a row of the first screen: a place of the map, a finding, another build."""
        if isinstance(row, MapRow) and row.is_open:
            self.drill(row)
        elif isinstance(row, OverviewRow) and row.finding is not None:
            self._panes.open("findings")
            self._panes.findings.reveal(row.finding)
        elif isinstance(row, OverviewRow) and row.build is not None:
            self._show_build(row.build)
        else:
            return False
        return True

    def _opened(self, tree: LayerTree) -> bool:
        """Open the detail of the layer under the cursor, or what a filter without layers offers."""
        row = tree.selected
        if row is None:
            self._offer(tree)
            return True
        if row.kind is not RowKind.LAYER or row.entry is None or self._index is None or self.build is None:
            return False
        self.app.push_screen(DetailScreen(row.entry, row.entry.why(TIES[self._tie])), self._go_to_cited)
        return True

    def _offer(self, tree: LayerTree) -> None:
        """Look for the text of a filter that keeps no layer among the ONNX nodes, else in the log."""
        text = tree.kept_by.text
        if not text:
            return
        self._panes.look_up("nodes")
        if any(fate.mentions(text.casefold()) for fate in self._panes.nodes.every):
            self._panes.nodes.filter(f'"{text}"' if '"' not in text else "")
            self._panes.open("nodes")
        else:
            self._panes.open("log")
            self._search.begin(text, regex=False)

    def _go_to_cited(self, line: int | None) -> None:
        """Show the line that a row of a closed screen cites, if any."""
        if line is not None:
            self._panes.pull_drawer()
            self._panes.log_view.show_line(line)
            self._show_status()

    def _show_node(self) -> None:
        """Show the layer that holds the node under the cursor, else the line that says what became of it."""
        fate = self._panes.nodes.selected
        if fate is None:
            return
        entry = self._index.facts.of_layer(fate.layer) if self._index and fate.layer else None
        if entry is not None:
            self._open_layer(entry)
        self._go_to_cited(fate.span.line)
        self.say(f"{fate.node.name}: {fate.kind}")

    def _visit(self, go: Callable[[], None]) -> None:
        """Go somewhere, so that ``b`` leads back and ``F`` forward."""
        self._history.keep(self._place())
        go()
        self._history.keep(self._place())

    def _place(self) -> Place:
        panes = self._panes
        focused = (self.pane and self.pane.id) or panes.tab
        entry = panes.layer_tree.current_entry
        return Place(self._number, focused, entry, panes.list_of(focused).cursor, panes.log_view.current_line)

    def _show_evidence(self) -> None:
        """Show the layer that a finding is about, if any, and the log at the finding's line."""
        finding, cited = self._panes.findings.selected, self._panes.findings.selected_line
        if finding is None or cited is None or self._index is None:
            return
        line = cited.line if cited.line is not None else finding.line
        entry = None if cited.headline else self._index.at_line(line)
        entry = entry or self._index.named((*finding.layers, *finding.onnx_nodes)) or self._index.at_line(line)
        if entry is None:
            self._panes.open("log")
        else:
            self._panes.open("layers", announce=False)
            self._panes.layer_tree.reveal(entry, announce=False)
            self._show_candidates()
        self._panes.log_view.show_line(line)
        self.say(f"{finding.code} at line {line:,}")

    def _reveal(self, line: int) -> None:
        """Show the layer, and its combination of formats, that a line belongs to; switch the build if needed."""
        build = self._parsed.build_at(line) if self._parsed else None
        if build is not None and build is not self.build:
            self._show_build(build.index)
        entry = self._index.at_line(line) if self._index else None
        if entry is None:
            self.say(f"line {line:,} belongs to no layer")
            return
        self._panes.open("layers")
        self._panes.layer_tree.reveal(entry, self._index.result_at(line) if self._index else None)

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        if event.purpose is Asking.FILTER:
            self._keep(event.text)
            if event.done:
                self._filtered.focus()
        elif not event.done:
            self._search.begin(event.text, regex=event.regex)  # which says why it is no regular expression
        elif event.purpose is Asking.LINE:
            self._visit(partial(self._go_to_line, event.text))
        elif event.purpose is Asking.ONLY:
            self._panes.open("log")
            self._search.keep(event.text, regex=event.regex)
        else:
            self._panes.open("log")
            self._history.keep(self._place())
            self._search.begin(event.text, regex=event.regex)

    def on_prompt_dismissed(self, event: Prompt.Dismissed) -> None:
        if event.purpose is Asking.FILTER:
            self._keep("")
            self._filtered.focus()
        else:
            self._panes.open("log")

    def _go_to_line(self, text: str) -> None:
        self._panes.open("log")
        digits = text.strip().replace(",", "")
        if digits.isdecimal() and len(digits) <= _MOST_DIGITS:
            if not self._panes.log_view.shows(int(digits)):
                self._search.show_all()
            self._panes.log_view.show_line(int(digits))
            self.say("")
        else:
            self.say(f"{text!r} is not a line number")

    def _keep(self, text: str) -> None:
        try:
            self._filtered.filter(text)
        except FilterError as error:
            self.say(f"column {error.column}: {error.what}. {error.next_step}")
            return
        self._note = ""
        self._count_layers()

    def _count_layers(self) -> None:
        self._panes.tabs["layers"].lay_out(count=self._panes.layer_tree.count_text if self._index else "")
        self._show_status()

    def cited(self) -> tuple[str, int, str] | None:
        """Return the line that the row of the focused list is about; of a list without lines, the log's own."""
        line, text = self._cited_line, self.session.text
        return (*self.session.place(line), text.line(line)) if line <= len(text) else None

    @property
    def _cited_line(self) -> int:
        pane = self.pane or self._panes.log_view
        line = pane.log_line(pane.cursor) if pane.row_count() else None
        return line or self._panes.log_view.current_line

    def names_in_view(self) -> Iterator[str]:
        panes, candidates = self._panes, self._panes.candidates
        row = panes.overview.selected if panes.tab == "overview" else None
        finding = row.finding if isinstance(row, OverviewRow) else self._finding
        entry = panes.layer_tree.current_entry if panes.tab == "layers" else getattr(row, "entry", None)
        if self.focused is panes.log_view:
            finding, entry, row = None, self._index.at_line(panes.log_view.current_line) if self._index else None, None
        if finding is not None:
            yield finding.code
        elif self.focused is candidates and candidates.selected is not None:
            candidate = panes.table.candidates[candidates.selected]
            yield from (candidate.runner, candidate.kernel)
        elif entry is not None:
            yield from (entry.kind, entry.layer.type)
            yield entry.layer.tactic_name or (entry.subject.kernel if entry.subject else "")
        elif isinstance(row, MapRow):
            yield row.foreign

    def next_command(self) -> str:
        finding = self._finding
        return next((step.command for step in finding.next_steps if step.command), "") if finding is not None else ""

    @property
    def _finding(self) -> Finding | None:
        return self._panes.findings.selected if self._panes.tab == "findings" else None

    def issue(self) -> str:
        from trtforensics.tui.issue import finding_issue, layer_issue

        log, build, finding, row = self._parsed, self.build, self._finding, self._panes.layer_tree.selected
        text, cited = self.session.text, self.cited()
        if log is None or build is None:
            return ""
        if finding is not None:
            lines = filter(None, (line_in_view(each.span, self.session.name) for each in finding.evidence))
            shown = [(*self.session.place(line), text.line(line)) for line in lines if line <= len(text)]
            return finding_issue(log, build, finding, shown)
        if row is None:
            return ""
        return layer_issue(log, build, row, self._panes.table, cited)

    def action_open(self, pane: str) -> None:
        """Open a pane; the candidates are of the bar under the cursor, also where it has not moved yet."""
        if pane == "candidates" and self._panes.tab == "overview":
            self.select_mapped()
        self._panes.open(pane)

    def action_zoom(self) -> None:
        self._panes.zoom()

    def action_build(self, by: int) -> None:
        builds = self._parsed.builds if self._parsed else ()
        if len(builds) > 1:
            self._show_build((self._number + by) % len(builds))
            self._panes.log_view.show_line(builds[self._number].first_line)
        else:
            self.say("the file holds one build" if builds else "the log is still being read")

    def action_ask_only(self) -> None:
        self.prompt.ask(Asking.ONLY)

    def action_next_kind(self) -> None:
        self._panes.open("log")
        self._search.next_severity()

    def action_ask_filter(self) -> None:
        """Ask which rows to keep of the list in focus; in the log, which lines."""
        focused = self.pane
        if focused is self._panes.log_view:
            self.action_ask_only()
            return
        if self._panes.tab == "overview" and focused is not self._panes.candidates:
            self._panes.open("layers")
            focused = self._panes.layer_tree
        self._filtered = filtered = focused or self._panes.list_of(self._panes.tab)
        layers = self._index.engine if self._index and filtered is self._panes.layer_tree else ()
        rows = layers or filtered.every
        self.prompt.ask(Asking.FILTER, filtered.kept_by.text, filtered.presentation.filters, rows[:SUGGESTING])

    def action_ask_line(self) -> None:
        self.prompt.ask(Asking.LINE)

    def action_leave(self) -> None:
        """Close the drawer, else show all lines, else all rows, else drop the question, else rise or go back."""
        panes = self._panes
        if panes.push_drawer() or self._search.show_all():
            return
        focused = self.pane or panes.list_of(panes.tab)
        if focused is panes.candidates and not focused.kept_by.text:
            panes.open("layers")
        elif focused.kept_by.text:
            focused.filter("")
        elif panes.tab == "layers" and panes.layer_tree.asked:
            panes.layer_tree.ask("")
        elif panes.tab != "overview" or focused is panes.log_view:
            panes.open("overview" if focused is not panes.log_view else panes.tab, announce=False)
        elif not self.rise():
            self.go_back()
        self._count_layers()

    def action_neighbours(self) -> None:
        if self._panes.tab == "overview":
            self.select_mapped()
        entry = self._panes.layer_tree.current_entry
        if self.build is None or entry is None or not entry.in_engine:
            self.say("no layer of the engine is selected; 2 lists them")
            return
        if entry.number is None:
            self.say("the log lists no tensors of it as a whole; its kernels have neighbours")
            return
        self.app.push_screen(NeighbourScreen(self.build, entry.layer), self._walked)

    def _walked(self, layer: EngineLayer | None) -> None:
        entry = self._index.facts.of_layer(layer) if self._index and layer else None
        if entry is not None:
            self._visit(partial(self._open_layer, entry))

    def _open_layer(self, entry: LayerFacts) -> None:
        self._panes.open("layers", announce=False)
        self._panes.layer_tree.reveal(entry)

    def action_travel(self, by: int) -> None:
        place = self._history.step(by, self._place())
        if place is None:
            self.say("nothing was looked at before" if by < 0 else "nothing was looked at after this")
            return
        if place.build != self._number and self._parsed is not None and place.build < len(self._parsed.builds):
            self._show_build(place.build)
        if place.entry is not None and place.pane in {"layers", "candidates"}:
            self._panes.layer_tree.reveal(place.entry, announce=False)
            self._show_candidates()
        self._panes.open(place.pane, announce=False)
        if place.pane != "layers":
            self._panes.list_of(place.pane).go_to(place.cursor, announce=False)
        self._panes.log_view.show_line(place.line)
        self._show_status()

    def action_bookmark(self) -> None:
        line, kept = self._cited_line, self.kept
        if kept is None:
            self.say("bookmarks are of files that were read")
            return

        def mark(note: str | None) -> None:
            if note is not None:
                kept.mark(line, note)
                problem = kept.keep()
                self._panes.log_view.refresh()
                self.say(f"bookmark on line {line:,}; ' lists them" + (f"; not kept, as {problem}" if problem else ""))

        known = kept.bookmarks.get(line)
        self.app.push_screen(TextQuestion(f"note on line {line:,}, may be empty", known.note if known else ""), mark)

    def action_bookmarks(self) -> None:
        kept = self.kept

        def go(line: int | None) -> None:
            if kept is not None:
                kept.keep()
                self._panes.log_view.refresh()
            if line is not None:
                self._visit(partial(self._go_to_line, str(line)))

        if kept is not None:
            self.app.push_screen(BookmarkScreen(kept, self._text_at), go)

    def action_tie(self, by: int) -> None:
        self._tie = max(0, min(self._tie + by, len(TIES) - 1))
        self._panes.layer_tree.tie(TIES[self._tie])
        self._show_candidates(anew=True)
        self.say(f"near ties: runner-up at most {(TIES[self._tie] - 1) * 100:g} % slower")
