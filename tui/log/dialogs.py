"""Lists above the screen of a log: everything about a layer, and its neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from rich.text import Text
from textual.binding import Binding
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import SelectionList

from trtforensics.engines.neighbours import Neighbours
from trtforensics.tables.layers import LAYER_COLUMNS
from trtforensics.tui.rows.layers.columns import CHOICES, value_text
from trtforensics.tui.rows.layers.details import details, labelled
from trtforensics.tui.rows.layers.neighbours import NeighbourRow, neighbour_rows, neighbours_of
from trtforensics.tui.rows.overview_rows import OverviewRow
from trtforensics.tui.rows.pieces import Line, Piece, Presentation, Role, fit
from trtforensics.tui.widgets.row_list import RowList, WrappedList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from trtforensics.engines.facts import LayerFacts
    from trtforensics.engines.why import Reason
    from trtforensics.model.log import Build, EngineLayer
    from trtforensics.tables.columns import Cell, TableColumn
    from trtforensics.tui.widgets.virtual_list import VirtualList

Row = TypeVar("Row")


class Dialog(ModalScreen[ScreenResultType], Generic[Row, ScreenResultType]):
    """A list in a frame. What happens in it does not move the log below."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close", show=False)]

    def __init__(self, shown: RowList[Row], title: str, keys: str, rows: Sequence[Row] = ()) -> None:
        super().__init__()
        self.list = shown
        self.list.border_title, self.list.border_subtitle = title, keys
        self._rows = rows

    def compose(self) -> ComposeResult:
        """Show the list."""
        yield self.list

    def on_mount(self) -> None:
        """Fill the list."""
        self.fill()

    def fill(self) -> None:
        """Show the rows."""
        self.list.show(self._rows)

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        """Keep the log where it is."""
        event.stop()

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Act on the row that was chosen."""
        event.stop()
        self.choose(event.index)

    def choose(self, place: int) -> None:
        """Act on the row at a place; by default nothing."""


class DetailScreen(Dialog[OverviewRow, "int | None"]):
    """A layer's facts, wrapped. It ends with the line that was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("backspace", "dismiss", "Close", show=False)]

    def __init__(self, build: Build, entry: LayerFacts, why: Sequence[Reason]) -> None:
        rows = details(build, entry, why)
        shown = WrappedList(labelled(rows), id="detail-list")
        super().__init__(shown, "Layer", "Enter shows the line, Esc closes", rows)

    def choose(self, place: int) -> None:
        """Close, and show the line of the row."""
        self.dismiss(self.list.log_line(place))


class NeighbourScreen(Dialog[NeighbourRow, "EngineLayer | None"]):
    """The producers and the consumers of one layer at a time. It ends with the layer that was walked to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("backspace,b,left,h", "turn_back", "Back", show=False, priority=True),
        Binding("right,l", "walk", "Walk", show=False, priority=True),
        Binding("plus", "reach(1)", "More hops", show=False),
        Binding("minus", "reach(-1)", "Fewer hops", show=False),
        Binding("escape,q,x", "leave", "Close", show=False),
    ]

    def __init__(self, build: Build, layer: EngineLayer) -> None:
        self.walked = [layer]
        """The layers walked through; the last is in view."""
        rows = RowList(neighbours_of(self.walked), id="neighbour-list")
        super().__init__(rows, "Neighbours", "→ walks, ← goes back, + - hops, Esc stays there")
        self._neighbours = Neighbours(build)
        self._hops = 2

    def fill(self) -> None:
        """Show the neighbours of the layer in view."""
        rows = neighbour_rows(self.walked[-1], self._neighbours, self._hops)
        home = next(row for row in rows if not row.edge)
        self.list.show(rows, home=home)
        self.list.go_to(rows.index(home), center=True, announce=False)

    def choose(self, place: int) -> None:
        """Walk to the layer of the row."""
        layer = self.list.row_at(place).layer
        if layer is not None and layer is not self.walked[-1]:
            self.walked.append(layer)
            self.fill()

    def action_walk(self) -> None:
        """Walk to the layer under the cursor."""
        self.choose(self.list.cursor)

    def action_reach(self, by: int) -> None:
        """Draw more hops each way, or fewer."""
        self._hops = min(max(self._hops + by, 1), 3)
        self.fill()

    def action_turn_back(self) -> None:
        """Go back by one layer; from the first, close."""
        if len(self.walked) == 1:
            self.dismiss(None)
        else:
            self.walked.pop()
            self.fill()

    def action_leave(self) -> None:
        """Close, and select the layer in view."""
        self.dismiss(self.walked[-1] if len(self.walked) > 1 else None)


def compared(first: LayerFacts, second: LayerFacts) -> Dialog[TableColumn, None]:
    """Return two layers column by column, what differs first."""

    def texts(column: TableColumn) -> tuple[str, str]:
        return value_text(column, first), value_text(column, second)

    def pieces(column: TableColumn, width: int) -> Line:
        sides, room = texts(column), max((width - 22) // 2, 8)
        role = Role.DIM if sides[0] == sides[1] else Role.STRONG
        return (Piece(fit(f" {column.name}", 20), Role.DIM), *(Piece(f" {fit(s, room)}", role) for s in sides))

    columns = [column for column in LAYER_COLUMNS if any(texts(column))]
    columns.sort(key=lambda column: len(set(texts(column))) == 1)
    return Dialog(RowList(Presentation(pieces=pieces), id="pair-list"), "Two layers", "Esc closes", columns)


class ColumnScreen(ModalScreen["tuple[Cell, ...] | None"]):
    """The columns of the layers: chosen by Space, widened and narrowed by + and -. It ends with the chosen cells."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,comma", "close", "Close", show=False),
        Binding("plus", "widen(4)", "Wider", show=False),
        Binding("minus", "widen(-4)", "Narrower", show=False),
    ]

    def __init__(self, shown: Sequence[Cell]) -> None:
        super().__init__()
        self._cells = CHOICES | {cell.title: cell for cell in shown}
        chosen = {cell.title for cell in shown}
        self._list = SelectionList(*((Text(title), title, title in chosen) for title in self._cells), id="columns")
        self._list.border_title = "Columns of the layers"
        self._list.border_subtitle = "Space shows or hides, + - width, Esc closes"

    def compose(self) -> ComposeResult:
        """Show the list."""
        yield self._list

    def action_widen(self, by: int) -> None:
        """Widen the column under the cursor, or narrow it, and show it."""
        title = self._list.get_option_at_index(self._list.highlighted or 0).value
        cell = self._cells[title]
        self._cells[title] = replace(cell, width=max(cell.width + by, 4))
        self._list.select(title)
        self.notify(f"{title}: {self._cells[title].width} cells", markup=False)

    def action_close(self) -> None:
        """Close with the columns that are chosen, those of the catalogue in its order."""
        chosen = [cell for title, cell in self._cells.items() if title in self._list.selected]
        self.dismiss(tuple(sorted(chosen, key=lambda cell: cell.place)))
