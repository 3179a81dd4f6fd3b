"""Lists above the screen of a log: everything about a layer, and its neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual.binding import Binding
from textual.screen import ModalScreen, ScreenResultType

from trtforensics.engines.neighbours import Neighbours
from trtforensics.tui.rows.layers.details import details, labelled
from trtforensics.tui.rows.layers.neighbours import NeighbourRow, neighbour_rows, neighbours_of
from trtforensics.tui.rows.overview_rows import OverviewRow
from trtforensics.tui.widgets.row_list import RowList, WrappedList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from trtforensics.engines.facts import LayerFacts
    from trtforensics.engines.why import Reason
    from trtforensics.model.log import Build, EngineLayer
    from trtforensics.tui.widgets.virtual_list import VirtualList

List = TypeVar("List", bound="VirtualList")


class Dialog(ModalScreen[ScreenResultType], Generic[List, ScreenResultType]):
    """A list in a frame. What happens in it does not move the log below."""

    def __init__(self, shown: List, title: str, keys: str) -> None:
        super().__init__()
        self.list = shown
        self.list.border_title, self.list.border_subtitle = title, keys

    def compose(self) -> ComposeResult:
        """Show the list."""
        yield self.list

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        """Keep the log where it is."""
        event.stop()

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Act on the row that was chosen."""
        event.stop()
        self.choose(event.index)

    def choose(self, place: int) -> None:
        """Act on the row at a place."""
        raise NotImplementedError


class DetailScreen(Dialog[WrappedList[OverviewRow], "int | None"]):
    """A layer's facts, wrapped. It ends with the line that was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,backspace", "dismiss", "Close", show=False)]

    def __init__(self, build: Build, entry: LayerFacts, why: Sequence[Reason]) -> None:
        rows = details(build, entry, why)
        super().__init__(WrappedList(labelled(rows), id="detail-list"), "Layer", "Enter shows the line, Esc closes")
        self._details = rows

    def on_mount(self) -> None:
        """Fill the list."""
        self.list.show(self._details)

    def choose(self, place: int) -> None:
        """Close, and show the line of the row."""
        self.dismiss(self.list.log_line(place))


class NeighbourScreen(Dialog[RowList[NeighbourRow], "EngineLayer | None"]):
    """The producers and the consumers of one layer at a time. It ends with the layer that was walked to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("backspace,b", "turn_back", "Back", show=False),
        Binding("escape,q,x", "leave", "Close", show=False),
    ]

    def __init__(self, build: Build, layer: EngineLayer) -> None:
        self.walked = [layer]
        """The layers walked through; the last is in view."""
        rows = RowList(neighbours_of(self.walked), id="neighbour-list")
        super().__init__(rows, "Neighbours", "Enter walks, Backspace goes back, Esc stays there")
        self._neighbours = Neighbours(build)

    def on_mount(self) -> None:
        """Show the neighbours of the first layer."""
        self._show()

    def _show(self) -> None:
        rows = neighbour_rows(self.walked[-1], self._neighbours)
        self.list.show(rows, home=next((row for row in rows if row.layer is not None), None))

    def choose(self, place: int) -> None:
        """Walk to the layer of the row."""
        layer = self.list.row_at(place).layer
        if layer is not None:
            self.walked.append(layer)
            self._show()

    def action_turn_back(self) -> None:
        """Go back by one layer; from the first, close."""
        if len(self.walked) == 1:
            self.dismiss(None)
        else:
            self.walked.pop()
            self._show()

    def action_leave(self) -> None:
        """Close, and select the layer in view."""
        self.dismiss(self.walked[-1] if len(self.walked) > 1 else None)
