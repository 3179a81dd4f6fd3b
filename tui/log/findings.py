"""The findings pane: the problems of the build in view, worst first. An opened finding shows its details."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from trtforensics.tui.rows.finding_rows import FINDING_FIELDS, FindingRow, finding_fields, rows_of
from trtforensics.tui.rows.pieces import Line, Piece, Role
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType

    from trtforensics.findings.finding import Finding
    from trtforensics.tables.filtering import FilterField

WAITING = "findings come when the log is read"


class FindingList(VirtualList):
    """One headline per finding. The rows below an opened finding are wrapped to the width of the pane."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "open", "Open", show=False),
        Binding("left,h", "close", "Close", show=False),
        Binding("space", "fold", "Open/close"),
    ]

    fields: ClassVar[Sequence[FilterField]] = FINDING_FIELDS

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._every: Sequence[Finding] = ()
        self._findings: Sequence[Finding] = ()
        self._rows: list[FindingRow] = []
        self._open: set[int] = set()
        self._log = ""
        self._empty = WAITING
        self._wrapped_at = 0

    def show_findings(self, findings: Sequence[Finding], log: str, empty: str) -> None:
        """Show the findings about a log's file, all closed; ``empty`` is the text shown when there are none."""
        self._every, self._log, self._empty = findings, log, empty
        self._findings = self._kept_findings()
        self._open.clear()
        self.cursor = 0
        self._lay_out()
        self.scroll_to(x=0, y=0, animate=False, immediate=True)

    def refill(self) -> None:
        """List the findings that the filter keeps, all closed."""
        self._findings = self._kept_findings()
        self._open.clear()
        self.cursor = 0
        self._lay_out()

    def _kept_findings(self) -> Sequence[Finding]:
        kept = self.kept_by
        return [finding for finding in self._every if not kept or kept.keeps(finding_fields(finding))]

    @property
    def selected(self) -> FindingRow | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if self._rows else None

    def on_resize(self) -> None:
        """Wrap the rows again; the cursor stays on its finding."""
        row = self.selected
        if row is not None and self.scrollable_content_region.width != self._wrapped_at:
            self._lay_out()
            self.cursor = self._headline(row.finding)
        super().on_resize()

    def row_count(self) -> int:
        """Return the number of rows: 1 when a text replaces them."""
        return max(len(self._rows), 1)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - it was wrapped before
        """Return a row."""
        if self._rows:
            return self._rows[index].pieces
        empty = f"no finding is kept by {self.kept_by.text!r}" if self._every else self._empty
        return (Piece(f" {empty}", Role.DIM),)

    def log_line(self, index: int) -> int | None:
        """Return the line that a row cites."""
        return self._rows[index].line if self._rows else None

    def clicked(self, index: int, column: int) -> None:  # noqa: ARG002 - the whole headline folds
        """Open or close the finding whose headline was clicked. The log follows the cursor."""
        if self._rows and self._rows[index].headline:
            self.action_fold()

    def action_open(self) -> None:
        """Open the finding under the cursor; if it is open, step into it."""
        row = self.selected
        if row is not None and id(row.finding) in self._open:
            self.go_to(self.cursor + 1)
        elif row is not None:
            self._fold(row.finding)

    def action_close(self) -> None:
        """Close the finding under the cursor, or the finding that the row belongs to."""
        row = self.selected
        if row is not None and id(row.finding) in self._open:
            self._fold(row.finding)

    def action_fold(self) -> None:
        """Open or close the finding under the cursor."""
        row = self.selected
        if row is not None:
            self._fold(row.finding)

    def _fold(self, finding: Finding) -> None:
        self._open ^= {id(finding)}
        self._lay_out()
        self.go_to(self._headline(finding))

    def _headline(self, finding: Finding) -> int:
        return next(index for index, row in enumerate(self._rows) if row.finding is finding)

    def _lay_out(self) -> None:
        """Build the rows for the current width."""
        width = self._wrapped_at = self.scrollable_content_region.width
        self._rows = [
            row
            for finding in self._findings
            for row in rows_of(finding, self._log, width - 1, expanded=id(finding) in self._open)
        ]
        self.rows_changed()
