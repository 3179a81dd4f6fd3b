"""The ForeignNodes of each build: from their metadata lines (TensorRT >= 10), else from lines that merely name them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model.log import ForeignNode
from trtforensics.parsers.notation.names import is_foreign_node, onnx_nodes, without_profile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from trtforensics.parsers.builds.passes import Passes
    from trtforensics.parsers.builds.views import Lines, Log

_NAMING = ("placement", "timing_runner")
_OPERATION = re.compile(r"[A-Z_0-9]+: (?=\{)")
"""What 8.5 and later print before the name of a layer that they placed."""
_HALF = 32


def foreign_nodes(log: Log, passes: Passes) -> Sequence[tuple[ForeignNode, ...]]:
    """Read each build's ForeignNodes; of one that no metadata line describes, the ONNX nodes are not known."""
    line, layer, metadata = log.columns(("foreign_node",), "layer", "metadata")
    members = log.read_texts(metadata, onnx_nodes)
    spans, indexes = log.spans.of_each(line), passes.indexes(line)
    described = list(map(ForeignNode, log.texts(layer), members, spans, indexes))
    places = zip(log.build_of(line).tolist(), described, strict=True)
    known = {(build, node.pass_index, without_profile(node.name)) for build, node in places}
    return log.divide_records((*described, *_named(log, passes, known)))


def _named(log: Log, passes: Passes, known: set[tuple[int, int | None, str]]) -> Iterator[ForeignNode]:
    """Give the ForeignNodes that are placed on a device, or timed, and not described."""
    line, layer = _first_lines(log)
    names = [_OPERATION.sub("", name, count=1) for name in log.texts(layer)]
    builds = log.build_of(line).tolist()
    for name, build, span, index in zip(names, builds, log.spans.of_each(line), passes.indexes(line), strict=True):
        key = (build, index, without_profile(name))
        if is_foreign_node(name) and key not in known:
            known.add(key)
            yield ForeignNode(name, (), span, index)


def _first_lines(log: Log) -> tuple[Lines, npt.NDArray[np.int32]]:
    """Return the first line of each naming of a layer in each pass, and the layer's text, in the order of lines."""
    line, layer = log.columns(_NAMING, "layer")
    (begun,) = log.columns(("strategy_begin",))
    part = log.build_of(line) + begun.searchsorted(line)
    _, first = np.unique((part << _HALF) + layer, return_index=True)
    first.sort()
    return line[first], layer[first]
