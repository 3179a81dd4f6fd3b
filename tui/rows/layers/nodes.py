"""Rows of the ONNX nodes: what became of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.engines.onnx_nodes import FateKind, fate_counts
from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tui.rows.pieces import Line, Piece, Role, clip, fit
from trtforensics.tui.rows.presentation import Presentation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.engines.onnx_nodes import Fate

_OP = 16
_FATE = 12
_ROLES = {
    FateKind.ENGINE: Role.GOOD,
    FateKind.FOREIGN: Role.ACCENT,
    FateKind.FUSED: Role.GOOD,
    FateKind.ELIMINATED: Role.WARNING,
    FateKind.NO_LAYER: Role.WARNING,
    FateKind.NOT_TOLD: Role.WARNING,
}
_OP_FROM = 60
"""Width from which a row has room for the operator."""


def node_heading(counts: Mapping[FateKind, int], width: int) -> tuple[Line, Line]:
    """Return how many nodes have each fate, and the titles of the columns."""
    tally = ", ".join(f"{kind} {count:,}" for kind, count in counts.items())
    op = f" {fit('operator', _OP)}" if width >= _OP_FROM else ""
    titles = f" {fit('ONNX node', _name_width(width))}{op} {fit('fate', _FATE)} what became of it"
    return (Piece(f" {tally}", Role.DIM),), (Piece(clip(titles, width)),)


def node_pieces(fate: Fate, width: int) -> Line:
    """Lay out a node: its name, operator and fate."""
    name, room = _name_width(width), width >= _OP_FROM
    used = name + _FATE + 3 + (_OP + 1 if room else 0)
    return (
        Piece(f" {fit(fate.node.name, name)}"),
        Piece(f" {fit(fate.node.op, _OP)}" if room else "", Role.DIM),
        Piece(f" {fit(fate.kind, _FATE)} ", _ROLES[fate.kind]),
        Piece(fit(fate.text, max(width - used, 1))),
    )


def _name_width(width: int) -> int:
    return max((width - _FATE - 3 - (_OP + 1 if width >= _OP_FROM else 0)) // 2, 8)


NODES: Presentation[Fate] = Presentation(
    pieces=node_pieces,
    line=lambda fate: fate.span.line,
    heading=lambda fates, width: node_heading(fate_counts(fates), width) if fates else (),
    noun="ONNX node",
    filters=(
        TableColumn("name", lambda fate: fate.node.name),
        TableColumn("op", lambda fate: fate.node.op),
        TableColumn("fate", lambda fate: str(fate.kind)),
        TableColumn("layer", lambda fate: fate.layer.name if fate.layer else ""),
        TableColumn("what", lambda fate: fate.text),
        TableColumn("line", lambda fate: fate.span.line, Sort.INTEGER),
    ),
)
