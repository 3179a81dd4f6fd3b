"""The screen of a layer's neighbours: Enter walks to one, Backspace goes back, Escape stays at the layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.screen import ModalScreen

from trtforensics.engines.neighbours import Neighbours
from trtforensics.tui.rows.layers.index import UNNAMED
from trtforensics.tui.rows.layers.neighbours import NeighbourRow, neighbour_pieces, neighbour_rows
from trtforensics.tui.rows.pieces import Line, Piece, Role, clip
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from trtforensics.model.log import Build, EngineLayer


class NeighbourList(VirtualList):
    """The producers and the consumers of one layer at a time."""

    def __init__(self, build: Build, layer: EngineLayer) -> None:
        super().__init__(id="neighbour-list")
        self._neighbours = Neighbours(build)
        self.walked = [layer]
        """The layers walked through; the last is in view."""
        self._rows: list[NeighbourRow] = []
        self._fill()

    @property
    def centre(self) -> EngineLayer:
        """The layer in view."""
        return self.walked[-1]

    def walk(self) -> None:
        """Go to the layer under the cursor."""
        layer = self._rows[self.cursor].layer
        if layer is not None:
            self.walked.append(layer)
            self._show()

    def turn_back(self) -> bool:
        """Go back by one layer, and return whether there was one."""
        if len(self.walked) == 1:
            return False
        self.walked.pop()
        self._show()
        return True

    def _show(self) -> None:
        self._fill()
        self.rows_changed()
        self.go_to(self.cursor, announce=False)

    def _fill(self) -> None:
        self._rows = neighbour_rows(self.centre, self._neighbours)
        self.cursor = next((place for place, row in enumerate(self._rows) if row.layer is not None), 0)

    def row_count(self) -> int:
        """Return the number of rows, headings included."""
        return len(self._rows)

    def row(self, index: int, width: int) -> Line:
        """Return a neighbour."""
        return neighbour_pieces(self._rows[index], width)

    def header(self, width: int) -> Sequence[Line]:
        """Return the layer in view, and the way to it."""
        name = clip(self.centre.name or UNNAMED, max(width - 2, 1))
        way = " ← ".join(layer.name or UNNAMED for layer in reversed(self.walked[:-1]))
        return (Piece(f" {name}", Role.STRONG),), (
            Piece(f" from {clip(way, max(width - 7, 1))}" if way else "", Role.DIM),
        )

    def log_line(self, index: int) -> int | None:
        """Return the line of a neighbour in the engine's dump."""
        layer = self._rows[index].layer
        return layer.span.line if layer else None


class NeighbourScreen(ModalScreen["EngineLayer | None"]):
    """The neighbours above the screen of the log. It ends with the layer that was walked to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("backspace,b", "turn_back", "Back", show=False),
        Binding("escape,q,x", "leave", "Close", show=False),
    ]

    def __init__(self, build: Build, layer: EngineLayer) -> None:
        super().__init__()
        self._list = NeighbourList(build, layer)

    def compose(self) -> ComposeResult:
        """Show the list."""
        self._list.border_title = "Neighbours"
        self._list.border_subtitle = "Enter walks, Backspace goes back, Esc stays there"
        yield self._list

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Walk to the layer of the row."""
        event.stop()
        self._list.walk()

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        """Keep the log where it is."""
        event.stop()

    def action_turn_back(self) -> None:
        """Go back by one layer; from the first, close."""
        if not self._list.turn_back():
            self.dismiss(None)

    def action_leave(self) -> None:
        """Close, and select the layer in view."""
        self.dismiss(self._list.centre if len(self._list.walked) > 1 else None)
