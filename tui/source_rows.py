"""Rows of a source that is no log: the layers of a replay or an engine, the operations of a timing cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.diff import aspects
from trtforensics.diff.differences import DifferenceType
from trtforensics.model.timings import tactic_text
from trtforensics.tui.pieces import Line, Piece, Role, fit, fit_right, milliseconds, width_of
from trtforensics.tui.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.diff.views import LayerView

_RUNNER, _TACTIC, _TIME = 18, 19, 10
_NAME = 36
_HEAD = (
    f"{fit('layer', _NAME)} {fit('runner', _RUNNER)} {fit('tactic', _TACTIC)} {fit_right('time ms', _TIME)}  formats"
)


def layer_pieces(layer: LayerView) -> Line:
    """Lay a layer out in columns; the last ones hold the formats and the kernel."""
    runner = layer.runner or (f"0x{layer.runner_id:08x}" if layer.runner_id else "")
    time = milliseconds(layer.time_ms) if layer.time_ms is not None else ""
    kernel = f"  {layer.kernel}" if layer.kernel else ""
    return (
        Piece(fit(layer.name, _NAME) + " "),
        Piece(fit(runner, _RUNNER) + " ", Role.ACCENT),
        Piece(fit(tactic_text(layer.tactic) or "", _TACTIC) + " "),
        Piece(
            fit_right(time, _TIME) + ("≈ " if layer.near_tie else "  "), Role.WARNING if layer.near_tie else Role.DIM
        ),
        Piece(aspects.text(DifferenceType.FORMAT, layer)),
        Piece(f"{kernel}  {layer.key}".rstrip(), Role.DIM),
    )


class SourceList(VirtualList):
    """One layer a row."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._layers: Sequence[LayerView] = ()
        self._empty = ""
        self._width = 0

    def show_layers(self, layers: Sequence[LayerView], empty: str) -> None:
        """Show other layers, from the top; ``empty`` is what is said where there is none."""
        self._layers, self._empty = layers, empty
        self._width = max((width_of(layer_pieces(layer)) for layer in layers), default=0) + 1
        self.cursor = 0
        self.rows_changed()
        self.scroll_to(x=0, y=0, animate=False, immediate=True)

    @property
    def selected(self) -> LayerView | None:
        """The layer under the cursor."""
        return self._layers[self.cursor] if self._layers else None

    def row_count(self) -> int:
        """Return how many layers there are, or one row that says there are none."""
        return max(len(self._layers), 1)

    def row(self, index: int, width: int) -> Line:  # noqa: ARG002 - rows scroll, they are not cut
        """Return a layer."""
        return layer_pieces(self._layers[index]) if self._layers else (Piece(f" {self._empty}", Role.DIM),)

    def header(self, width: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls with the rows
        """Return the names of the columns."""
        return ((Piece(_HEAD),),)

    def content_width(self) -> int:
        """Return the width of the widest row."""
        return self._width

    def log_line(self, index: int) -> int | None:
        """Return the line of a layer."""
        return self._layers[index].span.line if self._layers else None
