"""The engine layers that write the inputs of a layer, and those that read its outputs."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from trtforensics.model.layer_types import REFORMATS
from trtforensics.model.log import Build, EngineLayer, EngineTensor


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A tensor at a layer, and the layer at its other end: None where no layer of the engine writes or reads it."""

    tensor: EngineTensor
    layer: EngineLayer | None


Edge = tuple[Neighbour, ...]
"""A tensor, or tensors with the reformats between them, from a layer to the next that is no reformat."""
_MOST_REFORMATS = 4
"""Reformats on an edge; further ones are layers of their own."""


class Neighbours:
    """The layers of an engine by the tensors between them."""

    def __init__(self, build: Build) -> None:
        self._writers: dict[str, list[EngineLayer]] = defaultdict(list)
        self._readers: dict[str, list[EngineLayer]] = defaultdict(list)
        for layer in build.engine_layers:
            for tensor in layer.outputs:
                self._writers[tensor.name].append(layer)
            for name in {tensor.name for tensor in layer.inputs}:
                self._readers[name].append(layer)

    def producers(self, layer: EngineLayer) -> tuple[Neighbour, ...]:
        """Return what a layer reads, each tensor with the layers that write it."""
        return _joined(layer, layer.inputs, self._writers)

    def consumers(self, layer: EngineLayer) -> tuple[Neighbour, ...]:
        """Return what a layer writes, each tensor with the layers that read it."""
        return _joined(layer, layer.outputs, self._readers)

    def edges(self, layer: EngineLayer, *, before: bool, way: Edge = ()) -> tuple[Edge, ...]:
        """Return the edges of a layer, those that it reads (``before``) or writes, each from its near end on."""
        edges: list[Edge] = []
        for step in self.producers(layer) if before else self.consumers(layer):
            if step.layer is not None and step.layer.type in REFORMATS and len(way) < _MOST_REFORMATS:
                edges += self.edges(step.layer, before=before, way=(*way, step))
            else:
                edges.append((*way, step))
        return tuple(edges)


def _joined(
    layer: EngineLayer, tensors: tuple[EngineTensor, ...], by_name: dict[str, list[EngineLayer]]
) -> tuple[Neighbour, ...]:
    """Pair tensors with layers. Several layers may share a tensor, as where slices write parts of one."""
    neighbours = []
    for tensor in {tensor.name: tensor for tensor in tensors}.values():
        others = [other for other in by_name.get(tensor.name, ()) if other is not layer]
        neighbours += [Neighbour(tensor, other) for other in others] or [Neighbour(tensor, None)]
    return tuple(neighbours)


def reformats_of(neighbours: Sequence[Neighbour]) -> int:
    """Return how many of the layers at the other ends are reformats."""
    layers = {id(neighbour.layer): neighbour.layer for neighbour in neighbours if neighbour.layer is not None}
    return sum(layer.type in REFORMATS for layer in layers.values())
