"""What a model leaves to be worked out becomes explicit: targets of Reshape, and broadcasts.

``--reshape``: known targets of Reshape become plain constants, and ``allowzero`` goes where it has no effect. Before
operator set 14 there is no ``allowzero``: a zero in the target copies the input's size.

``--broadcasts``: implicit broadcasts become explicit nodes before the operator, or constants of the full rank.
TensorRT's elementwise layers and matrix products want inputs of one rank. Constants are not repeated: only their rank
is made explicit. The same holds for all inputs before operator set 8, which brought Expand.
"""

from typing import Any

import numpy as np
import onnx

from trtforensics.onnx_models.graphs import refill
from trtforensics.repairs.graph import RepairedGraph

RESHAPE = "reshape"


def make_reshapes_explicit(graph: RepairedGraph) -> None:
    """Repair every Reshape of the main graph."""
    for node in graph.model.graph.node:
        if graph.operator(node) == "Reshape" and len(node.input) > 1:
            _set_target(graph, node)
            _drop_allowzero(graph, node)
    graph.sweep(RESHAPE)
    graph.look()


def _set_target(graph: RepairedGraph, node: onnx.NodeProto) -> None:
    """Replace a target that copies, infers or computes sizes by the sizes, where all are known."""
    shape, target = graph.static(node.output[0]), graph.value(node.input[1])
    if shape is None or 0 in shape or (target is not None and tuple(target.tolist()) == shape):
        return
    before = "a computed target" if target is None else f"the target {target.tolist()}"
    node.input[1] = graph.add_constant(f"{node.output[0]}_target", np.asarray(shape, np.int64))
    graph.note(RESHAPE, node, f"{before} becomes {list(shape)}, the constant {node.input[1]}", node.input[1])


def _drop_allowzero(graph: RepairedGraph, node: onnx.NodeProto) -> None:
    target = graph.value(node.input[1])
    kept = [attribute for attribute in node.attribute if attribute.name != "allowzero"]
    if len(kept) == len(node.attribute) or target is None or 0 in target.tolist():
        return
    refill(node, "attribute", kept)
    graph.note(RESHAPE, node, "allowzero has no effect and is dropped")


BROADCASTS = "broadcasts"
_ELEMENTWISE = {
    *("Add", "Sub", "Mul", "Div", "Pow", "Mod", "Min", "Max", "Sum", "Mean", "And", "Or", "Xor", "BitShift"),
    *("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Where"),
}
"""Operators whose inputs broadcast to each other in every dimension."""
_FIRST_WITH_EXPAND = 8
_AXES_ARE_INPUTS = 13
_MATRIX = 2


def make_broadcasts_explicit(graph: RepairedGraph) -> None:
    """Give the inputs of each broadcasting operator one rank, and those of elementwise ones one shape."""
    nodes: list[onnx.NodeProto] = []
    for node in graph.nodes:
        if graph.operator(node) in {*_ELEMENTWISE, "MatMul"}:
            _align(graph, node, nodes)
        nodes.append(node)
    graph.replace_nodes(nodes)
    graph.sweep(BROADCASTS)
    graph.look()


def _align(graph: RepairedGraph, node: onnx.NodeProto, nodes: list[onnx.NodeProto]) -> None:
    shapes = [graph.shapes.get(name) for name in node.input]
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or (node.op_type == "MatMul" and min(map(len, known)) < _MATRIX):
        return
    rank = max(map(len, known))
    for place, shape in enumerate(known):
        if len(shape) < rank:
            node.input[place] = _unsqueezed(graph, node, place, rank - len(shape), nodes)
    wanted = graph.static(node.output[0])
    if node.op_type == "MatMul" or wanted is None or graph.opset < _FIRST_WITH_EXPAND:
        return
    for place, shape in enumerate(known):
        full = (1,) * (rank - len(shape)) + shape
        if None not in full and full != wanted and node.input[place] not in graph.constants:
            node.input[place] = _expanded(graph, node, place, wanted, nodes)


def _unsqueezed(graph: RepairedGraph, node: onnx.NodeProto, place: int, count: int, nodes: list[onnx.NodeProto]) -> str:
    name = node.input[place]
    constant = graph.value(name)
    if constant is not None:
        shape = (1,) * count + constant.shape
        full = graph.add_constant(f"{name}_full_rank", constant.reshape(shape))
        graph.note(BROADCASTS, node, f"the constant {name} gets {_ones(count)}", full)
        return full
    unsqueezed = graph.free(f"{name}_unsqueezed")
    node_name = graph.free(f"{node.name or node.op_type}/Unsqueeze_{place}")
    axes: list[str] = []
    attributes: dict[str, Any] = {"axes": list(range(count))}
    if graph.opset >= _AXES_ARE_INPUTS:
        axes = [graph.add_constant(f"{node_name}_axes", np.asarray(attributes.pop("axes"), np.int64))]
    nodes.append(onnx.helper.make_node("Unsqueeze", [name, *axes], [unsqueezed], name=node_name, **attributes))
    graph.note(BROADCASTS, node, f"{node_name} gives {name} {_ones(count)}", unsqueezed, *axes)
    return unsqueezed


def _expanded(
    graph: RepairedGraph, node: onnx.NodeProto, place: int, shape: tuple[int, ...], nodes: list[onnx.NodeProto]
) -> str:
    name = node.input[place]
    expanded = graph.free(f"{name}_expanded")
    node_name = graph.free(f"{node.name or node.op_type}/Expand_{place}")
    target = graph.add_constant(f"{node_name}_shape", np.asarray(shape, np.int64))
    nodes.append(onnx.helper.make_node("Expand", [name, target], [expanded], name=node_name))
    size = "x".join(map(str, shape)) or "a scalar"
    graph.note(BROADCASTS, node, f"{node_name} repeats {name} to {size}", expanded, target)
    return expanded


def _ones(count: int) -> str:
    return "a leading dimension of 1" if count == 1 else f"{count} leading dimensions of 1"
