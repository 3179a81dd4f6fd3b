"""The lists of a comparison: the differences, and the places of the difference under the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tui.exporting import PaneTable
from trtforensics.tui.rows.diff_rows import DiffPlace, DiffRow, header, place_pieces, row_pieces, values_of
from trtforensics.tui.rows.pieces import Line, Piece, Role, width_of
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence


class DiffList(VirtualList):
    """One row per difference, good beside bad."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._rows: Sequence[DiffRow] = ()
        self._empty = ""
        self._scored = False
        self._by_delta = False

    def show_rows(self, rows: Sequence[DiffRow], empty: str, *, scored: bool, by_delta: bool = False) -> None:
        """Show other rows, from the top; ``empty`` is the text shown when there are none."""
        self._rows, self._empty, self._scored, self._by_delta = rows, empty, scored, by_delta
        self.cursor = 0
        self.rows_changed()
        self.scroll_to(x=0, y=0, animate=False, immediate=True)

    @property
    def selected(self) -> DiffRow | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if self._rows else None

    def row_count(self) -> int:
        """Return the number of rows: 1 when a text replaces them."""
        return max(len(self._rows), 1)

    def row(self, index: int, width: int) -> Line:
        """Return a row, cut to fit."""
        if not self._rows:
            return (Piece(f" {self._empty}", Role.DIM),)
        return row_pieces(self._rows[index], width, scored=self._scored)

    def header(self, width: int) -> Sequence[Line]:
        """Return the names of the columns."""
        return (header(width, scored=self._scored, by_delta=self._by_delta),)

    def exported(self) -> PaneTable:
        """Return each difference with the most frequent value of each side, whole."""
        columns = ("type", "layer", "good", "bad", "delta_ms", "suspicion")
        return PaneTable(columns, [values_of(row) for row in self._rows])

    def log_line(self, index: int) -> None:
        """Return None: a row has lines in two files, which :class:`PlaceList` shows."""


class PlaceList(VirtualList):
    """The lines that a row is about. The pane of a line's side shows the line under the cursor."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._places: Sequence[DiffPlace] = ()
        self._width = 0

    def show_places(self, places: Sequence[DiffPlace]) -> None:
        """Show another row's places, from the top."""
        self._places = places
        self._width = max((width_of(place_pieces(place)) for place in places), default=0) + 1
        self.cursor = 0
        self.rows_changed()
        self.scroll_to(x=0, y=0, animate=False, immediate=True)

    @property
    def selected(self) -> DiffPlace | None:
        """The place under the cursor."""
        return self._places[self.cursor] if self._places else None

    def row_count(self) -> int:
        """Return how many places and remarks there are."""
        return len(self._places)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - rows scroll, they are not cut
        """Return a place."""
        return place_pieces(self._places[index])

    def content_width(self) -> int:
        """Return the width of the widest place."""
        return self._width

    def log_line(self, index: int) -> int | None:
        """Return the line of a place."""
        span = self._places[index].span
        return span.line if span is not None else None
