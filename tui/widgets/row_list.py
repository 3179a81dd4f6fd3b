"""Lists whose rows take several lines, and lists whose rows open."""

from collections.abc import Sequence

from trtforensics.tui.rows.pieces import CitingLine, Line, Row
from trtforensics.tui.widgets.virtual_list import VirtualList


class WrappedList(VirtualList[Row]):
    """Rows that take as many lines as their text needs in the width of the pane."""

    _lines: Sequence[tuple[Row, CitingLine]] = ()
    _wrapped_at = 0

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


class FoldingList(VirtualList[Row]):
    """Rows that open: below an opened row stand lines that say more of it."""

    _open: frozenset[int] = frozenset()

    @property
    def folding(self) -> Row | None:
        """The row that folds: the one under the cursor, or the one that the line under the cursor belongs to."""
        return self.selected

    def refill(self) -> None:
        self._open = frozenset()
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
