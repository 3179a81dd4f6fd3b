"""Lists whose rows take several lines, and lists whose rows open; of findings, both."""

from collections.abc import Sequence

from trtforensics.findings.finding import Finding
from trtforensics.tui.rows.finding_rows import FINDING_FILTERS, rows_of
from trtforensics.tui.rows.pieces import CitingLine, Line, Presentation, Row
from trtforensics.tui.widgets.virtual_list import VirtualList


class WrappedList(VirtualList[Row]):
    """Rows that take as many lines as their text needs in the width of the pane."""

    _lines: Sequence[tuple[Row, CitingLine]] = ()
    _wrapped_at = 0

    def list_rows(self) -> None:
        super().list_rows()
        self.wrap()

    def wrap(self) -> None:
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


class FindingList(FoldingList["Finding"], WrappedList["Finding"]):
    """One headline per finding. The rows below an opened finding are wrapped to the width of the pane."""

    def __init__(self) -> None:
        presentation = Presentation(wrapped=self._wrapped, noun="finding", filters=FINDING_FILTERS)
        super().__init__(presentation, id="findings")
        self._log = ""

    def _wrapped(self, finding: Finding, width: int) -> list[CitingLine]:
        return rows_of(finding, self._log, width, expanded=self.is_open(finding))

    def show_findings(self, findings: Sequence[Finding], log: str, empty: str) -> None:
        """Show the findings about a log's file, all closed; ``empty`` is the text shown when there are none."""
        self._log = log
        self._open = frozenset()
        self.show(findings, empty)

    def clicked(self, index: int, column: int) -> None:  # noqa: ARG002 - the whole headline folds
        """Open or close the finding whose headline was clicked. The log follows the cursor."""
        line = self.selected_line
        if line is not None and line.headline:
            self.action_fold()

    def reveal(self, finding: Finding) -> None:
        """Open a finding, and put the cursor on it; a filter that hides it is dropped."""
        row = next((each for each in self.every if (each.code, each.line) == (finding.code, finding.line)), None)
        if row is None:
            return
        if row not in self.rows:
            self.filter("")
        self._open |= {id(row)}
        self.wrap()
        self.go_to(self.place_of(row))
