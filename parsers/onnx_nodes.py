"""What the ONNX parser said of each node: its operator, its tensors, the network layers made from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trtforensics.model import OnnxNode

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model import SourceSpan
    from trtforensics.parsers.events import View


@dataclass(slots=True)
class _Open:
    name: str
    op: str
    line: int
    layers: list[str] = field(default_factory=list)
    inputs: tuple[tuple[str, str], ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()


def onnx_nodes(view: View, span: Callable[[int], SourceSpan]) -> tuple[OnnxNode, ...]:
    """Read the nodes in the order of the log. A layer ``required by ONNX-TRT`` belongs to the node being parsed."""
    found: list[_Open] = []
    for line, kind, first, second in _lines(view):
        if kind == "parsing_node":
            found.append(_Open(first or "", second, line))
        elif not found:
            continue
        elif kind in {"registering_layer", "registering_helper"}:
            found[-1].layers.append(first)
        elif kind == "node_inputs":
            found[-1].inputs = _tensors(first)
        else:
            found[-1].outputs = _tensors(first)
    return tuple(_closed(node, span(node.line)) for node in found)


def _closed(node: _Open, span: SourceSpan) -> OnnxNode:
    inputs, outputs = (tuple(name for name, _ in tensors) for tensors in (node.inputs, node.outputs))
    input_types, output_types = (tuple(kind for _, kind in tensors) for tensors in (node.inputs, node.outputs))
    return OnnxNode(node.name, node.op, tuple(node.layers), inputs, outputs, span, input_types, output_types)


def _lines(view: View) -> list[tuple[int, str, str, str]]:
    rows = [
        *((line, "parsing_node", node, op) for line, node, op in view.each("parsing_node", "node", "op")),
        *(
            (line, "registering_layer", layer, node)
            for line, layer, node in view.each("registering_layer", "layer", "node")
        ),
        *((line, "registering_helper", layer, "") for line, layer in view.each("registering_helper", "layer")),
        *((line, "node_inputs", tensors, "") for line, tensors in view.each("node_inputs", "tensors")),
        *((line, "node_outputs", tensors, "") for line, tensors in view.each("node_outputs", "tensors")),
    ]
    return sorted(rows, key=lambda row: row[0])


def _tensors(text: str | None) -> tuple[tuple[str, str], ...]:
    """Read ``[x -> (1, 3)[FLOAT]], [w -> (3)[HALF]], `` as names with types; an input that is not set has neither."""
    items = (text or "").strip(" ,").removeprefix("[").split("], [")
    parts = (item.rpartition(" -> (") for item in items)
    return tuple([(name, rest.rpartition("[")[2].rstrip("]")) for name, arrow, rest in parts if arrow])
