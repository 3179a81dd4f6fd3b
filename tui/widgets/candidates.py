"""The candidates pane: every tactic timed for the selected layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tui.rows.layers.candidates import NOTHING_SELECTED, CandidateTable, candidates_of
from trtforensics.tui.rows.pieces import broken
from trtforensics.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.tui.rows.pieces import Line

LEAST_ROWS = 5
"""Lines of the pane that the heading leaves to the names of the columns and to candidates."""


class CandidateList(RowList[int]):
    """One row per timed tactic, by its place in the table, fastest first. The cursor starts on the chosen tactic."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        self.table: CandidateTable = NOTHING_SELECTED
        super().__init__(candidates_of(self.table), id=id)

    def show_table(self, table: CandidateTable, *, keep: bool = False) -> None:
        """Show the candidates of a layer. With ``keep`` the layer is the same as before and the cursor stays."""
        self.table = table
        places = range(len(table.candidates))
        self.show(places, presentation=candidates_of(table), keep=keep, home=table.chosen)

    def header(self, width: int) -> Sequence[Line]:
        """Return the decision, its lines broken where there is room for more of them, and the names of the columns."""
        heading = self.table.heading
        names = heading[-1:] if self.table.candidates else ()
        decision = heading[: len(heading) - len(names)]
        lines = [part for line in decision for part in broken(line, width)]
        fits = len(lines) + LEAST_ROWS <= self.scrollable_content_region.height
        return (*(lines if fits else decision), *names)

    def content_width(self) -> int:
        return self.table.width
