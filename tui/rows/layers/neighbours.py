"""Rows of a layer's neighbours: the writers of its inputs and the readers of its outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.console.counting import milliseconds
from trtforensics.tui.rows.layers.index import tensor_layout, tensor_text
from trtforensics.tui.rows.pieces import UNNAMED, Line, Piece, Role, clip, fit, fit_right
from trtforensics.tui.rows.presentation import Presentation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def _side(title: str, neighbours: tuple[Neighbour, ...], outside: str) -> Iterator[NeighbourRow]:
    yield NeighbourRow(f"{title} ({len(neighbours):,})", heading=True)
    if not neighbours:
        yield NeighbourRow("no tensor, as far as the log tells")
    for neighbour in neighbours:
        name = (neighbour.layer.name or UNNAMED) if neighbour.layer else outside
        yield NeighbourRow(name, neighbour.tensor, neighbour.layer)


def neighbour_pieces(row: NeighbourRow, width: int) -> Line:
    """Lay out a neighbour: type and format on the edge, the layer, its compute precision, its time in ms."""
    if row.heading or row.tensor is None:
        return (Piece(f" {row.text}", Role.TITLE if row.heading else Role.DIM),)
    shown = tensor_text(row.tensor)
    layout = f" {tensor_layout(row.tensor)}".rstrip()
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


def neighbours_of(way: Sequence[EngineLayer]) -> Presentation[NeighbourRow]:
    """Return how the neighbours of a layer look in a list; it is the last of the layers walked through."""

    def heading(_: Sequence[NeighbourRow], width: int) -> tuple[Line, Line]:
        *before, centre = (layer.name or UNNAMED for layer in way)
        walked = " ← ".join(reversed(before))
        return (Piece(f" {clip(centre, max(width - 2, 1))}", Role.STRONG),), (
            Piece(f" from {clip(walked, max(width - 7, 1))}" if walked else "", Role.DIM),
        )

    return Presentation(
        pieces=neighbour_pieces, line=lambda row: row.layer.span.line if row.layer else None, heading=heading
    )
