"""The panes of a build log's screen, lists behind tabs, candidates, log: side by side, stacked, or one at a time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.widgets import ContentSwitcher

from trtforensics.engines.onnx_nodes import fates
from trtforensics.knowledge.table import rows as table_rows
from trtforensics.model.log import Build, BuildLog
from trtforensics.model.log import Message as LogMessage
from trtforensics.parsers.text.text import LogText
from trtforensics.tui.log.layer_tree import LayerTree
from trtforensics.tui.rows.first_rows import Row, rows_shown
from trtforensics.tui.rows.layers.candidates import UNSELECTED, CandidateTable, candidates_of
from trtforensics.tui.rows.log_lines import messages
from trtforensics.tui.rows.node_rows import FATES
from trtforensics.tui.rows.overview_rows import OverviewRow
from trtforensics.tui.rows.pieces import Piece, Role, width_of
from trtforensics.tui.rows.time_map import MapRow
from trtforensics.tui.rows.timeline import TIMELINE, TextAt, timeline
from trtforensics.tui.widgets.log_view import LogView
from trtforensics.tui.widgets.row_list import FindingList, WrappedList
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList

TABS = {row["pane"]: (row["key"], row["title"]) for row in table_rows("tabs", "trtforensics.tui")}
"""The lists of the left half: the key that opens each and its title, by the list's id."""

COUNTED = 70
"""Width of the tabs in cells from which they have room for their counts."""

BESIDE = 160
"""Width of the screen in cells from which the lists and the log stand side by side."""

STACKED = 100
"""Width of the screen in cells from which the log stands below the lists; on a narrower one it is a drawer."""

ZOOMED = ("left", "candidates-pane", "log-pane")
"""The panes that can fill the screen."""


NO_MESSAGES = "no warnings and no errors"
NO_NODES = "the log names no ONNX nodes; a verbose one does"


def _first_bar(rows: Sequence[Row]) -> MapRow | None:
    return next((row for row in rows if not isinstance(row, OverviewRow)), None)


class Tab(LineBar):
    """The title of one of the lists at the left; a click opens it."""

    def __init__(self, pane: str) -> None:
        super().__init__(id=f"tab-{pane}")
        self._pane = pane
        self._count, self._narrow = "", False
        self.lay_out()

    def lay_out(self, *, count: str | None = None, narrow: bool | None = None) -> None:
        """Show a count behind the title, or hide count and margin on a narrow screen; None leaves either as it is."""
        self._count = self._count if count is None else count
        self._narrow = self._narrow if narrow is None else narrow
        key, title = TABS[self._pane]
        shown = f" {self._count} " if self._count and not self._narrow else " "
        margin = "" if self._narrow else " "
        self.show(Piece(f"{margin}{key} ", Role.DIM), Piece(title), Piece(shown, Role.ACCENT))
        self.styles.width = width_of(self.line)

    async def on_click(self) -> None:
        await self.run_action(f"screen.open('{self._pane}')")


class Panes(Container):
    """All lists of the screen; it decides which of them are in view."""

    def __init__(self, text: LogText) -> None:
        super().__init__(id="panes")
        self.overview = WrappedList(rows_shown(()), id="overview")
        self.layer_tree = LayerTree()
        self.findings = FindingList()
        self.messages = VirtualList(messages(()), id="messages")
        self.candidates = VirtualList(candidates_of(UNSELECTED), id="candidates")
        self.table = UNSELECTED
        """What the candidates in view are of."""
        self.nodes = VirtualList(FATES, id="nodes")
        self.timeline = VirtualList(TIMELINE, id="timeline")
        self._due: dict[str, Callable[[], None]] = {}
        self.log_view = LogView(text, id="log")
        self._tabbed = (self.overview, self.layer_tree, self.findings, self.messages, self.nodes, self.timeline)
        self._lists = {each.id: each for each in (*self._tabbed, self.candidates, self.log_view)}
        self.tabs = {pane: Tab(pane) for pane in TABS}
        self._switcher = ContentSwitcher(initial="overview")
        self._heading = LineBar(classes="heading")

    def compose(self) -> ComposeResult:
        with Vertical(id="left", classes="pane"):
            with Horizontal(classes="heading"):
                yield from self.tabs.values()
            with self._switcher:
                yield from self._tabbed
        log_heading = LineBar((Piece(" 4 ", Role.DIM), Piece("Raw log")), classes="heading")
        yield Container(
            Vertical(self._heading, self.candidates, id="candidates-pane", classes="pane"),
            Vertical(log_heading, self.log_view, id="log-pane", classes="pane"),
            id="right",
        )

    def on_mount(self) -> None:
        self.findings.show((), "findings come when the log is read")
        self.messages.show((), NO_MESSAGES)
        self.nodes.show((), NO_NODES)
        self.timeline.show((), "the log is still being read")
        self.open("overview")
        self.show_candidates(UNSELECTED)

    def on_resize(self) -> None:
        width = self.size.width
        self.set_class(self.narrow, "narrow")
        self.set_class(STACKED <= width < BESIDE, "stacked")
        tabs = width if width < BESIDE else width // 2
        for tab in self.tabs.values():
            tab.lay_out(narrow=tabs < COUNTED)

    @property
    def narrow(self) -> bool:
        """Whether only one pane has room."""
        return self.size.width < STACKED

    def show_overview(self, rows: Sequence[Row], path: Sequence[MapRow] = (), *, keep: bool = False) -> None:
        """Show a build's first screen, or a place of its map. With ``keep`` the cursor stays on the row of its label.

        Else, and where it was there before, it goes to the engine's first bar, if that is in view with what stands
        above it, such as the answer of a run that failed.
        """
        overview = self.overview
        home = None if path else _first_bar(rows)
        keep = keep and overview.selected is not _first_bar(overview.rows)
        overview.show(rows, presentation=rows_shown(rows, path), keep=keep, home=home)
        if not keep and overview.cursor >= overview.rows_in_view():
            overview.go_to(0, announce=False)

    def show_messages(self, rows: Sequence[LogMessage], *, keep: bool = False) -> None:
        """Show warnings and errors, and how many there are. With ``keep`` they were only added to."""
        self.messages.show(rows, NO_MESSAGES, presentation=messages(rows), keep=keep)
        self.tabs["messages"].lay_out(count=f"{len(rows):,}")

    def show_nodes(self, build: Build, *, keep: bool = False) -> None:
        self._fill("nodes", lambda: self.nodes.show(fates(build), NO_NODES, keep=keep))

    def show_timeline(self, log: BuildLog, build: Build, text: TextAt, *, keep: bool = False) -> None:
        self._fill("timeline", lambda: self.timeline.show(timeline(log, build, text), keep=keep))

    def _fill(self, name: str, fill: Callable[[], None]) -> None:
        """Fill a list now if it is in view, else when it comes into view."""
        self._due[name] = fill
        if self.tab == name:
            self.look_up(name)

    def look_up(self, name: str) -> None:
        """Fill a list, if that is due."""
        self._due.pop(name, lambda: None)()

    def show_candidates(self, table: CandidateTable, *, keep: bool = False) -> None:
        """Show a layer's candidates and their number. With ``keep`` the layer is the same and the cursor stays."""
        self.table, count = table, len(table.candidates)
        self.candidates.show(range(count), presentation=candidates_of(table), keep=keep, home=table.chosen)
        pieces = (Piece(" 3 ", Role.DIM), Piece("Candidates"))
        self._heading.show(*pieces, Piece(f" {count:,} " if count else "", Role.ACCENT))

    def open(self, name: str, *, announce: bool = True) -> None:
        """Bring a list into view and focus it, candidates beside the layers, a narrow screen's log as a drawer."""
        if name == "candidates" and self.tab != "layers":
            self.open("layers")
        self.look_up(name)
        if name in TABS:
            self._switcher.current = name
            self.set_class(name == "layers", "with-candidates")
            for tab in self.tabs.values():
                tab.set_class(tab.id == f"tab-{name}", "open")
        if name == "log":
            self.add_class("drawer")
        else:
            self.set_class(name == "candidates", "only-candidates")
        self._unzoom_unless(name)
        target = self.list_of(name)
        target.focus()
        if name in TABS:
            target.go_to(target.cursor, announce=announce)

    def pull_drawer(self) -> None:
        """Show the log, on a narrow screen or beside a zoomed list; the focus stays."""
        self.add_class("drawer")
        self._unzoom_unless("log")

    def push_drawer(self) -> bool:
        """Hide the log of a narrow screen, and return whether it was in view."""
        if not self.narrow or not self.has_class("drawer"):
            return False
        held_focus = self.log_view.has_focus
        self.remove_class("drawer")
        if held_focus:
            self.open("candidates" if self.has_class("only-candidates") else self.tab, announce=False)
        return True

    def memory(self) -> dict[str, object]:
        """Return which list is in view, how the layers are listed, and the log's line; nothing where that is usual."""
        tab = {} if self.tab == "overview" else {"pane": self.tab}
        line = {"line": self.log_view.current_line} if self.log_view.cursor else {}
        layers = self.layer_tree.memory() if self.tab == "layers" else {}
        cursor = {"cursor": self.list_of(self.tab).cursor} if tab and not layers else {}
        return tab | layers | cursor | line if tab else {}

    def recall(self, memory: Mapping[str, object]) -> None:
        """Show what :meth:`memory` told."""
        pane, line, cursor = (memory.get(name) for name in ("pane", "line", "cursor"))
        if pane not in TABS:
            return
        self.layer_tree.recall(memory)
        self.open(str(pane), announce=False)
        if isinstance(cursor, int):
            self.list_of(self.tab).go_to(cursor, announce=False)
        if isinstance(line, int) and 0 < line <= self.log_view.row_count():
            self.log_view.show_line(line)

    @property
    def tab(self) -> str:
        """The id of the list that the left half shows."""
        return self._switcher.current or "overview"

    def list_of(self, name: str) -> VirtualList[Any]:
        return self._lists[name]

    def zoom(self) -> None:
        zoomed = [name for name in ZOOMED if self.has_class(f"zoom-{name}")]
        for name in zoomed:
            self.remove_class(f"zoom-{name}")
        focused = next((pane for pane in self.query(".pane") if pane.has_focus_within), None)
        if focused is not None and not zoomed:
            self.add_class(f"zoom-{focused.id}")

    def _unzoom_unless(self, name: str) -> None:
        """Undo the zoom of any pane that does not hold the list ``name``."""
        target = "left" if name in TABS else f"{name}-pane"
        for pane in ZOOMED:
            if pane != target:
                self.remove_class(f"zoom-{pane}")
