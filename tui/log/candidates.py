"""The candidates pane: every tactic timed for the selected layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tui.rows.layers.candidates import NOTHING_SELECTED, CandidateTable, candidate_pieces
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.tui.rows.pieces import Line


class CandidateList(VirtualList):
    """One row per timed tactic, fastest first. The cursor starts on the chosen tactic."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.table: CandidateTable = NOTHING_SELECTED

    def show_table(self, table: CandidateTable, *, keep: bool = False) -> None:
        """Show the candidates of a layer. With ``keep`` the layer is the same as before and the cursor stays."""
        self.table = table
        if keep:
            self.rows_changed()
            return
        self.cursor = table.chosen or 0
        self.rows_changed()
        self.scroll_to(x=0, y=0, animate=False, immediate=True)
        self.go_to(self.cursor, announce=False)

    def row_count(self) -> int:
        """Return how many tactics were timed."""
        return len(self.table.candidates)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - rows scroll, they are not cut
        """Return a candidate."""
        return candidate_pieces(self.table, index)

    def log_line(self, index: int) -> int | None:
        """Return the line that states the candidate's time."""
        return self.table.candidates[index].line if index < self.row_count() else None

    def header(self, width: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls with the rows
        """Return the decision and the names of the columns."""
        return self.table.heading

    def content_width(self) -> int:
        """Return the width of a row with the longest kernel name."""
        return self.table.width
