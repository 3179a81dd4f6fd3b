"""A file beside a list of rows: its name, its lines, and the line that a row is about."""

from collections.abc import Callable
from functools import partial

from textual.app import ComposeResult
from textual.containers import Vertical

from trtforensics.errors import ForensicsError
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.text.text import LogText
from trtforensics.tui.rows.pieces import Piece, Role, clip
from trtforensics.tui.widgets.log_view import LogView
from trtforensics.tui.widgets.virtual_list import LineBar
from trtforensics.tui.widgets.work import in_thread

REMEMBERED = 8
"""Number of files whose text is kept, so that going back and forth does not read them again."""


class TextPane(Vertical):
    """Shows one file at a time. ``read`` returns the lines of a path and is called in a thread."""

    def __init__(
        self,
        read: Callable[[str], LogText],
        label: str,
        role: Role,
        *,
        id: str,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(id=id, classes="pane")
        self._read = read
        self._label = label
        self._role = role
        self._texts: dict[str, LogText] = {}
        self._wanted: SourceSpan | None = None
        self._heading = LineBar(classes="heading")
        self.view = LogView(LogText(), id=f"{id}-text")

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self.view

    def on_mount(self) -> None:
        self._show_heading("")

    def on_resize(self) -> None:
        self._show_heading("")

    @property
    def text(self) -> LogText:
        """The lines in view."""
        path = self._wanted.file if self._wanted else ""
        return self._texts.get(path, LogText())

    def cited(self) -> tuple[str, int, str] | None:
        """Return file, number and text of the line under the cursor; None if no line is in view."""
        text, number = self.text, self.view.current_line
        if self._wanted is None or number > len(text):
            return None
        return self._wanted.file, number, text.line(number)

    def open(self, span: SourceSpan | None) -> None:
        """Show a line of a file; None if this side has no line."""
        self._wanted = span
        if span is None:
            self.view.show_text(LogText())
            self._show_heading("no line on this side")
        elif span.file in self._texts:
            self._show()
        else:
            self._show_heading("reading")
            read, keep = partial(self._read, span.file), partial(self._keep, span.file)
            in_thread(self, read, keep, group="text", failed=partial(self._fail, span.file))

    def _keep(self, path: str, text: LogText) -> None:
        """Keep the file, and show it if the pane still wants it."""
        self._texts[path] = text
        while len(self._texts) > REMEMBERED:
            self._texts.pop(next(iter(self._texts)))
        if self._wanted is not None and self._wanted.file == path:
            self._show()

    def _fail(self, path: str, error: ForensicsError) -> None:
        """Say why a file cannot be read, if the pane still wants it."""
        if self._wanted is not None and self._wanted.file == path:
            self._show_heading(error.what)

    def _show(self) -> None:
        if self._wanted is not None:
            self.view.show_text(self._texts[self._wanted.file])
            self._show_heading("")
            self.call_after_refresh(self._go)  # the list knows the length of a new text only then

    def _go(self) -> None:
        if self._wanted is not None and self._wanted.file in self._texts:
            self.view.show_line(self._wanted.line)

    def _show_heading(self, state: str) -> None:
        place = f"{self._wanted.file}:{self._wanted.line}" if self._wanted else ""
        room = max(self.size.width - len(self._label) - len(state) - 5, 1)
        name = Piece(f" {clip(place, room)}" if place else "")
        self._heading.show(Piece(f" {self._label} ", self._role), name, Piece(f" {state}" if state else "", Role.DIM))
