"""The pane of the ONNX nodes: what became of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from trtforensics.engines.fates import Fate, counted, fates
from trtforensics.tui.rows.layers.nodes import NODE_FIELDS, fates_text, node_fields, node_heading, node_pieces
from trtforensics.tui.rows.pieces import Line, Piece, Role
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import Build
    from trtforensics.tables.filtering import FilterField


class NodeList(VirtualList):
    """One row per ONNX node. The fates are looked up when the pane is first in view."""

    fields: ClassVar[Sequence[FilterField]] = NODE_FIELDS

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._build: Build | None = None
        self._known: tuple[Fate, ...] | None = None
        self._rows: list[Fate] = []

    def show_build(self, build: Build | None, *, keep: bool = False) -> None:
        """Show another build. With ``keep`` it is the same build, of which more was read, and the cursor stays."""
        self._build, self._known, self._rows = build, None, []
        self.cursor = self.cursor if keep else 0
        if self.display and self.is_attached and self.size.width:
            self.look()

    def look(self) -> None:
        """Look the fates up, if they are not known yet."""
        if self._known is None and self._build is not None:
            self._known = fates(self._build)
            self.refill()

    def on_show(self) -> None:
        """Fill the pane when it comes into view."""
        self.look()

    @property
    def selected(self) -> Fate | None:
        """The node under the cursor."""
        return self._rows[self.cursor] if self._rows else None

    def matching(self, text: str) -> int:
        """Return how many nodes a text is found in."""
        self.look()
        needle = text.casefold()
        return sum(fate.mentions(needle) for fate in self._known or ())

    def row_count(self) -> int:
        """Return the number of nodes: 1 when a text replaces them."""
        return max(len(self._rows), 1)

    def row(self, index: int, width: int) -> Line:
        """Return a node, or the text that says why there is none."""
        if not self._rows:
            return (Piece(fates_text(self._known or ()), Role.DIM),)
        return node_pieces(self._rows[index], width)

    def header(self, width: int) -> Sequence[Line]:
        """Return how many nodes have each fate, and the titles of the columns."""
        return node_heading(counted(self._rows), width) if self._rows else ()

    def log_line(self, index: int) -> int | None:
        """Return the line that says what became of the node."""
        return self._rows[index].span.line if self._rows else None

    def refill(self) -> None:
        """List the nodes that the filter keeps."""
        kept = self.kept_by
        self._rows = [fate for fate in self._known or () if not kept or kept.keeps(node_fields(fate))]
        self.cursor = min(self.cursor, max(len(self._rows) - 1, 0))
        self.rows_changed()
