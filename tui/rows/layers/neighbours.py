"""A layer's neighbours as a picture, writers above, readers below; reformats stand on the edges with their ms."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from trtforensics.console.counting import milliseconds
from trtforensics.engines.neighbours import Edge, Neighbours
from trtforensics.model.log import EngineLayer
from trtforensics.render.headline import TYPES
from trtforensics.tui.rows.layers.index import tensor_layout, tensor_text
from trtforensics.tui.rows.pieces import TYPE_ROLE, UNNAMED, Line, Piece, Presentation, Role, clip, fit, flush, width_of

_RIGHT = 19
_OUTSIDE = {True: "an input of the network, or a constant", False: "a network output, or unused"}
_MIRRORED = str.maketrans("└", "┌")


@dataclass(frozen=True, slots=True)
class NeighbourRow:
    """A layer behind the branches of the tree; ``edge`` leads to it, in the order of the data."""

    branches: str
    edge: Edge = ()
    layer: EngineLayer | None = None
    before: bool = False


def neighbour_rows(layer: EngineLayer, neighbours: Neighbours, hops: int) -> list[NeighbourRow]:
    """Return the picture around a layer, which stands between the trees of its writers and its readers."""
    above, below = (
        list(_tree(layer, partial(neighbours.edges, before=before), hops, {id(layer)})) for before in (True, False)
    )
    mirrored = (
        NeighbourRow(row.branches.translate(_MIRRORED), row.edge[::-1], row.layer, before=True)
        for row in reversed(above)
    )
    return [*mirrored, NeighbourRow("●", layer=layer), *below]


def _tree(
    layer: EngineLayer, edges_of: Callable[[EngineLayer], Sequence[Edge]], hops: int, drawn: set[int], prefix: str = ""
) -> Iterator[NeighbourRow]:
    """Yield the branches of a layer from the near end; what hangs on a layer that was ``drawn`` is not drawn again."""
    edges = edges_of(layer)
    for place, edge in enumerate(edges, 1):
        end, is_last = edge[-1].layer, place == len(edges)
        yield NeighbourRow(f"{prefix}{'└─' if is_last else '├─'}", edge, end)
        if end is not None and hops > 1 and id(end) not in drawn:
            drawn.add(id(end))
            yield from _tree(end, edges_of, hops - 1, drawn, f"{prefix}{'  ' if is_last else '│ '}")


def _edge_text(row: NeighbourRow) -> Iterator[Piece]:
    """Spell the types along an edge; between two of them stands the reformat, with its ms where they are known."""
    layers = [each.layer for each in row.edge]
    reformats = layers[1:] if row.before else layers[:-1]
    for place, each in enumerate(row.edge):
        kind = TYPES.get(each.tensor.dtype, each.tensor.dtype)
        yield Piece(kind or "?", TYPE_ROLE.get(kind, Role.DIM))
        between = reformats[place] if place < len(reformats) else None
        if between is not None:
            yield Piece(f" ⇄ {_ms(between)} ".replace("  ", " "), Role.WARNING)
    yield Piece(" ─ ", Role.DIM)


def _ms(layer: EngineLayer) -> str:
    return "" if layer.time_ms is None else milliseconds(layer.time_ms)


def neighbour_pieces(row: NeighbourRow, width: int) -> Line:
    """Lay out a layer: branches, the edge, its name, what it computes in, its ms."""
    edge = tuple(_edge_text(row)) if row.edge else (Piece(" "),)
    computes = row.layer.compute_precision if row.layer is not None else None
    kind = TYPES.get(computes.type, computes.type) if computes else ""
    name = (row.layer.name or UNNAMED) if row.layer is not None else _OUTSIDE[row.before]
    room = max(width - len(row.branches) - width_of(edge) - _RIGHT - 1, 8)
    role = Role.STRONG if not row.edge else Role.PLAIN if row.layer is not None else Role.DIM
    right = f" {fit(kind, 8)} {flush(_ms(row.layer) if row.layer is not None else '', 9)}"
    colour = TYPE_ROLE.get(kind, Role.DIM)
    return (Piece(f" {row.branches}", Role.DIM), *edge, Piece(fit(name, room), role), Piece(right, colour))


def neighbours_of(way: Sequence[EngineLayer]) -> Presentation[NeighbourRow]:
    """Return how the picture looks in a list; the last of the layers walked through stands in its middle."""

    def heading(_: Sequence[NeighbourRow], width: int, _height: int) -> tuple[Line]:
        walked = " ← ".join(layer.name or UNNAMED for layer in reversed(way[:-1]))
        return ((Piece(f" from {clip(walked, max(width - 7, 1))}" if walked else "", Role.DIM),),)

    return Presentation(
        pieces=neighbour_pieces,
        line=lambda row: row.layer.span.line if row.layer else None,
        heading=heading,
        footing=lambda row, width, _: (_tensors(row.edge if row else (), width),),
    )


def _tensors(edge: Edge, width: int) -> Line:
    """Spell the tensors along an edge: type, size, layout, name."""
    tensors = (each.tensor for each in edge)
    texts = (" ".join(filter(None, (tensor_text(each), tensor_layout(each), each.name))) for each in tensors)
    return (Piece(f" {clip(' ⇄ '.join(texts), width - 2)}"),)
