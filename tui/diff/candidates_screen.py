"""The candidates of a layer on both sides, above the comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen

from trtforensics.errors import ForensicsError
from trtforensics.tui.rows.layers.candidates import CandidateTable
from trtforensics.tui.rows.pieces import Piece, Role
from trtforensics.tui.widgets.candidates import CandidateList
from trtforensics.tui.widgets.virtual_list import LineBar

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from trtforensics.diff.builds.views import LayerView

_SIDES = {"good": Role.GOOD, "bad": Role.ERROR}


class TablesRead(Message):
    """The logs of both sides were read again; a table a side."""

    def __init__(self, tables: dict[str, CandidateTable]) -> None:
        super().__init__()
        self.tables = tables


class CandidatesScreen(ModalScreen[None]):
    """Two tables side by side; Escape and q close them.

    ``layers`` has the layer of each side, None where that side has none. ``read`` returns a layer's table; it is called
    in a thread, as it may read a log.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "Close", show=False)]

    def __init__(self, layers: dict[str, LayerView | None], read: Callable[[LayerView], CandidateTable]) -> None:
        super().__init__()
        self._layers = layers
        self._read = read

    def compose(self) -> ComposeResult:
        """Show the name of each side's layer above its table."""
        with Horizontal(id="both"):
            for side, role in _SIDES.items():
                layer = self._layers[side]
                name = layer.name if layer is not None else "no such layer"
                with Vertical(classes="pane"):
                    yield LineBar((Piece(f" {side} ", role), Piece(f" {name}")), classes="heading")
                    yield CandidateList(id=f"{side}-candidates")

    def on_mount(self) -> None:
        """Begin to read."""
        for side in _SIDES:
            self._table(side).show_table(_remark("reading the log"))
        self._table("good").focus()
        self.run_worker(self._collect, group="candidates", thread=True)

    def _collect(self) -> None:
        """Read both tables, in a thread."""
        tables = {}
        for side, layer in self._layers.items():
            try:
                tables[side] = _remark("the other side only") if layer is None else self._read(layer)
            except ForensicsError as error:
                tables[side] = _remark(str(error))
        self.post_message(TablesRead(tables))

    def on_tables_read(self, event: TablesRead) -> None:
        """Show both tables."""
        for side, table in event.tables.items():
            self._table(side).show_table(table)

    def _table(self, side: str) -> CandidateList:
        return self.query_one(f"#{side}-candidates", CandidateList)

    def action_leave(self) -> None:
        """Close the tables."""
        self.dismiss()


def _remark(text: str) -> CandidateTable:
    return CandidateTable(((Piece(f" {text}", Role.WARNING),),))
