"""A list that paints only the rows in view. A log has 10⁷ lines, and Textual's own table freezes at 10⁵ rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from trtforensics.console.terminal import visible
from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tables.table import RowFilterExpression, Table, parse_filter
from trtforensics.tui.bindings import Keyed
from trtforensics.tui.rows.pieces import Line, Piece, Presentation, Role, Row, width_of

MORE = "›"  # noqa: RUF001 - an arrowhead, not a comparison
"""The end of a row that is cut at the right."""

CONTEXT = 3
"""Rows shown above and below a row that was jumped to."""

WIDE = 400
"""Cells given to a row that leaves the screen, so that no name in it is cut."""

SIDEWAYS = 12
"""Cells that one press of an arrow key scrolls to the side."""

NO_FILTER = RowFilterExpression("", ())

_LINES = (TableColumn("line", lambda row: row[0], Sort.INTEGER), TableColumn("text", lambda row: row[1]))
"""The columns of a list that has no columns of its own."""

ROLE_CLASSES = {f"role--{role}" for role in Role if role is not Role.PLAIN}
"""Component classes of the app: Textual works out those of a widget, one by one, whenever a screen is shown."""

STYLES: dict[tuple[Role, Style], Style] = {}
"""What each role adds on a widget of some style; the app empties it when its colours change."""


def paint(widget: Widget, line: Line, base: Style, ground: Style) -> Strip:
    """Turn a line into a strip on a widget of the style ``ground``. Control characters become visible here."""
    segments = []
    for piece in line:
        style = base
        if piece.role is not Role.PLAIN:
            style = base + (STYLES.get((piece.role, ground)) or _role_style(widget, piece.role, ground))
        segments.append(Segment(visible(piece.text), style))
    return Strip(segments)


def _role_style(widget: Widget, role: Role, ground: Style) -> Style:
    """Return a role's own attributes, and its colour blended with the widget's background; they are kept."""
    role_styles, colour = widget.app.get_component_styles(f"role--{role}"), ground.color
    if ground.bgcolor is not None and role_styles.has_rule("color"):
        colour = (Color.from_rich_color(ground.bgcolor) + role_styles.color).rich_color
    return STYLES.setdefault((role, ground), role_styles.partial_rich_style + Style.from_color(colour))


class LineBar(Widget):
    """A row of text that never takes the focus: a title, a pane's heading, the status."""

    def __init__(self, line: Line = (), *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.line = line

    def show(self, *pieces: Piece) -> None:
        self.line = pieces
        self.refresh()

    def render_line(self, y: int) -> Strip:
        ground = self.rich_style
        strip = paint(self, self.line, ground, ground) if y == 0 else Strip([])
        if strip.cell_length > self.size.width > 0:
            strip = Strip([*strip.crop(0, self.size.width - 1), Segment("…", ground)])
        return strip.crop_extend(0, self.size.width, ground)


class VirtualList(Keyed, ScrollView, Generic[Row], can_focus=True):
    """Rows of one sort under a cursor: a presentation says how they look, what a filter can ask, what is exported."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row--cursor", "row--header", "row--more"}

    @dataclass(eq=False, repr=False)
    class Highlighted(Message):
        """The cursor moved to a row."""

        source: VirtualList[Any]
        index: int

        def can_replace(self, message: Message) -> bool:
            """Let the newest move replace older moves, so that a held-down key does not queue work."""
            return isinstance(message, VirtualList.Highlighted) and message.source is self.source

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """Enter was pressed, or a row clicked."""

        source: VirtualList[Any]
        index: int

    def __init__(self, presentation: Presentation[Row], *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.presentation = presentation
        self.cursor = 0
        self.kept_by = NO_FILTER
        """Which rows stay."""
        self.every: Sequence[Row] = ()
        self.rows: Sequence[Row] = ()
        """The rows that the filter keeps."""
        self._empty = ""
        self._home: Row | None = None
        self._widest = 0
        """The width of the widest row, 0 where rows are cut."""
        self._pinned: tuple[Sequence[Line], Sequence[Line]] = (), ()
        self._ground = Style()

    def show(
        self,
        rows: Sequence[Row],
        empty: str = "",
        *,
        presentation: Presentation[Row] | None = None,
        keep: bool = False,
        home: Row | None = None,
    ) -> None:
        """Show other rows, the cursor on ``home`` or the first row, or kept; ``empty`` stands where there is none."""
        cursor, above = self.cursor, self.cursor - self.scroll_offset.y
        selected, key = self.selected, self.presentation.key
        if presentation is not None:
            self.presentation = presentation
            self.kept_by = self.read_filter(self.kept_by.text)
        self.every, self._empty, self._home = rows, empty, home
        self.list_rows()
        if not keep:
            self.scroll_to(x=0, y=0, animate=False, immediate=True)
            self.go_to(self._home_place(), announce=False)
        elif key is not None and selected is not None:
            same = (place for place in range(self.place_count()) if key(self.row_at(place)) == key(selected))
            place = min(same, key=lambda place: abs(place - cursor), default=cursor)
            self.stay(place, place if above == cursor and place < self.rows_in_view() else above)

    def refill(self) -> None:
        """List the rows that ``kept_by`` keeps, with the cursor on the first."""
        self.list_rows()
        self.cursor = self._home_place()

    def list_rows(self) -> None:
        kept, pieces, widest = self.kept_by, self.presentation.pieces, self.presentation.widest
        self.rows = [row for row in self.every if kept.keeps(row)] if kept.text else self.every
        measured = (width_of(pieces(row, 0)) for row in self.rows)
        self._widest = max(measured, default=0) + 1 if widest is None else widest
        self.rows_changed()

    def _home_place(self) -> int:
        return self.place_of(self._home) if self._home is not None and self._home in self.rows else 0

    def place_of(self, row: Row) -> int:
        """Return the first line of a row."""
        return self.rows.index(row)

    def place_count(self) -> int:
        """Return the number of lines that the rows take."""
        return len(self.rows)

    def row_at(self, place: int) -> Row:
        return self.rows[place]

    @property
    def selected(self) -> Row | None:
        return self.row_at(self.cursor) if self.place_count() else None

    def row_count(self) -> int:
        """Return the number of lines: 1 where a text replaces the rows."""
        return self.place_count() or bool(self._empty)

    def row(self, index: int, width: int) -> Line:
        """Return a row to be shown in ``width`` cells; a wider row scrolls sideways."""
        if self.place_count():
            return self.pieces_at(index, width)
        no_row = f"no {self.presentation.noun} is kept by {self.kept_by.text!r}" if self.every else self._empty
        return (Piece(f" {no_row}", Role.DIM),)

    def pieces_at(self, place: int, width: int) -> Line:
        return self.presentation.pieces(self.rows[place], width)

    def header(self, width: int) -> Sequence[Line]:
        return self.presentation.heading(self.rows, width, self.scrollable_content_region.height)

    def footer(self, width: int) -> Sequence[Line]:
        """Return the lines that stay below the rows; always the same number of lines at one size."""
        return self.presentation.footing(self.selected, width, self.scrollable_content_region.height)

    def as_table(self) -> Table:
        """Return the rows as a table: where they have no columns, the line and the text of each."""
        if self.presentation.columns:
            return Table(self.presentation.columns, self.rows)
        texts = ("".join(piece.text for piece in self.row(index, WIDE)).strip() for index in range(self.row_count()))
        return Table(_LINES, [(self.log_line(index), text) for index, text in enumerate(texts)])

    def pinned_width(self) -> int:
        """Return the number of cells at the left that do not scroll sideways."""
        return self.presentation.pinned if self.place_count() else 0

    def log_line(self, index: int) -> int | None:
        return self.presentation.line(self.rows[index]) if self.place_count() else None

    def filter(self, text: str) -> None:
        """Keep the rows that a filter keeps, the cursor on the first; a FilterError leaves the rows as they are."""
        if text != self.kept_by.text:
            self.kept_by = self.read_filter(text)
            self.refill()
            self.go_to(self.cursor)

    def read_filter(self, text: str) -> RowFilterExpression:
        return parse_filter(text, self.presentation.filters) if text.strip() else NO_FILTER

    def rows_changed(self) -> None:
        """Update the list after the number or the width of its rows changed."""
        self.cursor = max(0, min(self.cursor, self.row_count() - 1))
        self._resize_content()
        self.refresh()

    def go_to(self, index: int, *, center: bool = False, ahead: int = 0, announce: bool = True) -> None:
        """Move the cursor and show it: mid-height if ``center``, else with ``ahead`` more rows beyond the edge."""
        count = self.row_count()
        if not count:
            return
        before, top = self.cursor, self.scroll_offset.y
        self.cursor = max(0, min(index, count - 1))
        self._bring_into_view(center=center, ahead=ahead)
        if self.scroll_offset.y == top:
            self._refresh_rows(before, self.cursor)
        else:
            self.refresh()
        if announce:
            self.post_message(self.Highlighted(self, self.cursor))

    def stay(self, index: int, above: int) -> None:
        """Put the cursor on a row, ``above`` rows below the top, after the list was filled again."""
        self.cursor = max(0, min(index, self.row_count() - 1))
        self.scroll_to(y=max(0, self.cursor - above), animate=False, immediate=True)
        self.refresh()

    def _refresh_rows(self, *indexes: int) -> None:
        """Paint some rows again: a terminal far away gets two rows for a moved cursor, not the whole list."""
        region = self.scrollable_content_region
        above, below = len(self.header(region.width)) - self.scroll_offset.y, len(self.footer(region.width))
        rows = [Region(0, index + above, self.size.width, 1) for index in indexes if index + above >= 0]
        self.refresh(*rows, *([Region(0, region.height - below, self.size.width, below)] if below else ()))

    def rows_in_view(self) -> int:
        """Return how many rows fit between the header and the footer."""
        region = self.scrollable_content_region
        return max(1, region.height - self._fixed_lines(region.width))

    def _fixed_lines(self, width: int) -> int:
        return len(self.header(width)) + len(self.footer(width))

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint some lines of the viewport; what stays above and below the rows is laid out once for all of them."""
        width = self.scrollable_content_region.width
        self._pinned, self._ground = (self.header(width), self.footer(width)), self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        header, footer = self._pinned
        if y < len(header):
            return self._scrolled(header[y], self.get_component_rich_style("row--header"), width)
        below = y - (self.scrollable_content_region.height - len(footer))
        if footer and below >= 0:
            base = self.get_component_rich_style("row--header")
            return paint(self, footer[below], base, self._ground).crop_extend(0, width, base)
        index = self.scroll_offset.y + y - len(header)
        if not 0 <= index < self.row_count():
            return Strip.blank(width, self._ground)
        base = self.get_component_rich_style("row--cursor") if index == self.cursor else self._ground
        return self._scrolled(self.row(index, width), base, width, index)

    def on_resize(self) -> None:
        self._resize_content()
        self._bring_into_view(center=False)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        region = self.scrollable_content_region
        header, footer = self.header(region.width), self.footer(region.width)
        if offset.y < len(header):
            self.header_clicked(offset.y, offset.x)
            return
        index = self.scroll_offset.y + offset.y - len(header)
        if 0 <= index < self.row_count() and offset.y < region.height - len(footer):
            self.go_to(index)
            self.clicked(index, offset.x)

    def clicked(self, index: int, column: int) -> None:  # noqa: ARG002 - subclasses use it
        """Handle a click on a row; by default like Enter."""
        self.post_message(self.Chosen(self, index))

    def header_clicked(self, line: int, column: int) -> None:
        """Handle a click on a line of the header; by default nothing."""

    def action_move(self, by: int) -> None:
        """Move the cursor. At the edge the list scrolls by a quarter of its height, since each scroll repaints it."""
        self.go_to(self.cursor + by, ahead=self.rows_in_view() // 4)

    def action_page(self, by: int) -> None:
        self.go_to(self.cursor + by * max(1, self.rows_in_view() - 1))

    def action_jump_to_start(self) -> None:
        self.go_to(0)

    def action_jump_to_end(self) -> None:
        self.go_to(self.row_count() - 1)

    def action_sideways(self, by: int) -> None:
        self.scroll_to(x=self.scroll_offset.x + by * SIDEWAYS, animate=False)

    def action_choose(self) -> None:
        if self.row_count():
            self.post_message(self.Chosen(self, self.cursor))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that the mouse selected; rows keep their order, and are cut as on the screen."""
        first = selection.start.y if selection.start is not None else 0
        last = min(selection.end.y if selection.end is not None else self.row_count() - 1, self.row_count() - 1)
        width = self.scrollable_content_region.width
        rows = []
        for index in range(first, last + 1):
            text = "".join(piece.text for piece in self.row(index, width))
            span = selection.get_span(index)
            if span is not None:
                rows.append(text[span[0] : None if span[1] == -1 else span[1]].rstrip())
        return ("\n".join(rows), "\n") if rows else None

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - Textual's signature
        self.refresh()

    def _selected(self, strip: Strip, index: int, base: Style) -> Strip:
        """Let the mouse select in a row, and show the part of it that is selected."""
        selection = self.text_selection
        span = selection.get_span(index) if selection is not None else None
        if span is not None:
            start, end = span[0], strip.cell_length if span[1] == -1 else min(span[1], strip.cell_length)
            style = base + self.screen.get_component_rich_style("screen--selection")
            before, inside, after = strip.crop(0, start), strip.crop(start, end), strip.crop(end)
            strip = Strip([*before, *(Segment(segment.text, style) for segment in inside), *after])
        return strip.apply_offsets(0, index)

    def _resize_content(self) -> None:
        lines = self.row_count() + self._fixed_lines(self.scrollable_content_region.width)
        self.virtual_size = Size(self._widest, lines)

    def _bring_into_view(self, *, center: bool, ahead: int = 0) -> None:
        height = self.rows_in_view()
        top = self.scroll_offset.y
        margin = min(CONTEXT, height // 4) if center else 0
        if top + margin <= self.cursor < top + height - margin:
            return
        nearest = self.cursor - ahead if self.cursor < top else self.cursor - height + 1 + ahead
        top = self.cursor - height // 2 if center else nearest
        self.scroll_to(y=max(0, top), animate=False, immediate=True)

    def _scrolled(self, line: Line, base: Style, width: int, y: int | None = None) -> Strip:
        """Paint a line scrolled sideways; its pinned cells stay."""
        strip = paint(self, line, base, self._ground)
        strip = strip if y is None else self._selected(strip, y, base)
        shift, pinned = self.scroll_offset.x, self.pinned_width()
        cut = strip.cell_length - shift > width
        width -= cut
        left = strip.crop(0, pinned)
        rest = strip.crop_extend(pinned + shift, shift + width, base)
        more = [Segment(MORE, base + Style.from_color(self.get_component_rich_style("row--more").color))] if cut else []
        return Strip([*left, *rest, *more])
