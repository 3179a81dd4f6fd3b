"""The screen of many logs, a dataset or a folder: their runs as a list. Enter opens a log, `d` compares two."""

import shlex
from collections.abc import Iterable, Sequence
from functools import partial

from textual.widget import Widget
from textual.worker import get_current_worker

from trtforensics.console.counting import counted
from trtforensics.datasets.ingesting import runs_of
from trtforensics.tui.comparing import ComparingScreen
from trtforensics.tui.issue import quoted_issue
from trtforensics.tui.rows.run_rows import SOURCE, RunRow, orders, runs
from trtforensics.tui.screen import row_text
from trtforensics.tui.widgets.virtual_list import WIDE, VirtualList


class RunsScreen(ComparingScreen[RunRow]):
    """Browse the runs of many logs; those of a folder come as its files are read."""

    KEYS = "runs"

    def __init__(self, folder: str, *, max_bytes: int) -> None:
        self._order = SOURCE
        super().__init__(folder, VirtualList(runs(self._order, None), id="runs"), max_bytes=max_bytes)
        self._every: list[RunRow] = []
        self._refused = 0
        self._reading = "opening"

    def panes(self) -> Iterable[Widget]:
        yield self.rows

    def on_mount(self) -> None:
        self.begin(self._read, self._ended)

    def _read(self) -> bool:
        worker, take = get_current_worker(), partial(self.call_later, self._take)
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
            self.show_rows()
        self.say("")

    def _ended(self, _: bool) -> None:  # noqa: FBT001 - what the thread returns
        self._reading = ""
        self.show_rows()
        self.say("")

    def show_rows(self) -> None:
        rows = self._order.sorted(self._every)
        empty = "reading" if self._reading else "no run is in these logs"
        self.rows.show(rows, empty, presentation=runs(self._order, self.marked, rows), keep=True)

    def status(self) -> str:
        every = counted(len(self._every), "run")
        about = [f"{len(self.rows.rows):,} of {every}" if self.rows.kept_by.text else every]
        about += [f"reading {self._reading}"] if self._reading else []
        about += [f"{counted(self._refused, 'file')} not read as logs"] if self._refused else []
        return " · ".join(about)

    def text_of(self, row: RunRow) -> str:
        return " ".join(value for value in row.values() if isinstance(value, str))

    def action_sort(self) -> None:
        every = orders(self.rows.scrollable_content_region.width)
        titles = [order.column for order in every]
        place = titles.index(self._order.column) if self._order.column in titles else -1
        self._order = every[(place + 1) % len(every)]
        self.show_rows()

    def action_reverse(self) -> None:
        self._order = self._order.reversed
        self.show_rows()

    def about_mark(self, row: RunRow) -> str:  # noqa: ARG002 - the list shows which
        return "marked as the good side; go to another run"

    def compare(self, marked: RunRow, row: RunRow) -> None:
        if marked["source"] == row["source"]:
            self.say("both runs are in one file; Enter opens it, and [ ] go through its builds")
        else:
            self.open_diff(marked["source"], row["source"])

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        row = self.rows.selected
        if event.source is self.rows and row is not None:
            self.open_log(row["source"], build=None if row["build"] is None else row["build"] - 1)

    def action_leave(self) -> None:
        if not self.drop_mark():
            super().action_leave()

    def cited(self) -> tuple[str, int, str] | None:
        """Return None: a run is many lines."""
        return None

    def next_command(self) -> str:
        row = self.rows.selected
        return "" if row is None else f"trtforensics report {shlex.quote(row['source'])}"

    def issue(self) -> str:
        if self.rows.selected is None:
            return ""
        return quoted_issue("a run", {"Run": [row_text(self.rows.row(self.rows.cursor, WIDE))]}, [])
