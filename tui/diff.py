"""The screen of a comparison: the differences of two sides, and both files at the lines of each difference."""

import shlex
from collections.abc import Callable, Iterable
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.worker import get_current_worker

from trtforensics.comparison.differences import Comparison, DifferenceType
from trtforensics.comparison.loading import load_side
from trtforensics.comparison.times import LayerDelta
from trtforensics.comparison.views import LayerView
from trtforensics.console.counting import counted
from trtforensics.errors import ForensicsError
from trtforensics.model.log import BuildLog
from trtforensics.sources.build_log import ReadingCancelled, load_build_log
from trtforensics.sources.kinds import Kind
from trtforensics.tui.bindings import Keyed
from trtforensics.tui.issue import quoted_issue
from trtforensics.tui.rows import diff_rows
from trtforensics.tui.rows.layers.candidates import CandidateTable, candidates_of, layer_table, unknown_table
from trtforensics.tui.rows.layers.index import LayerIndex
from trtforensics.tui.rows.pieces import Piece, Role, clip
from trtforensics.tui.screen import ListScreen
from trtforensics.tui.sessions import text_of
from trtforensics.tui.widgets.log_view import TextPane
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList
from trtforensics.tui.widgets.work import in_thread

TALL = 30
"""Height of the screen in cells from which the lines of a row have room below the map."""

_SIDES = {"good": Role.GOOD, "bad": Role.ERROR}
_READING = unknown_table("reading the log")


class DiffScreen(ListScreen[diff_rows.DiffRow]):
    """Browse the differences of two sides."""

    KEYS = "diff"

    def __init__(self, good: str, bad: str, *, kind: Kind | None, max_bytes: int) -> None:
        read = partial(text_of, max_bytes=max_bytes)
        self.good = TextPane(read, "3 good", Role.GOOD, id="good")
        self.bad = TextPane(read, "4 bad", Role.ERROR, id="bad")
        super().__init__(
            "diff", VirtualList(diff_rows.differences(scored=False), id="rows"), self.good.view, self.bad.view
        )
        self._paths = {"good": good, "bad": bad}
        self._kind = kind
        self._max_bytes = max_bytes
        self._logs: dict[str, BuildLog] = {}
        self._reading = "opening"
        self._comparison: Comparison | None = None
        self._only: DifferenceType | None = None
        self._as_map = True
        """Whether the map of time is in view; where the sides have no times in common there is none."""
        self._about: LayerDelta | None = None
        """The row of the map whose differences alone are in view."""
        self._sides, self._types = LineBar(id="sides"), LineBar(classes="heading")
        self.places = VirtualList(diff_rows.PLACES, id="places")

    def panes(self) -> Iterable[Widget]:
        yield self._sides
        yield Vertical(self._types, self.rows, id="rows-pane", classes="pane")
        where = LineBar((Piece(" 2 where", Role.DIM),), classes="heading")
        yield Vertical(where, self.places, id="places-pane", classes="pane")
        yield Horizontal(self.good, self.bad, id="texts")

    def on_mount(self) -> None:
        """Show the names of the sides, and start to compare once they are on the screen."""
        self.begin(self._compare, self._show)

    def show_title(self) -> None:
        room = max(self.app.size.width - 20, 12)
        name = "  ↔  ".join(self._paths.values())
        self.title_bar.show(Piece(" trtforensics ", Role.TITLE), Piece(" diff ", Role.DIM), Piece(clip(name, room)))

    def on_resize(self) -> None:
        super().on_resize()
        self.set_class(self.size.height < TALL, "low")

    def _compare(self) -> Comparison | None:
        """Compare, in a thread; None where that was cancelled."""
        from trtforensics.comparison.compare import compare

        worker, opened = get_current_worker(), partial(self.call_later, self._opened)

        def attend(path: str) -> None:
            if worker.is_cancelled:
                raise ReadingCancelled
            opened(path)

        try:
            good, bad = (
                load_side(path, name, max_bytes=self._max_bytes, kind=self._kind, on_file=attend)
                for name, path in self._paths.items()
            )
        except ReadingCancelled:
            return None
        return compare(good, bad)

    def _opened(self, path: str) -> None:
        self._reading = f"reading {path}"
        self.say("")

    def _show(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.fill()

    def fill(self) -> None:
        comparison = self._comparison
        if comparison is None:
            return
        times = comparison.times.layers if self._as_map else None
        self.set_class(times is not None, "map")
        if times is not None:
            self.rows.show(
                diff_rows.map_rows(times), "no layer has a time", presentation=diff_rows.time_map(comparison, times)
            )
        else:
            rows = diff_rows.rows_of(comparison, self._only)
            rows = rows if self._about is None else diff_rows.about(rows, self._about)
            empty = "nothing of that sort differs" if comparison.differences else comparison.without_rows()
            empty = "nothing but its time differs" if self._about is not None else empty
            scored = len(comparison.good.builds) + len(comparison.bad.builds) > 2  # noqa: PLR2004 - more than a build a side
            self.rows.show(rows, empty, presentation=diff_rows.differences(scored=scored))
        self._sides.show(*diff_rows.sides_line(comparison))
        summary = comparison.summary()
        pieces = [Piece(" s time ", Role.STRONG if times is not None else Role.DIM)] if self._is_timed else []
        pieces += [Piece(" v all ", Role.STRONG if times is None and self._only is None else Role.DIM)]
        if self._about is not None:
            pieces = [Piece(f" time › {clip(self._about.name, 40)} ", Role.STRONG), *pieces]  # noqa: RUF001 - an arrowhead
        for type_ in DifferenceType:
            role = Role.STRONG if type_ is self._only else Role.DIM
            pieces += [Piece(f" {type_}", role), Piece(f" {summary[type_]} ", Role.ACCENT)]
        self._types.show(*pieces)
        self._follow_row()
        self.say("")

    def status(self) -> str:
        comparison = self._comparison
        if comparison is None:
            return self._reading
        aligned = sum(comparison.matched.values())
        skipped = len(comparison.good.skipped) + len(comparison.bad.skipped)
        parts = [
            f"{counted(aligned, 'layer')} aligned",
            *([f"{counted(skipped, 'file')} skipped"] if skipped else []),
            *comparison.notes,
        ]
        return " · ".join(parts)

    @property
    def _is_timed(self) -> bool:
        return self._comparison is not None and self._comparison.times.layers is not None

    def action_next_kind(self) -> None:
        summary = self._comparison.summary() if self._comparison else {}
        kinds = (None, *(type_ for type_ in DifferenceType if summary.get(type_)))
        begins = (self._is_timed and self._as_map) or self._about is not None
        self._show_differences(kinds[0 if begins else (kinds.index(self._only) + 1) % len(kinds)])

    def action_view(self, name: str) -> None:
        if self._as_map and name != "rows":
            self._show_differences()
        pane = self.query_one(f"#{name}")
        (pane.view if isinstance(pane, TextPane) else pane).focus()

    def _show_differences(self, only: DifferenceType | None = None, of: LayerDelta | None = None) -> None:
        self._as_map, self._only, self._about = False, only, of
        self.fill()

    def action_sort(self) -> None:
        """Show the map of time, or all differences with causes first; the cursor goes to the top."""
        if not self._is_timed:
            self.say("the sides have no times in common")
            return
        self._as_map, self._only, self._about = not self._as_map, None, None
        self.fill()

    def action_leave(self) -> None:
        """Drop the filter; without one, go back to the map; from it, to the source below."""
        if self.drop_filter():
            return
        if self._is_timed and not self._as_map:
            self.action_sort()
        else:
            self.go_back()

    def cited(self) -> tuple[str, int, str] | None:
        pane = next((pane for pane in (self.good, self.bad) if pane.has_focus_within), None)
        place = self.places.selected
        if pane is None and place is not None:
            pane = self.good if place.good else self.bad
        return pane.cited() if pane is not None else None

    def next_command(self) -> str:
        return shlex.join(("trtforensics", "diff", *self._paths.values()))

    def issue(self) -> str:
        row = self.rows.selected
        if row is None or self._comparison is None:
            return ""
        sides = ["".join(piece.text for piece in diff_rows.sides_line(self._comparison))]
        values = [f"{('bad', 'good')[bool(place.good)]}: {place.text}" for place in diff_rows.places(row) if place.span]
        sections = {"Sides": sides, "Layer": [row.layer], "Values": values}
        return quoted_issue(f"{row.sort} differs", sections, [self.good.cited(), self.bad.cited()])

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        """Once the cursor rests, let the lines follow the rows, and the files follow the lines."""
        if event.source is self.rows:
            self.when_resting(self._follow_row)
        elif event.source is self.places:
            self.when_resting(self._follow_place)

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Open both candidate tables of a row; of a row without layers, go to its lines. Go from a line to its file."""
        if event.source is self.rows:
            row = self.rows.selected
            if row is not None and isinstance(row.subject, LayerDelta):
                self._show_differences(of=row.subject)
                return
            layers = diff_rows.layers_of(row)
            if any(layers.values()):
                self.app.push_screen(CandidatesScreen(layers, self._candidates))
            else:
                self.places.focus()
        elif event.source is self.places and self.places.selected is not None:
            self._follow_place()
            (self.good if self.places.selected.good else self.bad).view.focus()

    def _candidates(self, layer: LayerView) -> CandidateTable:
        """Return what was timed for a layer; called in a thread, as it may read a log."""
        path = layer.span.file
        if path not in self._logs:
            self._logs[path] = load_build_log([path], max_bytes=self._max_bytes)
        build = self._logs[path].build_at(layer.span.line)
        if build is None:
            return unknown_table("the log shows no build here")
        index = LayerIndex(build)
        entry = index.at_line(layer.span.line) or index.named((layer.name, *layer.onnx_nodes))
        if entry is None or entry.subject is None:
            return unknown_table("the log tells of no candidates for it")
        return layer_table(entry)

    def _follow_row(self) -> None:
        """Show the lines of the row under the cursor, and open both files at the first line of their side."""
        row = self.rows.selected
        cited = diff_rows.places(row) if row is not None else []
        self.places.show(cited)
        for pane, good in ((self.good, True), (self.bad, False)):
            pane.open(next((place.span for place in cited if place.good is good and place.span is not None), None))

    def _follow_place(self) -> None:
        place = self.places.selected
        if place is not None and place.span is not None:
            (self.good if place.good else self.bad).open(place.span)


class CandidatesScreen(Keyed, ModalScreen[None]):
    """The tables of both sides' ``layers``, which ``read`` makes in a thread; None is "no such layer". Esc closes."""

    def __init__(self, layers: dict[str, LayerView | None], read: Callable[[LayerView], CandidateTable]) -> None:
        super().__init__()
        self._layers = layers
        self._read = read

    def compose(self) -> ComposeResult:
        with Horizontal(id="both"):
            for side, role in _SIDES.items():
                layer = self._layers[side]
                name = layer.name if layer is not None else "no such layer"
                with Vertical(classes="pane"):
                    yield LineBar((Piece(f" {side} ", role), Piece(f" {name}")), classes="heading")
                    yield VirtualList(candidates_of(_READING), id=f"{side}-candidates")

    def on_mount(self) -> None:
        self.query(VirtualList).first().focus()
        in_thread(self, self._collect, self._show, group="candidates")

    def _collect(self) -> dict[str, CandidateTable]:
        tables = {}
        for side, layer in self._layers.items():
            try:
                tables[side] = unknown_table("the other side only") if layer is None else self._read(layer)
            except ForensicsError as error:
                tables[side] = unknown_table(str(error))
        return tables

    def _show(self, tables: dict[str, CandidateTable]) -> None:
        for side, table in tables.items():
            shown: VirtualList[int] = self.query_one(f"#{side}-candidates", VirtualList)
            shown.show(range(len(table.candidates)), presentation=candidates_of(table), home=table.chosen)
