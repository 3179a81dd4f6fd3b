"""What the ONNX parser said of each node: its operator, its tensors, the network layers made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model import OnnxNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt

    from trtforensics.model import SourceSpan
    from trtforensics.parsers.views import Log

    _Tensors = tuple[tuple[str, ...], tuple[str, ...]]

_NONE: _Tensors = (), ()


def onnx_nodes(log: Log, span: Callable[[int], SourceSpan]) -> tuple[OnnxNode, ...]:
    """Read the nodes in the order of the log. A layer ``required by ONNX-TRT`` belongs to the node being parsed."""
    if not log.has("parsing_node"):
        return ()
    begins, names, ops = log.columns(("parsing_node",), "node", "op")
    layers: dict[int, list[str]] = {}
    for place, layer in _of_nodes(log, begins, ("registering_layer", "registering_helper"), "layer"):
        layers.setdefault(place, []).append(layer)
    inputs, outputs = (
        {place: _tensors(text) for place, text in _of_nodes(log, begins, (kind,), "tensors")}
        for kind in ("node_inputs", "node_outputs")
    )
    nodes = []
    for place, (line, name, op) in enumerate(zip(begins.tolist(), log.texts(names), log.texts(ops), strict=True)):
        read, read_types = inputs.get(place, _NONE)
        written, written_types = outputs.get(place, _NONE)
        own = tuple(layers.get(place, ()))
        nodes.append(OnnxNode(name, op, own, read, written, span(line), read_types, written_types))
    return tuple(nodes)


def _of_nodes(log: Log, begins: npt.NDArray[np.int64], kinds: tuple[str, ...], field: str) -> Iterator[tuple[int, str]]:
    """Give a text of each line of some kinds with the place of the node that the line belongs to, if to any."""
    lines, texts = log.columns(kinds, field)
    places = begins.searchsorted(lines) - 1
    within = (places >= 0) & (begins[places] >= log.build_of(lines))
    return zip(places[within].tolist(), log.texts(texts[within]), strict=True)


def _tensors(text: str) -> _Tensors:
    """Read ``[x -> (1, 3)[FLOAT]], [w -> (3)[HALF]], `` as names and types; an input that is not set has neither."""
    names, types = [], []
    for item in text.strip(" ,").removeprefix("[").split("], ["):
        name, arrow, rest = item.rpartition(" -> (")
        if arrow:
            names.append(name)
            types.append(rest.rpartition("[")[2].rstrip("]"))
    return tuple(names), tuple(types)
