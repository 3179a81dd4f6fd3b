"""The layer tree: the layers of one build as virtual rows. A layer's children are built when the layer is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from trtforensics.tui.rows.layer_index import LayerEntry, LayerIndex, RowKind, TreeRow
from trtforensics.tui.rows.layer_rows import row_pieces
from trtforensics.tui.rows.pieces import Line, Piece, Role
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from textual.binding import BindingType

    from trtforensics.model.log import CachedResult, Choice

ARROW_WIDTH = 3


class LayerTree(VirtualList):
    """The layers of a build. An opened layer shows its ONNX nodes and its tuned combinations of formats."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "open", "Open", show=False),
        Binding("left,h", "close", "Close", show=False),
        Binding("space", "fold", "Open/close"),
        Binding("s", "sort", "Slowest first"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._index: LayerIndex | None = None
        self._rows: list[TreeRow] = []
        self._open: set[int] = set()
        self._needle = ""
        self._slowest_first = False

    def show_layers(self, index: LayerIndex | None) -> None:
        """Show another build's layers."""
        self._index = index
        self._refill()

    def update_layers(self, index: LayerIndex | None) -> None:
        """Show the same build after more of its log was read: opened layers stay open, the cursor stays on its row."""
        cursor, above = self.cursor, self.cursor - self.scroll_offset.y
        selected = self._keys()[cursor] if self._rows else None
        opened = {row.entry.name for row in self._rows if row.entry and id(row.entry) in self._open}
        self.show_layers(index)
        for position in reversed(range(len(self._rows))):
            entry = self._entry_at(position)
            if entry is not None and entry.name in opened:
                self._expand(position, entry)
        if selected is not None:
            same = (position for position, key in enumerate(self._keys()) if key == selected)
            self.stay(min(same, key=lambda position: abs(position - cursor), default=self.cursor), above)

    def _keys(self) -> list[tuple[object, ...]]:
        """Return a key for each row that stays the same while the log grows."""
        keys: list[tuple[object, ...]] = []
        owner = ""
        for row in self._rows:
            child = row.kind in {RowKind.DETAIL, RowKind.COMBINATION}
            owner = owner if child else row.text
            place = row.line if row.kind is RowKind.COMBINATION else row.label if child else None
            keys.append((owner, row.kind, row.text, place))
        return keys

    def filter(self, needle: str) -> None:
        """Keep the layers whose name or ONNX nodes contain a text; an empty text keeps all."""
        if needle != self._needle:
            self._needle = needle
            self._refill()
            self.go_to(self.cursor)

    def reveal(self, entry: LayerEntry, result: Choice | CachedResult | None = None, *, announce: bool = True) -> None:
        """Move to a layer, or to its combination ``result`` if given. A filter that hides the layer is dropped."""
        if not any(row.entry is entry for row in self._rows):
            self.filter("")
        position = next((i for i, row in enumerate(self._rows) if row.entry is entry), None)
        if position is None:
            return
        self.cursor = position
        if result is not None and result is not entry.subject and not entry.inside:
            if id(entry) not in self._open:
                self._expand(position, entry)
            rows = range(position + 1, len(self._rows))
            position = next((i for i in rows if self._rows[i].subject is result and self._is_combination(i)), position)
        self.go_to(position, center=True, announce=announce)

    def _is_combination(self, index: int) -> bool:
        return self._rows[index].kind is RowKind.COMBINATION

    @property
    def selected(self) -> TreeRow | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if self._rows else None

    @property
    def shown_layers(self) -> int:
        """How many layers are listed, opened or not."""
        return sum(row.kind in {RowKind.LAYER, RowKind.NAME} for row in self._rows)

    @property
    def count_text(self) -> str:
        """How many layers of the engine are listed, and how many others."""
        engine = sum(row.entry is not None and row.entry.layer is not None for row in self._rows)
        others = self.shown_layers - engine
        return f"{engine:,}+{others:,}" if engine and others else f"{engine or others:,}"

    def row_count(self) -> int:
        """Return the number of rows, children of opened layers included: 1 when a text replaces them."""
        return max(len(self._rows), 1)

    def row(self, index: int, width: int) -> Line:
        """Return a row, or the text that says why there are none."""
        if not self._rows:
            return (Piece(self._empty(), Role.DIM),)
        row = self._rows[index]
        return row_pieces(row, width, expanded=id(row.entry) in self._open)

    def log_line(self, index: int) -> int | None:
        """Return the line of the log that a row is about."""
        return self._rows[index].line if self._rows else None

    def clicked(self, index: int, column: int) -> None:
        """Open or close a layer when its arrow is clicked; elsewhere a click acts like Enter."""
        if column < ARROW_WIDTH:
            self.action_fold()
        else:
            super().clicked(index, column)

    def action_open(self) -> None:
        """Open the layer under the cursor; if it is open, step into it."""
        entry = self._entry_at(self.cursor)
        if entry is None:
            return
        if id(entry) in self._open:
            self.go_to(self.cursor + 1)
        else:
            self._expand(self.cursor, entry)

    def action_close(self) -> None:
        """Close the layer under the cursor, or the layer that the row belongs to."""
        start = self.cursor
        while start > 0 and self._rows[start].kind in {RowKind.DETAIL, RowKind.COMBINATION}:
            start -= 1
        entry = self._entry_at(start)
        if entry is not None and id(entry) in self._open:
            self._collapse(start, entry)
            self.go_to(start)

    def action_fold(self) -> None:
        """Open or close the layer under the cursor."""
        entry = self._entry_at(self.cursor)
        if entry is not None and id(entry) not in self._open:
            self._expand(self.cursor, entry)
        else:
            self.action_close()

    def action_sort(self) -> None:
        """Switch between slowest first and the engine's order; the cursor stays on its layer."""
        entry = next((row.entry for row in reversed(self._rows[: self.cursor + 1]) if row.entry), None)
        self._slowest_first = not self._slowest_first
        self._refill()
        if entry is not None:
            self.reveal(entry)

    def _entry_at(self, index: int) -> LayerEntry | None:
        return self._rows[index].entry if self._rows else None

    def _expand(self, position: int, entry: LayerEntry) -> None:
        """Insert the children of the layer at a row."""
        if self._index is not None:
            self._open.add(id(entry))
            self._rows[position + 1 : position + 1] = self._index.children(entry)
            self.rows_changed()

    def _collapse(self, start: int, entry: LayerEntry) -> None:
        """Remove the children of a layer."""
        end = start + 1
        while end < len(self._rows) and self._rows[end].kind in {RowKind.DETAIL, RowKind.COMBINATION}:
            end += 1
        self._open.discard(id(entry))
        del self._rows[start + 1 : end]
        self.rows_changed()

    def _refill(self) -> None:
        """List all layers again, closed, with the cursor on the first."""
        self._open.clear()
        self._rows = self._index.rows(self._needle, slowest_first=self._slowest_first) if self._index else []
        named = {RowKind.LAYER, RowKind.NAME}
        self.cursor = next((position for position, row in enumerate(self._rows) if row.kind in named), 0)
        self.rows_changed()
        self.scroll_to(y=0, animate=False, immediate=True)

    def _empty(self) -> str:
        if self._index is None:
            return " the log is still being read"
        return (
            f" no layer has {self._needle!r} in its name"
            if self._needle
            else " the log names no layers; a verbose one does"
        )
