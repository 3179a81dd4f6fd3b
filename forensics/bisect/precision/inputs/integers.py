"""What the graph says of integer inputs: they index an axis of some length, or are compared with constants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, numpy_helper

from trtforensics.bisect.precision.casting.preparation import graphs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

INTEGERS = frozenset({TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8, TensorProto.INT8, TensorProto.INT16})
"""The types of inputs that may index."""

_MOVES = frozenset(
    {
        *("Concat", "Expand", "Flatten", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose"),
        *("Unsqueeze",),
    }
)
_MOST_CONSTANTS = 64
"""Longer tables that an input is compared with are no choice of values."""

_INDEX_AXIS = {"Gather": (0, 1), "GatherElements": (0, 1)}
"""The slots of the data and of the indices."""


@dataclass(frozen=True, slots=True)
class IntegerChoice:
    """The values that an integer input may have, and the node that says so."""

    values: range | tuple[int, ...]
    why: str


@dataclass(frozen=True, slots=True)
class _Graph:
    uses: dict[str, list[tuple[onnx.NodeProto, int]]]
    dims: dict[str, Sequence[int | None]]
    constants: dict[str, TensorProto]


def integer_choices(model: onnx.ModelProto) -> dict[str, IntegerChoice]:
    """Return what is known of each integer input: the shortest axis that it indexes, else constants it equals."""
    graph = _surveyed(model)
    integers = [value.name for value in model.graph.input if value.type.tensor_type.elem_type in INTEGERS]
    found = {}
    for name in integers:
        choices = list(_choices(graph, name))
        axes = [choice for choice in choices if isinstance(choice.values, range)]
        equal = [choice for choice in choices if not isinstance(choice.values, range)]
        if axes:
            found[name] = min(axes, key=lambda choice: len(choice.values))
        elif equal:
            values = sorted({value for choice in equal for value in choice.values})
            found[name] = replace(equal[0], values=tuple(values))
    return found


def _choices(graph: _Graph, name: str) -> Iterator[IntegerChoice]:
    ahead, seen = [name], {name}
    while ahead:
        tensor = ahead.pop()
        for node, slot in graph.uses.get(tensor, ()):
            choice = _indexed(graph, node, slot) or _compared(graph, node, slot)
            if choice is not None:
                yield choice
            if (node.op_type in _MOVES and (slot == 0 or node.op_type == "Concat")) or _casts_to_integers(node):
                ahead += [output for output in node.output if output not in seen]
                seen.update(node.output)


def _indexed(graph: _Graph, node: onnx.NodeProto, slot: int) -> IntegerChoice | None:
    if node.op_type == "OneHot" and slot == 0 and node.input[1] in graph.constants:
        depth = int(numpy_helper.to_array(graph.constants[node.input[1]]).ravel()[0])
        return IntegerChoice(range(depth), f"{node.name or node.op_type} has {depth} classes") if depth > 0 else None
    if node.op_type not in _INDEX_AXIS or slot != _INDEX_AXIS[node.op_type][1]:
        return None
    dims = graph.dims.get(node.input[_INDEX_AXIS[node.op_type][0]], ())
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
    length = dims[axis] if -len(dims) <= axis < len(dims) else None
    return None if not length else IntegerChoice(range(length), f"{node.name or node.op_type} looks up one of {length}")


def _compared(graph: _Graph, node: onnx.NodeProto, slot: int) -> IntegerChoice | None:
    if node.op_type != "Equal" or node.input[1 - slot] not in graph.constants:
        return None
    values = numpy_helper.to_array(graph.constants[node.input[1 - slot]]).ravel()
    if not 0 < values.size <= _MOST_CONSTANTS or values.dtype.kind not in "iu":
        return None
    return IntegerChoice(tuple(int(value) for value in values), f"{node.name or node.op_type} compares it with that")


def _casts_to_integers(node: onnx.NodeProto) -> bool:
    return node.op_type == "Cast" and any(
        attribute.name == "to" and attribute.i in INTEGERS for attribute in node.attribute
    )


def _surveyed(model: onnx.ModelProto) -> _Graph:
    found = _Graph({}, {}, {})
    for graph in graphs(model.graph):
        for value in (*graph.input, *graph.output, *graph.value_info):
            dims = value.type.tensor_type.shape.dim
            found.dims[value.name] = [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]
        for tensor in graph.initializer:
            found.dims[tensor.name] = list(tensor.dims)
            found.constants[tensor.name] = tensor
        for node in graph.node:
            _note(node, found)
    return found


def _note(node: onnx.NodeProto, found: _Graph) -> None:
    for slot, name in enumerate(node.input):
        found.uses.setdefault(name, []).append((node, slot))
    for attribute in node.attribute if node.op_type == "Constant" else ():
        if attribute.name == "value":
            found.dims[node.output[0]] = list(attribute.t.dims)
            found.constants[node.output[0]] = attribute.t
        elif attribute.type in {AttributeProto.INT, AttributeProto.INTS}:
            values = np.asarray(attribute.i if attribute.type == AttributeProto.INT else attribute.ints, np.int64)
            found.constants[node.output[0]] = numpy_helper.from_array(values, node.output[0])
