"""The layer tree: the layers of one build as virtual rows. A layer's children are built when the layer is opened."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain

from trtforensics.engines.facts import LayerFacts
from trtforensics.model.log import CachedResult, Choice
from trtforensics.model.timings import NEAR_TIE_RATIO
from trtforensics.tables.columns import Cell
from trtforensics.tables.layers import LAYER_COLUMNS
from trtforensics.tables.table import FilterError, Table
from trtforensics.tui.log.dialogs import ColumnScreen, compared, histogram
from trtforensics.tui.rows.layers.columns import ENGINE_ORDER, SHOWN, ColumnLayout, Order
from trtforensics.tui.rows.layers.index import LayerIndex, RowKind, TreeRow, row_pieces
from trtforensics.tui.rows.layers.questions import Question, question_at, question_lines, why_lines
from trtforensics.tui.rows.pieces import Line, Presentation
from trtforensics.tui.widgets.row_list import FoldingList
from trtforensics.tui.widgets.virtual_list import NO_FILTER, WIDE

ARROW_WIDTH = 3
GROUPS = ("", "type", "block", "compute_precision", "runner")
"""The columns that ``%`` groups the layers by."""

_CHILDREN = {RowKind.DETAIL, RowKind.COMBINATION, RowKind.INNER}
"""The rows below an opened layer."""

TALL = 14
"""Height of the pane in cells from which the reasons have two lines."""


class LayerTree(FoldingList[TreeRow]):
    """The layers of a build. An opened layer shows its ONNX nodes and its tuned combinations of formats."""

    def __init__(self) -> None:
        super().__init__(Presentation(line=lambda row: row.line, filters=LAYER_COLUMNS), id="layers")
        self._index: LayerIndex | None = None
        self._order = ENGINE_ORDER
        self._cells = SHOWN
        self._group = ""
        self._marked: LayerFacts | None = None
        self._questions: tuple[Question, ...] = ()
        self.asked = ""
        """The title of the question that is asked, empty for none."""
        self._digits = 1
        self._tie = NEAR_TIE_RATIO
        self._empty = self._why_empty()

    def show_layers(self, index: LayerIndex | None) -> None:
        self._index = index
        self._digits = max(len(str(len(index.engine))), 2) if index else 2
        self._questions = index.questions(self._tie) if index else ()
        if not any(question.title == self.asked for question in self._questions):
            self.asked = ""
        self.refill()

    def update_layers(self, index: LayerIndex | None) -> None:
        """Show the same build after more of its log was read: opened layers stay open, the cursor stays on its row."""
        cursor, above = self.cursor, self.cursor - self.scroll_offset.y
        selected = self._keys()[cursor] if self.rows else None
        opened = {row.entry.name for row in self.every if row.entry and self.is_open(row)}
        self.show_layers(index)
        self._open = frozenset(id(row) for row in self.every if row.entry and row.entry.name in opened)
        self.list_rows()
        if selected is not None:
            same = (position for position, key in enumerate(self._keys()) if key == selected)
            self.stay(min(same, key=lambda position: abs(position - cursor), default=self.cursor), above)

    def _keys(self) -> list[tuple[object, ...]]:
        """Return a key for each row that stays the same while the log grows."""
        keys: list[tuple[object, ...]] = []
        owner = ""
        for row in self.rows:
            child = row.kind in _CHILDREN
            owner = owner if child else row.text
            place = row.line if row.kind is RowKind.COMBINATION else row.label if child else None
            keys.append((owner, row.kind, row.text, place))
        return keys

    def tie(self, ratio: float) -> None:
        """Count a runner-up up to this ratio as a near tie; the cursor stays on its layer."""
        entry = self.current_entry
        self._tie = ratio
        self._questions = self._index.questions(ratio) if self._index else ()
        self.refill()
        if entry is not None and self._place_of(entry) is not None:
            self.reveal(entry, announce=False)

    def ask(self, title: str) -> None:
        """Keep the layers that answer a question, by its title; an empty title asks none."""
        if title != self.asked:
            self.asked = title
            self._relist()

    def reveal(self, entry: LayerFacts, result: Choice | CachedResult | None = None, *, announce: bool = True) -> None:
        """Move to a layer, or to its combination ``result`` if given. A filter that hides the layer is dropped."""
        if self._place_of(entry) is None:
            self.kept_by, self.asked = NO_FILTER, ""
            self.refill()
        position = self._place_of(entry)
        if position is None:
            return
        self.cursor = position
        if result is not None and result is not entry.subject and not entry.inside:
            self._open |= {id(self.rows[position])}
            self.list_rows()
            rows = range(position + 1, len(self.rows))
            combinations = (i for i in rows if self.rows[i].kind is RowKind.COMBINATION)
            position = next((i for i in combinations if self.rows[i].subject is result), position)
        self.go_to(position, center=True, announce=announce)

    def select(self, entry: LayerFacts) -> bool:
        """Put the cursor on a layer without showing that; False where it is not listed."""
        position = self._place_of(entry)
        if position is not None:
            self.go_to(position, center=True, announce=False)
        return position is not None

    def _place_of(self, entry: LayerFacts) -> int | None:
        return next((place for place, row in enumerate(self.rows) if row.entry is entry), None)

    @property
    def shown_layers(self) -> int:
        """How many layers are listed, opened or not."""
        return sum(row.kind in {RowKind.LAYER, RowKind.NAME} for row in self.rows)

    @property
    def count_text(self) -> str:
        engine = sum(row.entry is not None and row.entry.in_engine for row in self.rows)
        others = self.shown_layers - engine
        return f"{engine:,}+{others:,}" if engine and others else f"{engine or others:,}"

    def pieces_at(self, place: int, width: int) -> Line:
        row = self.rows[place]
        return row_pieces(row, self._layout(width), expanded=self.is_open(row))

    def _layout(self, width: int | None = None) -> ColumnLayout:
        room = self.scrollable_content_region.width if width is None else width
        return ColumnLayout(room, self._digits, self._tie, self._cells)

    def header(self, width: int) -> Sequence[Line]:
        if self._index is None:
            return ()
        return (
            *question_lines(self._questions, self.asked, self._total, width),
            self._layout(width).heading(self._order, self._index.time_source),
        )

    def footer(self, width: int) -> Sequence[Line]:
        if self._index is None:
            return ()
        entry = self.current_entry
        reasons = entry.why(self._tie) if entry else ()
        return why_lines(reasons, width, 2 if self.scrollable_content_region.height >= TALL else 1)

    def header_clicked(self, line: int, cell: int) -> None:
        """Ask the question that was clicked; a click on a column's title sorts by it."""
        width = self.scrollable_content_region.width
        if line == len(self.header(width)) - 1:
            order = self._layout(width).order_at(cell)
            self._sort_by(self._order.reversed if self._order.column == order.column else order)
            return
        title = question_at(self._questions, self.asked, self._total, width, (line, cell))
        if title is not None:
            self.ask(title)

    @property
    def _total(self) -> int:
        return len(self._index.engine or self._index.others) if self._index else 0

    def as_table(self) -> Table:
        """Return the layers that are listed, in their order, with the columns that ``table`` writes."""
        layers = [row.entry for row in self.rows if row.kind is RowKind.LAYER]
        return Table(LAYER_COLUMNS, layers) if layers else super().as_table()

    def clicked(self, index: int, column: int) -> None:
        """Open or close a layer when its arrow is clicked; elsewhere a click acts like Enter."""
        if column < ARROW_WIDTH:
            self.action_fold()
        else:
            super().clicked(index, column)

    def action_sort(self) -> None:
        shown = self._layout().orders
        place = next((place for place, order in enumerate(shown) if order.column == self._order.column), -1)
        self._sort_by(shown[(place + 1) % len(shown)])

    def action_reverse(self) -> None:
        self._sort_by(self._order.reversed)

    def _sort_by(self, order: Order) -> None:
        self._order = order
        self._relist()

    def on_resize(self) -> None:
        """Sort by the engine's order where the column that sorts has no room any more."""
        if self._index is not None and self._order.column not in {order.column for order in self._layout().orders}:
            self._sort_by(ENGINE_ORDER)

    def action_group(self) -> None:
        """Group the layers by the next of type, block, compute type and runner; behind the last one, not."""
        self._group = GROUPS[(GROUPS.index(self._group) + 1) % len(GROUPS)]
        self._relist()

    def action_columns(self) -> None:

        def choose(cells: tuple[Cell, ...] | None) -> None:
            self._cells = self._cells if cells is None else cells
            self.on_resize()
            self.rows_changed()

        self.app.push_screen(ColumnScreen(self._cells), choose)

    def memory(self) -> dict[str, object]:
        """Return what hides and orders the rows, and the layer under the cursor, in words; nothing that is usual."""
        entry, order = self.current_entry, self._order
        usual = {"filter": "", "asked": "", "sort": ENGINE_ORDER.column, "descending": False, "group": ""}
        words = dict(
            zip(usual, (self.kept_by.text, self.asked, order.column, order.descending, self._group), strict=True)
        )
        named = {"layer": entry.name} if entry is not None and self.cursor else {}
        return {name: word for name, word in words.items() if word != usual[name]} | named

    def recall(self, memory: Mapping[str, object]) -> None:
        """List the rows as :meth:`memory` told them, as far as this build has such rows."""
        orders = (order for order in self._layout(WIDE).orders if order.column == memory.get("sort"))
        order = next(orders, ENGINE_ORDER)
        self._order = order if order.descending is bool(memory.get("descending")) else order.reversed
        self._group = next((name for name in GROUPS if name == memory.get("group")), "")
        self.asked = next((each.title for each in self._questions if each.title == memory.get("asked")), "")
        with suppress(FilterError):
            self.kept_by = self.read_filter(str(memory.get("filter", "")))
        self.refill()
        entry = next((row.entry for row in self.rows if row.entry and row.entry.name == memory.get("layer")), None)
        if entry is not None:
            self.select(entry)

    def action_histogram(self) -> None:
        """Count the listed layers by the column that sorts them, or by their time in the engine's order."""
        layers = [row.entry for row in self.rows if row.kind is RowKind.LAYER and row.entry is not None]
        orders = [order for order in self._layout(WIDE).orders if order.column == "ms"]
        self.app.push_screen(histogram(layers, orders[0] if self._order.column == "#" and orders else self._order))

    def action_mark(self) -> None:
        self._marked = self.current_entry
        name = self._marked.name if self._marked else "nothing"
        self.notify(f"marked {name}; M on another layer compares", markup=False)

    def action_compare(self) -> None:
        entry = self.current_entry
        if self._marked is None or entry is None or entry is self._marked:
            self.notify("mark a layer with m, then press M on another one", markup=False)
        else:
            self.app.push_screen(compared(self._marked, entry))

    def action_question(self, by: int) -> None:
        """Ask the next question that some layer answers; behind the last one, none."""
        titles = ["", *(question.title for question in self._questions if question.kept)]
        place = titles.index(self.asked) if self.asked in titles else 0
        self.ask(titles[(place + by) % len(titles)])

    @property
    def folding(self) -> TreeRow | None:
        rows = reversed(self.rows[: self.cursor + 1])
        row = next((row for row in rows if row.entry or row.kind not in _CHILDREN), None)
        return row if row and row.entry else None

    @property
    def current_entry(self) -> LayerFacts | None:
        """The layer under the cursor, or the one that the row under the cursor belongs to."""
        return self.folding.entry if self.folding else None

    def list_rows(self) -> None:
        self.rows = [*chain.from_iterable((row, *self._below(row)) for row in self.every)]
        self.rows_changed()

    def _below(self, row: TreeRow) -> Sequence[TreeRow]:
        return self._index.children(row.entry) if self._index and row.entry and self.is_open(row) else ()

    def _relist(self) -> None:
        self.refill()
        self.go_to(self.cursor)

    def refill(self) -> None:
        self.every, self._empty = self._listed(), self._why_empty()
        super().refill()
        named = {RowKind.LAYER, RowKind.NAME}
        self.cursor = next((position for position, row in enumerate(self.every) if row.kind in named), 0)
        self.scroll_to(y=0, animate=False, immediate=True)

    def _listed(self) -> list[TreeRow]:
        question = next((each for each in self._questions if each.title == self.asked), None)
        order, kept = self._order, self.kept_by
        index = self._index
        if index is None:
            return []
        if question is None and not kept.text:
            rows = index.rows(order=order)
        else:
            rows = index.rows(
                lambda entry: (question is None or question.keeps(entry)) and kept.keeps(entry),
                (lambda name: kept.keeps(index.bare(name))) if question is None else None,
                order,
            )
        column = next((column for column in LAYER_COLUMNS if column.name == self._group), None)
        return rows if column is None else index.grouped(rows, column)

    def _why_empty(self) -> str:
        if self._index is None:
            return "the log is still being read"
        if self.kept_by.text:
            return f"no layer is kept by {self.kept_by.text!r}: Enter looks for it among ONNX nodes, then in the log"
        if self.asked:
            return f"no layer: {self.asked}"
        return "the log names no layers; those of trtexec --verbose and polygraphy -vv do"
