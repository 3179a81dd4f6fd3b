"""The screen with everything about one layer, wrapped. Enter shows the line that a row cites."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.screen import ModalScreen

from trtforensics.tui.rows.layers.details import Detail, detail_lines, details
from trtforensics.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from trtforensics.engines.why import Reason
    from trtforensics.model.log import Build
    from trtforensics.tui.rows.layers.entries import LayerEntry
    from trtforensics.tui.rows.pieces import Line


class DetailList(VirtualList):
    """The facts about a layer. A long fact has several rows."""

    def __init__(self, rows: Sequence[Detail]) -> None:
        super().__init__(id="detail-list")
        self._details = rows
        self._rows: list[tuple[Detail, Line]] = []
        self._wrapped_at = 0
        self._gutter = max(3, *(len(str(row.line or "")) for row in rows))

    def on_resize(self) -> None:
        """Wrap for the width."""
        width = self.scrollable_content_region.width
        if width != self._wrapped_at:
            self._wrapped_at = width
            self._rows = [(row, line) for row in self._details for line in detail_lines(row, self._gutter, width - 1)]
            self.rows_changed()
        super().on_resize()

    def row_count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - it was wrapped before
        """Return a row."""
        return self._rows[index][1]

    def log_line(self, index: int) -> int | None:
        """Return the line that states the fact."""
        return self._rows[index][0].line


class DetailScreen(ModalScreen["int | None"]):
    """A layer's facts above the screen of the log. It ends with the line that was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,backspace", "leave", "Close", show=False)]

    def __init__(self, build: Build, entry: LayerEntry, why: Sequence[Reason]) -> None:
        super().__init__()
        self._list = DetailList(details(build, entry, why))

    def compose(self) -> ComposeResult:
        """Show the facts."""
        self._list.border_title = "Layer"
        self._list.border_subtitle = "Enter shows the line, Esc closes"
        yield self._list

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Close, and show the line of the row."""
        event.stop()
        self.dismiss(self._list.log_line(event.index))

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        """Keep the log where it is."""
        event.stop()

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)
