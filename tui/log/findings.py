"""The findings pane: the problems of the build in view, worst first. An opened finding shows its details."""

from collections.abc import Sequence

from trtforensics.findings.finding import Finding
from trtforensics.tui.rows.finding_rows import FINDING_FILTERS, rows_of
from trtforensics.tui.rows.pieces import CitingLine, Presentation
from trtforensics.tui.widgets.row_list import FoldingList, WrappedList


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
