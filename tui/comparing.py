"""The base of the screens about many logs: Enter opens one above, and two that were marked are compared."""

from trtforensics.errors import ForensicsError
from trtforensics.tui.rows.pieces import Row
from trtforensics.tui.screen import ListScreen
from trtforensics.tui.sessions import open_log
from trtforensics.tui.widgets.log_view import LogView
from trtforensics.tui.widgets.virtual_list import VirtualList


class ComparingScreen(ListScreen[Row]):
    """A list whose rows have logs, which open above it; two rows can be compared."""

    def __init__(self, source: str, rows: VirtualList[Row], *views: LogView, max_bytes: int) -> None:
        super().__init__(source, rows, *views)
        self.marked: Row | None = None
        self._max_bytes = max_bytes

    def show_rows(self) -> None:
        """Show the rows, with the mark."""
        raise NotImplementedError

    def about_mark(self, row: Row) -> str:
        """Return what is said of a row that was marked."""
        raise NotImplementedError

    def compare(self, marked: Row, row: Row) -> None:
        """Compare two rows."""
        raise NotImplementedError

    def action_compare(self) -> None:
        row, marked, key = self.rows.selected, self.marked, self.rows.presentation.key
        if row is None:
            return
        if marked is None or key is None or key(marked) == key(row):
            self.marked = row
            self.show_rows()
            self.say(f"{self.about_mark(row)} and press d again, or Esc")
        else:
            self.compare(marked, row)

    def drop_mark(self) -> bool:
        """Forget the marked row, and return whether there was one."""
        was, self.marked = self.marked is not None, None
        if was:
            self.show_rows()
            self.say("")
        return was

    def open_diff(self, good: str, bad: str) -> None:
        from trtforensics.tui.diff import DiffScreen

        self.app.push_screen(DiffScreen(good, bad, kind=None, max_bytes=self._max_bytes), self._returned)

    def open_log(self, path: str, part: str | None = None, build: int | None = None) -> None:
        """Show a log on a screen above, at a build by its index; ``part`` is the other stream of its program."""
        from trtforensics.tui.log.screen import LogScreen

        try:
            session = open_log(path, self._max_bytes, part)
        except ForensicsError as error:
            self.say(str(error))
        else:
            self.app.push_screen(LogScreen(session, build), self._returned)

    def _returned(self, error: ForensicsError | None) -> None:
        self.say(str(error or ""))
