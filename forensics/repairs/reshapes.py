"""``--reshape``: known targets of Reshape become plain constants, and ``allowzero`` goes where it has no effect.

Before operator set 14 there is no ``allowzero``: a zero in the target copies the input's size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trtforensics.onnx_models.graphs import refill

if TYPE_CHECKING:
    import onnx

    from trtforensics.repairs.graph import RepairedGraph

NAME = "reshape"


def make_reshapes_explicit(graph: RepairedGraph) -> None:
    """Repair every Reshape of the main graph."""
    for node in graph.model.graph.node:
        if graph.operator(node) == "Reshape" and len(node.input) > 1:
            _set_target(graph, node)
            _drop_allowzero(graph, node)
    graph.sweep(NAME)
    graph.look()


def _set_target(graph: RepairedGraph, node: onnx.NodeProto) -> None:
    """Replace a target that copies, infers or computes sizes by the sizes, where all are known."""
    shape, target = graph.static(node.output[0]), graph.value(node.input[1])
    if shape is None or 0 in shape or (target is not None and tuple(target.tolist()) == shape):
        return
    before = "a computed target" if target is None else f"the target {target.tolist()}"
    node.input[1] = graph.add_constant(f"{node.output[0]}_target", np.asarray(shape, np.int64))
    graph.note(NAME, node, f"{before} becomes {list(shape)}, the constant {node.input[1]}", node.input[1])


def _drop_allowzero(graph: RepairedGraph, node: onnx.NodeProto) -> None:
    target = graph.value(node.input[1])
    kept = [attribute for attribute in node.attribute if attribute.name != "allowzero"]
    if len(kept) == len(node.attribute) or target is None or 0 in target.tolist():
        return
    refill(node, "attribute", kept)
    graph.note(NAME, node, "allowzero has no effect and is dropped")
