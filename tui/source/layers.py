"""The list of layers of a source other than a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tui.rows.pieces import Line, Piece, Role, width_of
from trtforensics.tui.rows.source_rows import HEADING, layer_pieces
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.diff.builds.views import LayerView


class SourceList(VirtualList):
    """One row per layer."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._layers: Sequence[LayerView] = ()
        self._empty = ""
        self._width = 0

    def show_layers(self, layers: Sequence[LayerView], empty: str) -> None:
        """Show other layers, from the top; ``empty`` is the text shown when there are none."""
        self._layers, self._empty = layers, empty
        self._width = max((width_of(layer_pieces(layer)) for layer in layers), default=0) + 1
        self.cursor = 0
        self.rows_changed()
        self.scroll_to(x=0, y=0, animate=False, immediate=True)

    @property
    def selected(self) -> LayerView | None:
        """The layer under the cursor."""
        return self._layers[self.cursor] if self._layers else None

    def row_count(self) -> int:
        """Return the number of layers: 1 when a text replaces them."""
        return max(len(self._layers), 1)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - rows scroll, they are not cut
        """Return a layer."""
        return layer_pieces(self._layers[index]) if self._layers else (Piece(f" {self._empty}", Role.DIM),)

    def header(self, width: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls with the rows
        """Return the names of the columns."""
        return ((Piece(HEADING),),)

    def content_width(self) -> int:
        """Return the width of the widest row."""
        return self._width

    def log_line(self, index: int) -> int | None:
        """Return the line of a layer."""
        return self._layers[index].span.line if self._layers else None
