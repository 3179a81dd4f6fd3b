"""Lists of rows of one sort: a presentation says how they look, what a filter can ask, what is exported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from trtforensics.tables.table import Table
from trtforensics.tui.rows.pieces import CitingLine, Line, Piece, Presentation, Role, Row, width_of
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence


class RowList(VirtualList, Generic[Row]):
    """One line per row."""

    def __init__(self, presentation: Presentation[Row], *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.presentation = presentation
        self.fields = presentation.filters
        self.every: Sequence[Row] = ()
        """All rows."""
        self.rows: Sequence[Row] = ()
        """The rows that the filter keeps."""
        self._empty = ""
        self._home: Row | None = None
        self._widest = 0

    def show(
        self,
        rows: Sequence[Row],
        empty: str = "",
        *,
        presentation: Presentation[Row] | None = None,
        keep: bool = False,
        home: Row | None = None,
    ) -> None:
        """Show other rows, with the cursor on the row ``home``, else on the first; with ``keep`` the cursor stays.

        ``empty`` is shown where there are no rows. Another ``presentation`` is for rows that look otherwise.
        """
        cursor, above = self.cursor, self.cursor - self.scroll_offset.y
        selected, key = self.selected, self.presentation.key
        if presentation is not None:
            self.presentation, self.fields = presentation, presentation.filters
            self.kept_by = self.read_filter(self.kept_by.text)
        self.every, self._empty, self._home = rows, empty, home
        self.list_rows()
        if not keep:
            self.scroll_to(x=0, y=0, animate=False, immediate=True)
            self.go_to(self._home_place(), announce=False)
        elif key is not None and selected is not None:
            same = (place for place in range(self.place_count()) if key(self.row_at(place)) == key(selected))
            place = min(same, key=lambda place: abs(place - cursor), default=cursor)
            self.stay(place, place if above == cursor and place < self.rows_in_view() else above)

    def refill(self) -> None:
        self.list_rows()
        self.cursor = self._home_place()

    def list_rows(self) -> None:
        """List the rows that the filter keeps."""
        kept, pieces, widest = self.kept_by, self.presentation.pieces, self.presentation.widest
        self.rows = [row for row in self.every if kept.keeps(row)] if kept.text else self.every
        measured = (width_of(pieces(row, 0)) for row in self.rows)
        self._widest = max(measured, default=0) + 1 if widest is None else widest
        self.rows_changed()

    def _home_place(self) -> int:
        return self.place_of(self._home) if self._home is not None and self._home in self.rows else 0

    def place_of(self, row: Row) -> int:
        """Return the first line of a row."""
        return self.rows.index(row)

    def place_count(self) -> int:
        """Return the number of lines that the rows take."""
        return len(self.rows)

    def row_at(self, place: int) -> Row:
        """Return the row of a line."""
        return self.rows[place]

    @property
    def selected(self) -> Row | None:
        """The row under the cursor."""
        return self.row_at(self.cursor) if self.place_count() else None

    def row_count(self) -> int:
        """Return the number of lines: 1 where a text replaces the rows."""
        return self.place_count() or bool(self._empty)

    def row(self, index: int, width: int) -> Line:
        if self.place_count():
            return self.pieces_at(index, width)
        no_row = f"no {self.presentation.noun} is kept by {self.kept_by.text!r}" if self.every else self._empty
        return (Piece(f" {no_row}", Role.DIM),)

    def pieces_at(self, place: int, width: int) -> Line:
        """Return a line of a row in a width."""
        return self.presentation.pieces(self.rows[place], width)

    def header(self, width: int) -> Sequence[Line]:
        return self.presentation.heading(self.rows, width, self.scrollable_content_region.height)

    def footer(self, width: int) -> Sequence[Line]:
        return self.presentation.footing(self.selected, width, self.scrollable_content_region.height)

    def as_table(self) -> Table:
        return Table(self.presentation.columns, self.rows) if self.presentation.columns else super().as_table()

    def content_width(self) -> int:
        """Return the width of the widest row, 0 where rows are cut."""
        return self._widest

    def pinned_width(self) -> int:
        return self.presentation.pinned if self.place_count() else 0

    def log_line(self, index: int) -> int | None:
        return self.presentation.line(self.rows[index]) if self.place_count() else None


class WrappedList(RowList[Row]):
    """Rows that take as many lines as their text needs in the width of the pane."""

    def __init__(self, presentation: Presentation[Row], *, id: str | None = None) -> None:  # noqa: A002 - as above
        super().__init__(presentation, id=id)
        self._lines: list[tuple[Row, CitingLine]] = []
        self._wrapped_at = 0

    def list_rows(self) -> None:
        super().list_rows()
        self.wrap()

    def wrap(self) -> None:
        """Wrap the rows for the current width."""
        width = self._wrapped_at = self.scrollable_content_region.width
        self._lines = [(row, line) for row in self.rows for line in self.presentation.wrapped(row, width - 1)]
        self.rows_changed()

    def on_resize(self) -> None:
        selected = self.selected
        if self.scrollable_content_region.width != self._wrapped_at:
            self.wrap()
            if selected is not None:
                self.cursor = self.place_of(selected)

    def place_of(self, row: Row) -> int:
        return next(place for place, (other, _) in enumerate(self._lines) if other is row)

    @property
    def selected_line(self) -> CitingLine | None:
        """The line under the cursor."""
        return self._lines[self.cursor][1] if self._lines else None

    def place_count(self) -> int:
        return len(self._lines)

    def row_at(self, place: int) -> Row:
        return self._lines[place][0]

    def pieces_at(self, place: int, width: int) -> Line:  # noqa: ARG002 - it was wrapped before
        return self._lines[place][1].pieces

    def log_line(self, index: int) -> int | None:
        return self._lines[index][1].line if self._lines else None


class FoldingList(RowList[Row]):
    """Rows that open: below an opened row stand lines that say more of it."""

    def __init__(self, presentation: Presentation[Row], *, id: str | None = None) -> None:  # noqa: A002 - as above
        super().__init__(presentation, id=id)
        self._open: set[int] = set()

    @property
    def folding(self) -> Row | None:
        """The row that folds: the one under the cursor, or the one that the line under the cursor belongs to."""
        return self.selected

    def refill(self) -> None:
        self._open.clear()
        super().refill()

    def is_open(self, row: Row | None) -> bool:
        """Whether a row is opened."""
        return id(row) in self._open

    def action_open(self) -> None:
        """Open the row; where it is open, go to the line below the cursor."""
        if self.is_open(self.folding):
            self.go_to(self.cursor + 1)
        else:
            self.action_fold()

    def action_close(self) -> None:
        if self.is_open(self.folding):
            self.action_fold()

    def action_fold(self) -> None:
        row, before = self.folding, self.cursor
        if row is not None:
            self._open ^= {id(row)}
            self.list_rows()
            place = self.place_of(row)
            self.go_to(place, announce=place != before)
