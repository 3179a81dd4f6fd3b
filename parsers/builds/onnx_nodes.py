"""What the ONNX parser said of each node: its operator, its tensors, the network layers made from it."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.model.log import OnnxNode
from trtforensics.model.table import Column, coded, numbers, spanned
from trtforensics.parsers.lines.events import NO_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from trtforensics.model.span import SourceSpan
    from trtforensics.model.table import Parts
    from trtforensics.parsers.builds.views import Log

    _Tensors = tuple[tuple[str, ...], tuple[str, ...]]

_NAMES, _TYPES = range(2)
"""Where they are of what is read of tensors."""


def onnx_nodes(log: Log, span: Callable[[int], SourceSpan]) -> Parts[OnnxNode]:
    """Read each build's nodes in the log's order. A layer ``required by ONNX-TRT`` belongs to the node being parsed."""
    begins, names, ops = log.columns(("parsing_node",), "node", "op")
    layers: list[list[str]] = [[] for _ in begins]
    places, texts = _of_nodes(log, begins, ("registering_layer", "registering_helper"), "layer")
    for place, layer in zip(places.tolist(), log.texts(texts), strict=True):
        layers[place].append(layer)
    tensors = [_last_texts(log, begins, kind) for kind in ("node_inputs", "node_outputs")]
    named, typed = ([Column(own, partial(_side, log, which)) for own in tensors] for which in (_NAMES, _TYPES))
    columns: dict[str, Sequence[Any]] = {
        "name": log.column(names),
        "op": log.column(ops),
        "layers": coded(map(tuple, layers)),
        **dict(zip(("inputs", "outputs"), named, strict=True)),
        "span.line": numbers(begins),
        **dict(zip(("input_types", "output_types"), typed, strict=True)),
    }
    return log.rows(spanned(OnnxNode, span, columns))


def _last_texts(log: Log, begins: npt.NDArray[np.int64], kind: str) -> npt.NDArray[np.int64]:
    """Return of each node its last text of a kind of line, as an index."""
    places, texts = _of_nodes(log, begins, (kind,), "tensors")
    found = np.full(len(begins), NO_TEXT)
    found[places] = texts
    return found


def _of_nodes(
    log: Log, begins: npt.NDArray[np.int64], kinds: tuple[str, ...], field: str
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int32]]:
    """Return the places of the nodes that lines of some kinds belong to, and a text of each of these, as an index."""
    lines, texts = log.columns(kinds, field)
    places = begins.searchsorted(lines) - 1
    within = np.append(begins, 0)[places] >= log.build_of(lines)  # the last stands for no node
    return places[within], texts[within]


def _side(log: Log, which: int, index: int) -> tuple[str, ...]:
    return _tensors(log.text(index))[which]


@lru_cache(maxsize=4)
def _tensors(text: str) -> _Tensors:
    """Read ``[x -> (1, 3)[FLOAT]], [w -> (3)[HALF]], `` as names and types; an input that is not set has neither."""
    names, types = [], []
    for item in text.strip(" ,").removeprefix("[").split("], ["):
        name, arrow, rest = item.rpartition(" -> (")
        if arrow:
            names.append(name)
            types.append(rest.rpartition("[")[2].rstrip("]"))
    return tuple(names), tuple(types)
