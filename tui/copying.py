"""The keys that take something out of the TUI, the same in every app: y, Y, c, E and I."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from trtforensics.console.counting import counted
from trtforensics.errors import ForensicsError
from trtforensics.tui import exporting
from trtforensics.tui.terminal_app import TerminalApp
from trtforensics.tui.widgets.file_question import FileQuestion
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from textual.binding import BindingType

    from trtforensics.tui.rows.pieces import Line

WIDE = 400
"""Cells given to a row that is copied, so that no name in it is cut."""

COPY_KEYS = (
    (
        "Copy",
        (
            ("y", "copy the row"),
            ("Y", "copy the log line with its file:line"),
            ("c", "copy the next command"),
            ("E", "write the pane to a file: .csv, .md or .json"),
            ("I", "copy an issue: the row, its lines, versions; redacted"),
            ("Ctrl+C", "copy what the mouse selected; twice: quit"),
        ),
    ),
)
"""The lines of the help about these keys."""

APP_KEYS = (("", (("T", "next theme"), ("Ctrl+P", "all actions by name"), ("?", "this help"), ("q", "quit"))),)
"""The lines of the help about the keys of the app itself."""


class CopyingApp(TerminalApp):
    """An app whose rows, lines, commands and panes can be taken out. Subclasses say what the keys find."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy_row", "Copy the row", show=False),
        Binding("Y", "copy_line", "Copy the log line", show=False),
        Binding("c", "copy_command", "Copy the next command", show=False),
        Binding("E", "export", "Export the pane", show=False),
        Binding("I", "copy_issue", "Copy an issue", show=False),
    ]

    def cited(self) -> tuple[str, int, str] | None:
        """Return file, line number and text of the line that the focused pane is about; None if it is about none."""
        raise NotImplementedError

    def next_command(self) -> str:
        """Return the command that the row in view suggests, or ""."""
        raise NotImplementedError

    def issue(self) -> str:
        """Return a text in Markdown about the row in view, names redacted, or ""."""
        raise NotImplementedError

    def source_name(self) -> str:
        """Return the name of the source, from which names of exported files are made."""
        raise NotImplementedError

    @property
    def pane(self) -> VirtualList | None:
        """The focused list."""
        return self.focused if isinstance(self.focused, VirtualList) else None

    def action_copy_row(self) -> None:
        """Copy the row under the cursor, its columns two blanks apart."""
        pane = self.pane
        if pane is None or not pane.row_count():
            self.inform("no row to copy here")
        else:
            self.copy_to_clipboard(row_text(pane.row(pane.cursor, WIDE)))

    def action_copy_line(self) -> None:
        """Copy the line of the log that the row is about, behind its file and number."""
        cited = self.cited()
        if cited is None:
            self.inform("this row cites no line")
        else:
            path, number, text = cited
            self.copy_to_clipboard(f"{path}:{number}: {text}")

    def action_copy_command(self) -> None:
        """Copy the command that comes next."""
        command = self.next_command()
        if command:
            self.copy_to_clipboard(command)
        else:
            self.inform("this row suggests no command; a finding does")

    def action_copy_issue(self) -> None:
        """Copy what an issue about the row should hold."""
        text = self.issue()
        if text:
            self.copy_to_clipboard(text)
        else:
            self.inform("nothing here to write an issue about")

    def action_export(self) -> None:
        """Ask for a file, and write all rows of the focused pane to it in the form that its ending names."""
        pane = self.pane
        if pane is None or not pane.row_count():
            self.inform("no rows to write here")
            return
        table = exporting.table_of(pane)

        def write(path: str | None) -> None:
            if path:
                try:
                    exporting.write(table, path)
                except ForensicsError as error:
                    self.inform(str(error))
                else:
                    self.inform(f"wrote {counted(len(table.rows), 'row')} to {path}")

        self.push_screen(FileQuestion("write this pane to", exporting.proposed(self.source_name(), pane.id)), write)


def row_text(line: Line) -> str:
    """Return a row as text; the padding of its columns becomes two blanks."""
    return re.sub(r" {3,}", "  ", "".join(piece.text for piece in line)).strip()
