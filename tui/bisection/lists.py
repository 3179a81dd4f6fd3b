"""The lists of the bisection's screen: the probes, and plain lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tui.rows.bisection_rows import HEADING, probe_row
from trtforensics.tui.rows.pieces import Line, width_of
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisect.session.history import Probe
    from trtforensics.bisect.session.view import DirectoryView


class ProbeList(VirtualList):
    """One row per probe, in the order in which they ran."""

    def __init__(self) -> None:
        super().__init__(id="probes")
        self.view: DirectoryView | None = None

    def show(self, view: DirectoryView) -> None:
        """Show the probes; a cursor on the last probe moves to the new last probe."""
        at_end = self.cursor >= self.row_count() - 1
        self.view = view
        self.rows_changed()
        if at_end:
            self.go_to(self.row_count() - 1)

    @property
    def selected(self) -> Probe | None:
        """The probe under the cursor."""
        return self.view.probes[self.cursor] if self.view and self.view.probes else None

    def row_count(self) -> int:
        """Return how many probes there are."""
        return len(self.view.probes) if self.view else 0

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - rows scroll, they are not cut
        """Return a probe."""
        return probe_row(self.view, self.view.probes[index]) if self.view else ()

    def header(self, width: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls with the rows
        """Return the names of the columns."""
        return (HEADING,)

    def log_line(self, index: int) -> None:
        """Return None: a probe has logs of its own."""


class LineList(VirtualList):
    """Plain lines: the answer, or the details of a probe."""

    def __init__(self, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._rows: list[Line] = []

    def show(self, rows: list[Line]) -> None:
        """Replace the lines."""
        self._rows = rows
        self.rows_changed()

    def row_count(self) -> int:
        """Return how many lines there are."""
        return len(self._rows)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - rows scroll, they are not cut
        """Return a line."""
        return self._rows[index]

    def content_width(self) -> int:
        """Return the width of the widest line."""
        return max(map(width_of, self._rows), default=0)

    def log_line(self, index: int) -> None:
        """Return None: the lines belong to no log."""
