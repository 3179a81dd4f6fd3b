"""What the ONNX parser said of each node: its operator, its tensors, the network layers made from it."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from trtforensics.model.arrays import Numbers, Positions
from trtforensics.model.log import OnnxNode
from trtforensics.parsers.builds.views import Log
from trtforensics.parsers.lines.events import NO_TEXT

_Tensors = tuple[tuple[str, ...], tuple[str, ...]]


def onnx_nodes(log: Log) -> Sequence[tuple[OnnxNode, ...]]:
    """Read each build's nodes in the log's order. A layer ``required by ONNX-TRT`` belongs to the node being parsed."""
    begins, names, ops = log.columns(("parsing_node",), "node", "op")
    layers: list[list[str]] = [[] for _ in begins]
    places, texts = _of_nodes(log, begins, ("registering_layer", "registering_helper"), "layer")
    for place, layer in zip(places.tolist(), log.texts(texts), strict=True):
        layers[place].append(layer)
    inputs, outputs = (
        list(map(_tensors, log.texts(_last_texts(log, begins, kind)))) for kind in ("node_inputs", "node_outputs")
    )
    made = map(
        OnnxNode,
        log.texts(names),
        log.texts(ops),
        map(tuple, layers),
        (names for names, _ in inputs),
        (names for names, _ in outputs),
        log.spans.of_each(begins),
        (types for _, types in inputs),
        (types for _, types in outputs),
    )
    return log.divide(begins, made)


def _last_texts(log: Log, begins: Positions, kind: str) -> Numbers:
    """Return of each node its last text of a kind of line, as an index."""
    places, texts = _of_nodes(log, begins, (kind,), "tensors")
    last = np.full(len(begins), NO_TEXT, np.int32)
    last[places] = texts
    return last


def _of_nodes(log: Log, begins: Positions, kinds: tuple[str, ...], field: str) -> tuple[Positions, Numbers]:
    """Return the places of the nodes that lines of some kinds belong to, and a text of each of these, as an index."""
    lines, texts = log.columns(kinds, field)
    places = begins.searchsorted(lines) - 1
    within = np.append(begins, 0)[places] >= log.build_of(lines)  # the last stands for no node
    return places[within], texts[within]


@lru_cache(maxsize=1 << 12)
def _tensors(text: str) -> _Tensors:
    """Read ``[x -> (1, 3)[FLOAT]], [w -> (3)[HALF]], `` as names and types; an input that is not set has neither."""
    names, types = [], []
    for item in text.strip(" ,").removeprefix("[").split("], ["):
        name, arrow, rest = item.rpartition(" -> (")
        if arrow:
            names.append(name)
            types.append(rest.rpartition("[")[2].rstrip("]"))
    return tuple(names), _shared(*types)


_shared: Callable[..., tuple[str, ...]] = lru_cache(maxsize=1 << 12)(lambda *types: types)
"""Returns the same tuple for the same types: most nodes have those of many others."""
