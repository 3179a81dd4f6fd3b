"""``--casts``: chains of Casts become one where the type between holds every value, and Casts to the same type go.

Casts to texts stay as they are: a number has more digits in a wider type.
"""

import onnx
from onnx import TensorProto

from trtforensics.repairs.graph import RepairedGraph, part_of

NAME = "casts"
_HOLDS: dict[int, set[int]] = {
    TensorProto.FLOAT: {TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.INT8, TensorProto.UINT8},
    TensorProto.DOUBLE: {
        *(TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16),
        *(TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.INT32, TensorProto.UINT32),
    },
    TensorProto.INT64: {TensorProto.INT32, TensorProto.INT16, TensorProto.INT8, TensorProto.UINT8, TensorProto.UINT32},
    TensorProto.INT32: {TensorProto.INT16, TensorProto.INT8, TensorProto.UINT8},
}
"""Types that a wider type holds without loss."""
_FLOATING = {TensorProto.DOUBLE, TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16}


def shorten_casts(graph: RepairedGraph) -> None:
    """Repair until nothing changes."""
    while _shorten_once(graph) or _drop_once(graph):
        graph.look()
    graph.sweep(NAME)
    graph.look()


def _shorten_once(graph: RepairedGraph) -> bool:
    """Have a Cast read what the Cast before it reads, where nothing is lost between."""
    makers = {name: node for node in graph.model.graph.node for name in node.output}
    for node in graph.model.graph.node:
        before = makers.get(node.input[0]) if _is_cast(graph, node) else None
        if before is None or not _is_cast(graph, before):
            continue
        first, between = graph.kinds.get(before.input[0]), _target(before)
        if first is not None and _is_lossless(first, between, _target(node)):
            graph.note(NAME, node, f"reads {before.input[0]} itself; {before.name or 'a Cast'} between loses nothing")
            node.input[0] = before.input[0]
            return True
    return False


def _is_lossless(first: int, between: int, last: int) -> bool:
    """Whether a detour changes no value: the type between holds the first, and what it converts to reads alike."""
    # ONNX leaves open what a whole number becomes of a NaN or of a value outside its type: runtimes differ
    if first == between:
        return True
    if first not in _HOLDS.get(between, ()) or last == TensorProto.STRING:
        return False
    floating = {kind in _FLOATING for kind in (first, between)}
    if floating == {True}:
        return last in _FLOATING
    return len(floating) == 1 or last == first


def _drop_once(graph: RepairedGraph) -> bool:
    """Drop a Cast to the type that its input has; its readers read the input."""
    for node in graph.nodes:
        if (
            not _is_cast(graph, node)
            or graph.kinds.get(node.input[0]) != _target(node)
            or graph.is_output(node.output[0])
        ):
            continue
        source, made = node.input[0], node.output[0]
        holders = graph.holders(made)
        names = ", ".join(holder.name or holder.op_type for holder in holders)
        for reader in graph.readers(made):
            reader.input[:] = [source if name == made else name for name in reader.input]
        then = f"; {names} read{'' if ', ' in names else 's'} {source}" if holders else ""
        graph.note(
            NAME,
            node,
            f"is a Cast of {source} to the type that it has, and is dropped{then}",
            *(name for holder in holders for name in part_of(holder)),
        )
        graph.replace_nodes([each for each in graph.nodes if made not in each.output])
        return True
    return False


def _is_cast(graph: RepairedGraph, node: onnx.NodeProto) -> bool:
    return graph.operator(node) == "Cast"


def _target(node: onnx.NodeProto) -> int:
    return int(onnx.helper.get_node_attr_value(node, "to"))
