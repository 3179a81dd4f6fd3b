"""Rows of a source other than a log: layers of a replay or an engine, operations of a timing cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.diff import aspects
from trtforensics.diff.differences import DifferenceType
from trtforensics.model.timings import tactic_text
from trtforensics.tui.rows.pieces import Line, Piece, Role, fit, fit_right, milliseconds

if TYPE_CHECKING:
    from trtforensics.diff.builds.views import LayerView

_RUNNER, _TACTIC, _TIME = 18, 19, 10
_NAME = 36
HEADING = (
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
