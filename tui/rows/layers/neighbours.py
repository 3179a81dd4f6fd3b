"""Rows of a layer's neighbours: who writes what it reads, and who reads what it writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.tui.rows.layers.index import UNNAMED, tensor_text
from trtforensics.tui.rows.pieces import Line, Piece, Role, clip, fit, fit_right, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.engines.neighbours import Neighbour, Neighbours
    from trtforensics.model.log import EngineLayer, EngineTensor

_TIME = 9
_COMPUTE = 8


@dataclass(frozen=True, slots=True)
class NeighbourRow:
    """A heading, or a neighbour with the tensor between; ``layer`` is the one that Enter walks to."""

    text: str
    tensor: EngineTensor | None = None
    layer: EngineLayer | None = None
    heading: bool = False


def neighbour_rows(layer: EngineLayer, neighbours: Neighbours) -> list[NeighbourRow]:
    """Return the rows of a layer."""
    return [
        *_side("reads", neighbours.producers(layer), "an input of the network, or a constant"),
        *_side("is read by", neighbours.consumers(layer), "a network output, or unused"),
    ]


def _side(title: str, found: tuple[Neighbour, ...], outside: str) -> Iterator[NeighbourRow]:
    yield NeighbourRow(f"{title} ({len(found):,})", heading=True)
    if not found:
        yield NeighbourRow("no tensor, as far as the log tells")
    for one in found:
        name = (one.layer.name or UNNAMED) if one.layer else outside
        yield NeighbourRow(name, one.tensor, one.layer)


def neighbour_pieces(row: NeighbourRow, width: int) -> Line:
    """Lay out a neighbour: type and format on the edge, the layer, what it computes in, its time in ms."""
    if row.heading or row.tensor is None:
        return (Piece(f" {row.text}", Role.TITLE if row.heading else Role.DIM),)
    shown = tensor_text(row.tensor)
    layout = "" if row.tensor.format.startswith(f"{row.tensor.dtype}[") else f" {row.tensor.format}".rstrip()
    edge = max(min(width // 2 - 4, 48), 12)
    right = ""
    if row.layer is not None:
        computes = row.layer.compute_precision
        time = "" if row.layer.time_ms is None else milliseconds(row.layer.time_ms)
        right = f" {fit(computes.type if computes else '', _COMPUTE)} {fit_right(time, _TIME)}"
    room = max(width - edge - len(right) - 4, 8)
    return (
        Piece("   "),
        Piece(fit(clip(f"{shown}{layout} {row.tensor.name}", edge), edge) + " ", Role.DIM),
        Piece(fit(row.text, room), Role.PLAIN if row.layer else Role.DIM),
        Piece(right, Role.ACCENT),
    )
