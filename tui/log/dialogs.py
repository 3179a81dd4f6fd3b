"""Lists above the screen of a log: everything about a layer, and its neighbours."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import log10

from trtforensics.engines.facts import LayerFacts
from trtforensics.engines.neighbours import Neighbours
from trtforensics.engines.why import Reason
from trtforensics.model.log import Build, EngineLayer
from trtforensics.tables.columns import Cell, TableColumn
from trtforensics.tables.layers import LAYER_COLUMNS
from trtforensics.tui.rows.layers.columns import CHOICES, Order, value_text
from trtforensics.tui.rows.layers.index import details, labelled
from trtforensics.tui.rows.layers.neighbours import NeighbourRow, neighbour_rows, neighbours_of
from trtforensics.tui.rows.overview_rows import OverviewRow
from trtforensics.tui.rows.pieces import Line, Piece, Presentation, Role, bar, fit
from trtforensics.tui.user_files import Bookmark, KeptSource
from trtforensics.tui.widgets.dialogs import Dialog
from trtforensics.tui.widgets.row_list import WrappedList
from trtforensics.tui.widgets.virtual_list import VirtualList

_BINS = 10
_FAR = 20.0
"""Numbers whose largest is this many times the smallest are counted in equal factors."""


class DetailScreen(Dialog[OverviewRow, "int | None"]):
    """A layer's facts, wrapped. It ends with the line that was chosen."""

    def __init__(self, entry: LayerFacts, why: Sequence[Reason]) -> None:
        rows = details(entry, why)
        shown = WrappedList(labelled(rows), id="detail-list")
        super().__init__(shown, "Layer", "Enter shows the line, Esc closes", rows)

    def choose(self, place: int) -> None:
        self.dismiss(self.list.log_line(place))


class NeighbourScreen(Dialog[NeighbourRow, "EngineLayer | None"]):
    """The producers and the consumers of one layer at a time. It ends with the layer that was walked to."""

    def __init__(self, build: Build, layer: EngineLayer) -> None:
        self.walked = [layer]
        """The layers walked through; the last is in view."""
        rows = VirtualList(neighbours_of(self.walked), id="neighbour-list")
        super().__init__(rows, "Neighbours", "→ walks, ← goes back, + - hops, Esc stays there")
        self._neighbours = Neighbours(build)
        self._hops = 2

    def fill(self) -> None:
        rows = neighbour_rows(self.walked[-1], self._neighbours, self._hops)
        home = next(row for row in rows if not row.edge)
        none = "" if len(rows) > 1 else ": none, as the log names no tensor that it shares"
        self.list.border_title = f"Neighbours{none}"
        self.list.show(rows, home=home)
        self.list.go_to(rows.index(home), center=True, announce=False)

    def choose(self, place: int) -> None:
        layer = self.list.row_at(place).layer
        if layer is not None and layer is not self.walked[-1]:
            self.walked.append(layer)
            self.fill()

    def action_reach(self, by: int) -> None:
        self._hops = min(max(self._hops + by, 1), 3)
        self.fill()

    def action_turn_back(self) -> None:
        if len(self.walked) == 1:
            self.dismiss(None)
        else:
            self.walked.pop()
            self.fill()

    def action_leave(self) -> None:
        self.dismiss(self.walked[-1] if len(self.walked) > 1 else None)


def compared(first: LayerFacts, second: LayerFacts) -> Dialog[TableColumn, None]:
    """Return two layers column by column, what differs first."""

    def texts(column: TableColumn) -> tuple[str, str]:
        return value_text(column, first), value_text(column, second)

    def pieces(column: TableColumn, width: int) -> Line:
        sides, room = texts(column), max((width - 22) // 2, 8)
        role = Role.DIM if sides[0] == sides[1] else Role.STRONG
        return (Piece(fit(f" {column.name}", 20), Role.DIM), *(Piece(f" {fit(s, room)}", role) for s in sides))

    columns = [column for column in LAYER_COLUMNS if any(texts(column))]
    columns.sort(key=lambda column: len(set(texts(column))) == 1)
    return Dialog(VirtualList(Presentation(pieces=pieces), id="pair-list"), "Two layers", "Esc closes", columns)


def bins(layers: Sequence[LayerFacts], order: Order) -> dict[str, list[float]]:
    """Return the shares of the layers with each value of a column: numbers in ten steps, of factors if far apart."""
    values = [(order.value(layer), layer.share or 0.0) for layer in layers]
    numbers = [value for value, _ in values if isinstance(value, (int, float))]
    low, high = min(numbers, default=0), max(numbers, default=0)
    there, back = (log10, partial(pow, 10)) if 0 < low * _FAR < high else (float, float)
    start, step = there(low), (there(high) - there(low)) / _BINS or 1.0
    steps = [f"{back(start + n * step):.3g} to {back(start + (n + 1) * step):.3g}" for n in range(_BINS)]
    groups: dict[str, list[float]] = {name: [] for name in steps if high > low}
    for value, share in values:
        known = str(value) if numbers == [] else steps[min(int((there(value or low) - start) / step), _BINS - 1)]
        groups.setdefault("not known" if value is None else known, []).append(share)
    return groups if numbers else dict(sorted(groups.items(), key=lambda group: -len(group[1])))


def histogram(layers: Sequence[LayerFacts], order: Order) -> Dialog[tuple[str, list[float]], None]:
    """Return how many layers have which values in a column, and what part of the time they take."""
    rows = list(bins(layers, order).items())
    most = max((len(shares) for _, shares in rows), default=0) or 1

    def pieces(row: tuple[str, list[float]], width: int) -> Line:
        count, share = len(row[1]), sum(row[1])
        name = Piece(f" {fit(row[0], max(min(width - 42, 60), 12))} ")
        bars = Piece(f"{bar(count / most, 20)} ", Role.BAR)
        return (name, bars, Piece(f"{count:>6,} ", Role.STRONG), Piece(f"{share:6.1%}" if share else "", Role.DIM))

    title = f"{len(layers):,} layers by {order.column}: how many, and their part of the time"
    return Dialog(VirtualList(Presentation(pieces=pieces), id="histogram"), title, "Esc closes", rows)


class BookmarkScreen(Dialog[Bookmark, "int | None"]):
    """The bookmarks of a log. It ends with the line of the chosen one."""

    def __init__(self, kept: KeptSource, text: Callable[[int], str | None]) -> None:
        self._kept = kept

        def pieces(mark: Bookmark, _: int) -> Line:
            note = f"{mark.note}  " if mark.note else ""
            rest = "another text stands here now" if mark.moved else (text(mark.line) or "").strip()
            role = Role.WARNING if mark.moved else Role.DIM
            return (Piece(f"{mark.line:>9,} ", Role.DIM), Piece(note, Role.STRONG), Piece(rest[:200], role))

        shown = VirtualList(Presentation(pieces=pieces, line=lambda mark: mark.line), id="bookmarks")
        super().__init__(shown, "Bookmarks", "Enter shows the line, d removes, Esc closes")

    def fill(self) -> None:
        rows = sorted(self._kept.bookmarks.values(), key=lambda mark: mark.line)
        self.list.show(rows, "no bookmark yet: B sets one", keep=True)

    def choose(self, place: int) -> None:
        self.dismiss(self.list.log_line(place))

    def action_remove(self) -> None:
        if self.list.selected is not None:
            del self._kept.bookmarks[self.list.selected.line]
            self.fill()


class ColumnScreen(Dialog["Cell", "tuple[Cell, ...]"]):
    """The columns of the layers: chosen by Space, widened and narrowed by + and -. It ends with the chosen cells."""

    def __init__(self, shown: Sequence[Cell]) -> None:
        self._cells = list((CHOICES | {cell.title: cell for cell in shown}).values())
        self._chosen = {cell.title for cell in shown}

        def pieces(cell: Cell, _: int) -> Line:
            chosen = cell.title in self._chosen
            mark = Piece(" ✔ " if chosen else "   ", Role.GOOD)
            name = Piece(fit(cell.title, 24), Role.STRONG if chosen else Role.PLAIN)
            return mark, name, Piece(f"{cell.width} cells")

        keys = "Space shows or hides, + - width, Esc closes"
        super().__init__(
            VirtualList(Presentation(pieces=pieces), id="columns"), "Columns of the layers", keys, self._cells
        )

    def choose(self, place: int) -> None:
        self._chosen ^= {self._cells[place].title}
        self.list.refresh()

    def action_widen(self, by: int) -> None:
        cell = self._cells[self.list.cursor]
        self._cells[self.list.cursor] = replace(cell, width=max(cell.width + by, 4))
        self._chosen.add(cell.title)
        self.list.refresh()

    def action_close(self) -> None:
        chosen = [cell for cell in self._cells if cell.title in self._chosen]
        self.dismiss(tuple(sorted(chosen, key=lambda cell: cell.place)))
