"""The bases of screens that show a source, with the keys that all share, and of those about one list and its texts."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from trtforensics.console.counting import counted
from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.output import form_of
from trtforensics.errors import ForensicsError, UsageError
from trtforensics.tables import forms
from trtforensics.tables.table import FilterError, Table
from trtforensics.tui.bindings import Keyed
from trtforensics.tui.rows.pieces import Line, Piece, Role, Row, clip
from trtforensics.tui.searching import LogSearch, RowSearch
from trtforensics.tui.widgets.dialogs import HelpScreen, KeyFooter, TextQuestion, keys_of, whole
from trtforensics.tui.widgets.log_view import LogView
from trtforensics.tui.widgets.search import Asking, Prompt
from trtforensics.tui.widgets.virtual_list import WIDE, LineBar, VirtualList
from trtforensics.tui.widgets.work import in_thread

REST_S = 0.1
"""Seconds without a move after which the cursor rests."""


class SourceScreen(Keyed, Screen[ForensicsError]):
    """A screen on a source. It ends with the source's error or None. All but the first are pushed above others."""

    KEYS: ClassVar[str]
    """The name of the screen in the table of keys."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        """The name of the source, from which names of exported files are made."""
        self.title_bar, self.status_bar = LineBar(id="title"), LineBar(id="status")
        self.prompt = Prompt()
        self._resting: Timer | None = None

    def discard(self) -> None:
        """Close what was opened for a screen that is never shown."""

    def compose(self) -> ComposeResult:
        yield self.title_bar
        yield from self.panes()
        yield Horizontal(self.prompt.label, self.prompt, id="asking")
        yield self.status_bar
        yield KeyFooter()

    def panes(self) -> Iterable[Widget]:
        """Yield what stands between the title and the prompt."""
        raise NotImplementedError

    def say(self, note: str) -> None:
        raise NotImplementedError

    def cited(self) -> tuple[str, int, str] | None:
        """Return file, line number and text of the line that the focused pane is about; None if it is about none."""
        raise NotImplementedError

    def next_command(self) -> str:
        """Return the command that the row in view suggests, or ""."""
        raise NotImplementedError

    def issue(self) -> str:
        """Return a text in Markdown about the row in view, names redacted, or ""."""
        raise NotImplementedError

    def names_in_view(self) -> Iterable[str]:
        """Return the types, kernels and codes that the row in view names; nothing where `explain` is not asked."""
        return ()

    @property
    def search(self) -> LogSearch | RowSearch[Any]:
        """The search that the keys go on with: in the text in focus, else in that searched last, else in the rows."""
        raise NotImplementedError

    def action_ask_search(self) -> None:
        self.prompt.ask(Asking.SEARCH, self.search.text)

    def action_search(self, backwards: bool) -> None:  # noqa: FBT001 - Textual passes actions' arguments by position
        self.search.next(backwards=backwards)

    def show_title(self) -> None:
        """Show the title in the width of the screen: the source, without its middle where it is long."""
        name = clip(self.source, max(self.app.size.width - 16, 12))
        self.title_bar.show(Piece(" trtforensics ", Role.TITLE), Piece(f" {name}"))

    def on_resize(self) -> None:
        self.show_title()

    @property
    def is_pushed(self) -> bool:
        """Whether another source is below this one."""
        return self.app.screen_stack[0] is not self

    def fail(self, error: ForensicsError) -> None:
        """End with an error: the screen below says it; without one, the command that opened the app prints it."""
        if not self.is_pushed:
            self.app.exit(error, return_code=ExitCode.USAGE)
            return
        while not self.is_active:
            self.app.pop_screen()
        self.dismiss(error)

    def go_back(self) -> None:
        """Go back to the source below; the first one stays."""
        if self.is_pushed:
            self.dismiss(None)

    def action_quit(self) -> None:
        if self.is_pushed:
            self.go_back()
        else:
            self.app.exit()

    def action_help(self) -> None:
        """Show what `explain` says of the row, then the keys. Help is kept, as it takes longer to make than to show."""
        name, about = f"help of {type(self).__name__}", list(filter(None, self.names_in_view()))
        if about:
            from trtforensics.findings.explaining import sayings  # all rules: the first key does not wait for them

            about = sayings(about)
        if not self.app.is_screen_installed(name):
            self.app.install_screen(HelpScreen(keys_of(self.KEYS)), name)
        shown = self.app.get_screen(name)
        if isinstance(shown, HelpScreen):
            shown.about = about
        self.app.push_screen(name)

    def action_prefixes(self) -> None:
        """Hide the loggers' prefixes, which take half the width of a small screen, or show them again."""
        for view in self.query(LogView):
            view.toggle_prefixes()

    def when_resting(self, follow: Callable[[], None]) -> None:
        """Let panes follow the cursor once it rests, as repainting them at each key takes long over a slow line."""
        if self._resting is not None:
            self._resting.stop()
        if REST_S:
            self._resting = self.set_timer(REST_S, follow)
        else:
            follow()

    @property
    def pane(self) -> VirtualList[Any] | None:
        return self.focused if isinstance(self.focused, VirtualList) else None

    def action_whole(self) -> None:
        """Show the row under the cursor and the line that it cites, wrapped; nothing of them is cut."""
        pane, cited = self.pane, self.cited()
        row = [] if pane is None or isinstance(pane, LogView) or not pane.row_count() else [pane.row(pane.cursor, WIDE)]
        line = [f"{cited[0]}:{cited[1]}", cited[2]] if cited else []
        self.app.push_screen(whole([*map(row_text, row), *([""] if row and line else []), *line]))

    def action_copy_row(self) -> None:
        pane = self.pane
        row = row_text(pane.row(pane.cursor, WIDE)) if pane is not None and pane.row_count() else None
        self._copy(row, "no row to copy here")

    def action_copy_line(self) -> None:
        cited = self.cited()
        self._copy(cited and "{}:{}: {}".format(*cited), "this row cites no line")

    def action_copy_command(self) -> None:
        self._copy(self.next_command() or None, "this row suggests no command; a finding does")

    def action_copy_issue(self) -> None:
        self._copy(self.issue() or None, "nothing here to write an issue about")

    def _copy(self, text: str | None, otherwise: str) -> None:
        """Copy a text; without one, say why there is none."""
        if text is None:
            self.notify(otherwise, markup=False)
        else:
            self.app.copy_to_clipboard(text)

    def action_export(self) -> None:
        """Ask for a file, and write all rows of the focused pane to it in the form that its ending names."""
        pane = self.pane
        if pane is None or not pane.row_count():
            self.notify("no rows to write here", markup=False)
            return
        table = pane.as_table()

        def write(path: str | None) -> None:
            if path:
                try:
                    write_table(table, path)
                except ForensicsError as error:
                    self.notify(str(error), markup=False)
                else:
                    self.notify(f"wrote {counted(len(list(table.rows)), 'row')} to {path}", markup=False)

        question = TextQuestion("write this pane to", proposed_name(self.source, pane.id))
        self.app.push_screen(question, write)


def row_text(line: Line) -> str:
    """Return a row as text; the padding of its columns becomes two blanks."""
    return re.sub(r" {3,}", "  ", "".join(piece.text for piece in line)).strip()


def proposed_name(source: str, pane: str | None) -> str:
    """Return a name for the file of a pane, in the working directory; no existing file's."""
    stem = Path(source).name.split(".")[0] or "trtforensics"
    names = (f"{stem}-{pane or 'pane'}{number}.csv" for number in ("", *(f"-{n}" for n in range(2, 1000))))
    return next((name for name in names if not Path(name).exists()), f"{stem}.csv")


def write_table(table: Table, path: str) -> None:
    """Write a table to a new file. UsageError for an unknown ending or a file that is there; OutputError."""
    target = Path(path).expanduser()
    form = form_of(path, forms.ENDINGS)
    if target.exists():
        raise UsageError(path, "is there already", "Give another name")
    forms.write(table, form, str(target))


_Result = TypeVar("_Result")


class ListScreen(SourceScreen, Generic[Row]):
    """A list of rows; subclasses fill it. A search looks in the texts of ``views``; without any, in the rows."""

    def __init__(self, source: str, rows: VirtualList[Row], *views: LogView) -> None:
        super().__init__(source)
        self.rows = rows
        self._searches = [LogSearch(view, self.say) for view in views]
        self._search = self._searches[-1] if views else RowSearch(rows, self.text_of, self.say)

    def begin(self, read: Callable[[], _Result | None], then: Callable[[_Result], object]) -> None:
        """Say that the rows are read, and let a thread read them once the screen is drawn."""
        self.rows.show((), "reading")
        self.rows.focus()
        self.say("")
        self.call_after_refresh(in_thread, self, read, then, group="read", failed=self.fail)

    def text_of(self, row: Row) -> str:
        """Return what a search in the rows looks in."""
        raise NotImplementedError

    def status(self) -> str:
        """Return what the status line says of the rows."""
        raise NotImplementedError

    def say(self, note: str) -> None:
        """Show the note, the filter, then what is said of the rows, which a narrow screen may cut."""
        kept = self.rows.kept_by.text
        self.status_bar.show(
            Piece(f" {note} ·" if note else "", Role.ACCENT),
            Piece(f" kept by {kept!r} ·" if kept else "", Role.ACCENT),
            Piece(f" {self.status()}", Role.DIM),
        )

    @property
    def search(self) -> LogSearch | RowSearch[Row]:
        self._search = next((each for each in self._searches if each.view.has_focus), self._search)
        return self._search

    def open_view(self, view: VirtualList[Any]) -> None:
        """Bring the list or the text that was searched into view, and focus it."""
        view.focus()

    def action_ask_filter(self) -> None:
        self.prompt.ask(Asking.FILTER, self.rows.kept_by.text, self.rows.presentation.filters, self.rows.every)

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        if event.purpose is Asking.FILTER:
            try:
                self.rows.filter(event.text)
                self.say("")
            except FilterError as error:
                self.say(str(error))
            if event.done:
                self.rows.focus()
            return
        if event.done:
            self.open_view(self._search.view)
        self._search.begin(event.text, regex=event.regex)

    def on_prompt_dismissed(self, event: Prompt.Dismissed) -> None:
        if event.purpose is Asking.FILTER:
            self.drop_filter()
        self.rows.focus()

    def drop_filter(self) -> bool:
        """Show all rows again, and return whether a filter hid some."""
        was = bool(self.rows.kept_by.text)
        if was:
            self.rows.filter("")
            self.say("")
        return was

    def action_leave(self) -> None:
        if not self.drop_filter():
            self.go_back()
