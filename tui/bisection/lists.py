"""The lists of the bisection's screen: the probes, and plain lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tui.exporting import PaneTable
from trtforensics.tui.rows.bisection_rows import heading, probe_row, verdict_of
from trtforensics.tui.rows.pieces import Line, width_of
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisect.session.history import Probe
    from trtforensics.bisect.session.view import DirectoryView


class ProbeList(VirtualList):
    """One row per probe, in the order in which they ran."""

    def __init__(self, begin: int | None = None) -> None:
        super().__init__(id="probes")
        self.view: DirectoryView | None = None
        self.marked: Probe | None = None
        """The probe that another one will be compared with."""
        self._begin = begin

    def show(self, view: DirectoryView) -> None:
        """Show the probes; a cursor on the last probe moves to the new last probe."""
        at_end = self.cursor >= self.row_count() - 1
        self.view = view
        self.rows_changed()
        if self._begin is not None and self._begin <= self.row_count():
            self.go_to(self._begin - 1)
            self._begin = None
        elif at_end:
            self.go_to(self.row_count() - 1)

    def mark(self, probe: Probe | None) -> None:
        """Mark a probe, or none."""
        self.marked = probe
        self.refresh()

    def exported(self) -> PaneTable:
        """Return every probe with the numbers behind its row."""
        columns = ("probe", "verdict", "from_bad", "suspects", "seconds", "purpose", "folder")
        view = self.view
        return PaneTable(
            columns,
            [
                (
                    probe.number,
                    verdict_of(view, probe)[0] if view is not None else "",
                    len(probe.active),
                    len(probe.suspects),
                    sum(finished.seconds for finished in probe.finished) if probe.finished else None,
                    probe.purpose,
                    probe.folder,
                )
                for probe in (view.probes if view is not None else ())
            ],
        )

    @property
    def selected(self) -> Probe | None:
        """The probe under the cursor."""
        return self.view.probes[self.cursor] if self.view and self.view.probes else None

    def row_count(self) -> int:
        """Return how many probes there are."""
        return len(self.view.probes) if self.view else 0

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - rows scroll, they are not cut
        """Return a probe."""
        if self.view is None:
            return ()
        probe = self.view.probes[index]
        return probe_row(self.view, probe, marked=self.marked is not None and self.marked.number == probe.number)

    def header(self, width: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls with the rows
        """Return the names of the columns."""
        return () if self.view is None else (heading(self.view),)

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
