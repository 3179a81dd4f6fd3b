"""The candidates pane: every tactic timed for the selected layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from trtforensics.tui.rows.layers.candidates import (
    CANDIDATE_FIELDS,
    NOTHING_SELECTED,
    CandidateTable,
    candidate_fields,
    candidate_pieces,
)
from trtforensics.tui.rows.pieces import broken
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.tables.filtering import FilterField
    from trtforensics.tui.rows.pieces import Line


LEAST_ROWS = 5
"""Lines of the pane that the heading leaves to the names of the columns and to candidates."""


class CandidateList(VirtualList):
    """One row per timed tactic, fastest first. The cursor starts on the chosen tactic."""

    fields: ClassVar[Sequence[FilterField]] = CANDIDATE_FIELDS

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.table: CandidateTable = NOTHING_SELECTED
        self._kept: list[int] | None = None
        """The candidates that the filter keeps; None for all."""

    def show_table(self, table: CandidateTable, *, keep: bool = False) -> None:
        """Show the candidates of a layer. With ``keep`` the layer is the same as before and the cursor stays."""
        self.table = table
        self._keep()
        if keep:
            self.rows_changed()
            return
        self.cursor = self._row_of(table.chosen)
        self.rows_changed()
        self.scroll_to(x=0, y=0, animate=False, immediate=True)
        self.go_to(self.cursor, announce=False)

    def row_count(self) -> int:
        """Return how many tactics were timed."""
        return len(self.table.candidates) if self._kept is None else len(self._kept)

    def refill(self) -> None:
        """List the candidates that the filter keeps."""
        self._keep()
        self.cursor = self._row_of(self.table.chosen)
        self.rows_changed()

    def _keep(self) -> None:
        table = self.table
        every = range(len(table.candidates))
        self._kept = [at for at in every if self.kept_by.keeps(candidate_fields(table, at))] if self.kept_by else None

    def _candidate(self, row: int) -> int:
        return row if self._kept is None else self._kept[row]

    def _row_of(self, candidate: int | None) -> int:
        if self._kept is None or candidate not in self._kept:
            return candidate or 0 if self._kept is None else 0
        return self._kept.index(candidate)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - rows scroll, they are not cut
        """Return a candidate."""
        return candidate_pieces(self.table, self._candidate(index))

    def log_line(self, index: int) -> int | None:
        """Return the line that states the candidate's time."""
        return self.table.candidates[self._candidate(index)].line if index < self.row_count() else None

    def header(self, width: int) -> Sequence[Line]:
        """Return the decision, its lines broken where there is room for more of them, and the names of the columns."""
        heading = self.table.heading
        names = heading[-1:] if self.table.candidates else ()
        told = heading[: len(heading) - len(names)]
        lines = [one for line in told for one in broken(line, width)]
        fits = len(lines) + LEAST_ROWS <= self.scrollable_content_region.height
        return (*(lines if fits else told), *names)

    def content_width(self) -> int:
        """Return the width of a row with the longest kernel name."""
        return self.table.width
