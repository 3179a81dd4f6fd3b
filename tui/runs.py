"""The screen of many logs, a dataset or a folder: their runs as a list. Enter opens a log, `d` compares two."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, ClassVar

from textual.worker import get_current_worker

from trtforensics.console.counting import counted
from trtforensics.datasets.ingesting import runs_of
from trtforensics.errors import ForensicsError
from trtforensics.tui.bindings import bound
from trtforensics.tui.issue import quoted_issue
from trtforensics.tui.lists import ListScreen
from trtforensics.tui.rows.pieces import Piece, Role
from trtforensics.tui.rows.run_rows import SOURCE, RunRow, key_of, orders, runs
from trtforensics.tui.screen import FIRST_KEYS, row_text
from trtforensics.tui.sessions import open_log
from trtforensics.tui.widgets.row_list import RowList
from trtforensics.tui.widgets.virtual_list import WIDE, VirtualList
from trtforensics.tui.widgets.work import in_thread, later

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.binding import BindingType
    from textual.widget import Widget


class RunsScreen(ListScreen[RunRow]):
    """Browse the runs of many logs; those of a folder come as its files are read."""

    KEYS = "runs"

    BINDINGS: ClassVar[list[BindingType]] = [*FIRST_KEYS, *bound("RunsScreen")]

    def __init__(self, folder: str, *, max_bytes: int) -> None:
        self._order = SOURCE
        self._marked: RunRow | None = None
        super().__init__(folder, RowList(runs(self._order, None), id="runs"))
        self._max_bytes = max_bytes
        self._every: list[RunRow] = []
        self._refused = 0
        self._reading = "opening"
        """What is being read; empty once all is."""

    def panes(self) -> Iterable[Widget]:
        """Show the list alone."""
        yield self.rows

    def on_mount(self) -> None:
        """Read the runs once the screen is drawn."""
        self.rows.show((), "reading")
        self.rows.focus()
        self.say("")
        self.call_after_refresh(in_thread, self, self._read, self._ended, group="read", failed=self.fail)

    def _read(self) -> bool:
        """Read the runs, in a thread."""
        worker, take = get_current_worker(), later(self, self._take)
        for batch in runs_of(self.source, self._max_bytes):
            if worker.is_cancelled:
                return False
            take(batch)
        return True

    def _take(self, batch: tuple[str, Sequence[RunRow] | None]) -> None:
        self._reading, rows = batch
        self._refused += rows is None
        if rows:
            self._every += rows
            self._fill()
        self.say("")

    def _ended(self, _: bool) -> None:  # noqa: FBT001 - what the thread returns
        self._reading = ""
        self._fill()
        self.say("")

    def _fill(self) -> None:
        rows = self._order.sorted(self._every)
        empty = "reading" if self._reading else "no run is in these logs"
        self.rows.show(rows, empty, presentation=runs(self._order, self._marked, rows), keep=True)

    def say(self, note: str) -> None:
        """Show how many runs there are, what is being read, the filter, and the note."""
        kept = self.rows.kept_by.text
        about = [f"{len(self.rows.rows):,} of {counted(len(self._every), 'run')}" if kept else ""]
        about += [
            counted(len(self._every), "run") if not kept else "",
            f"reading {self._reading}" * bool(self._reading),
        ]
        about += [f"{counted(self._refused, 'file')} not read as logs" if self._refused else ""]
        self.status_bar.show(
            Piece(" " + " · ".join(filter(None, about)), Role.DIM),
            Piece(f" · kept by {kept!r}" if kept else "", Role.ACCENT),
            Piece(f" · {note}" if note else "", Role.ACCENT),
        )

    def text_of(self, row: RunRow) -> str:
        """Return all texts of a run."""
        return " ".join(value for value in row.values() if isinstance(value, str))

    def action_sort(self) -> None:
        """Sort by the next column in view."""
        every = orders(self.rows.scrollable_content_region.width)
        titles = [order.column for order in every]
        place = titles.index(self._order.column) if self._order.column in titles else -1
        self._order = every[(place + 1) % len(every)]
        self._fill()

    def action_reverse(self) -> None:
        """Sort the other way round."""
        self._order = self._order.reversed
        self._fill()

    def action_compare(self) -> None:
        """Mark the run under the cursor, or compare the marked one with it."""
        row, marked = self.rows.selected, self._marked
        if row is None:
            return
        if marked is None or key_of(marked) == key_of(row):
            self._marked = row
            self._fill()
            self.say("marked as the good side; go to another run and press d again, or Esc")
        elif marked["source"] == row["source"]:
            self.say("both runs are in one file; Enter opens it, and [ ] go through its builds")
        else:
            from trtforensics.tui.diff import DiffScreen

            screen = DiffScreen(marked["source"], row["source"], kind=None, max_bytes=self._max_bytes)
            self.app.push_screen(screen, self._returned)

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Open the log of a run at the run's build."""
        row = self.rows.selected
        if event.source is not self.rows or row is None:
            return
        from trtforensics.tui.log.screen import LogScreen

        try:
            session = open_log(row["source"], self._max_bytes)
        except ForensicsError as error:
            self.say(str(error))
        else:
            build = row["build"]
            self.app.push_screen(LogScreen(session, None if build is None else build - 1), self._returned)

    def _returned(self, error: ForensicsError | None) -> None:
        """Say why a source could not be shown."""
        self.say(str(error or ""))

    def action_leave(self) -> None:
        """Forget the marked run, else drop the filter."""
        if self._marked is None:
            super().action_leave()
            return
        self._marked = None
        self._fill()
        self.say("")

    def cited(self) -> tuple[str, int, str] | None:
        """Return None: a run is many lines."""
        return None

    def next_command(self) -> str:
        """Return the command that judges the run's log."""
        row = self.rows.selected
        return "" if row is None else f"trtforensics report {shlex.quote(row['source'])}"

    def issue(self) -> str:
        """Return the run under the cursor."""
        if self.rows.selected is None:
            return ""
        return quoted_issue("a run", {"Run": [row_text(self.rows.row(self.rows.cursor, WIDE))]}, [])
