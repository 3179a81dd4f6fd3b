"""The screen of a replay, an engine-layer file or a timing cache: its layers beside its text."""

import shlex
from collections.abc import Iterable, Sequence
from functools import partial

from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from trtforensics.comparison.differences import DifferenceType, aspect_text
from trtforensics.comparison.loading import load_side
from trtforensics.comparison.views import BuildView, LayerView
from trtforensics.console.counting import counted, milliseconds
from trtforensics.model.timings import tactic_text
from trtforensics.sources.kinds import Kind
from trtforensics.tui.issue import quoted_issue
from trtforensics.tui.rows.pieces import Line, Piece, Presentation, Role, fit, flush, list_columns
from trtforensics.tui.screen import ListScreen
from trtforensics.tui.sessions import text_of
from trtforensics.tui.widgets.log_view import TextPane
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList

_RUNNER, _TACTIC, _TIME = 18, 19, 10
_NAME = 36
HEADING = f"{fit('layer', _NAME)} {fit('runner', _RUNNER)} {fit('tactic', _TACTIC)} {flush('time ms', _TIME)}  formats"


def layer_pieces(layer: LayerView) -> Line:
    """Lay a layer out in columns; the last ones hold the formats and the kernel."""
    runner = layer.runner or (f"0x{layer.runner_id:08x}" if layer.runner_id else "")
    time = milliseconds(layer.time_ms) if layer.time_ms is not None else ""
    kernel = f"  {layer.kernel}" if layer.kernel else ""
    return (
        Piece(fit(layer.name, _NAME) + " "),
        Piece(fit(runner, _RUNNER) + " ", Role.ACCENT),
        Piece(fit(tactic_text(layer.tactic) or "", _TACTIC) + " "),
        Piece(flush(time, _TIME) + ("≈ " if layer.near_tie else "  "), Role.WARNING if layer.near_tie else Role.DIM),
        Piece(aspect_text(DifferenceType.FORMAT, layer)),
        Piece(f"{kernel}  {layer.key}".rstrip(), Role.DIM),
    )


SOURCE_LAYERS: Presentation[LayerView] = Presentation(
    pieces=lambda layer, _: layer_pieces(layer),
    line=lambda layer: layer.span.line,
    heading=lambda *_: ((Piece(HEADING),),),
    widest=None,
    noun="layer",
    filters=list_columns("source"),
)


class LayersScreen(ListScreen["LayerView"]):
    """Browse a source that lists layers or operations."""

    KEYS = "source"

    def __init__(self, path: str, *, kind: Kind, max_bytes: int) -> None:
        self.text = TextPane(partial(text_of, max_bytes=max_bytes), "text", Role.DIM, id="text")
        super().__init__(path, VirtualList(SOURCE_LAYERS, id="rows"), self.text.view)
        self._kind_of_source = kind
        self._max_bytes = max_bytes
        self._builds: Sequence[BuildView] = ()
        self._number = 0
        self._kind = LineBar(classes="heading")

    def panes(self) -> Iterable[Widget]:
        rows = Vertical(self._kind, self.rows, id="rows-pane", classes="pane")
        yield Horizontal(rows, self.text, id="source")

    def on_mount(self) -> None:
        self.begin(self._read, self._show)

    def _read(self) -> Sequence[BuildView]:
        return load_side(self.source, "", max_bytes=self._max_bytes, kind=self._kind_of_source).builds

    def _show(self, builds: Sequence[BuildView]) -> None:
        self._builds = builds
        self.fill()

    def fill(self) -> None:
        if not self._builds:
            return
        build = self._builds[self._number]
        all_layers = (*(build.layers or ()), *(build.operations or ()))
        self.rows.show(all_layers, "it holds no layer")
        what = f" {build.what}" if build.what else ""
        count = counted(len(all_layers), "operation" if build.layers is None else "layer")
        self._kind.show(Piece(f" {build.kind}{what} ", Role.STRONG), Piece(count, Role.ACCENT))
        self._follow()
        self.say("")

    def status(self) -> str:
        if not self._builds:
            return "opening"
        several = f"document {self._number + 1} of {len(self._builds)} [ ]" if len(self._builds) > 1 else ""
        return " · ".join(filter(None, (several, *self._builds[self._number].notes))) or "Enter opens the line"

    def cited(self) -> tuple[str, int, str] | None:
        return self.text.cited()

    def names_in_view(self) -> Iterable[str]:
        layer = self.rows.selected
        return () if layer is None else filter(None, (layer.operation, layer.runner, layer.kernel))

    def next_command(self) -> str:
        return f"trtforensics parse {shlex.quote(self.source)}"

    def issue(self) -> str:
        layer = self.rows.selected
        if layer is None:
            return ""
        row = "".join(piece.text for piece in layer_pieces(layer))
        return quoted_issue(f"a layer of a {self._builds[self._number].kind}", {"Layer": [row]}, [self.text.cited()])

    def action_document(self, by: int) -> None:
        if len(self._builds) > 1:
            self._number = (self._number + by) % len(self._builds)
            self.fill()
        else:
            self.say("the file holds one document")

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        if event.source is self.rows:
            self.when_resting(self._follow)

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        if event.source is self.rows:
            self._follow()
            self.text.view.focus()

    def _follow(self) -> None:
        layer = self.rows.selected
        self.text.open(layer.span if layer is not None else None)
