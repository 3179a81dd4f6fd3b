"""The model that fails, taken apart: its nodes in the order in which they can be cut, its constants, its tensors.

The nodes of a subgraph (a branch of ``If``, the body of ``Loop`` or ``Scan``) stand before the node that holds it, so
that every node stands behind all that it reads. Constant nodes become initializers.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import AttributeProto, numpy_helper

from trtforensics.bisect.precision.casting.preparation import bodies, graphs, read_unchecked
from trtforensics.bisect.precision.casting.streaming import references_as_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trtforensics.bisect.precision.casting.streaming import Streamed

    Dims = tuple[int | str | None, ...]

_LARGEST_INFERRED = 256 << 20
"""Bytes of a model that is worth another process for the names of its dimensions."""
_PATIENCE_S = 600
_MADE_UP = "unk__"
"""How onnx's inference begins the names that it makes up for sizes that it cannot tell."""
_CONSTANT_FIELDS = {"value_float", "value_floats", "value_int", "value_ints"}


@dataclass(frozen=True, slots=True)
class TensorType:
    """ONNX's element type, and the dimensions: sizes, names, None where nothing is known; None without a rank."""

    element: int
    dims: Dims | None


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node; ``parent`` is the index of the node that holds it in its attribute ``body``, None in the main graph."""

    index: int
    proto: onnx.NodeProto
    parent: int | None
    body: str = ""

    @property
    def name(self) -> str:
        """Its name, which is unique in the model."""
        return str(self.proto.name)

    @property
    def makes(self) -> tuple[str, ...]:
        """The tensors that it makes."""
        return tuple(name for name in self.proto.output if name)

    def bodies(self) -> Iterator[tuple[str, onnx.GraphProto]]:
        """Yield its subgraphs by the names of their attributes."""
        for attribute in self.proto.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield attribute.name, attribute.g


@dataclass(frozen=True, slots=True)
class Original:
    """A model taken apart.

    ``constants`` holds the initializers of all scopes, ``sources`` the inputs of the main graph, ``types`` what is
    known of each tensor.
    """

    path: str
    model: onnx.ModelProto
    nodes: tuple[GraphNode, ...]
    constants: Mapping[str, onnx.TensorProto]
    sources: Mapping[str, onnx.ValueInfoProto]
    makers: Mapping[str, int]
    types: Mapping[str, TensorType]
    notes: tuple[str, ...] = ()
    by_name: Mapping[str, int] = field(default_factory=dict)
    streamed: Streamed = field(default_factory=dict)
    """The values of constants that stay in their files, by name: those of a model of more than 1.9 GB."""

    def reads(self) -> list[frozenset[int]]:
        """Return for each node the nodes whose results it reads, those inside of it included."""
        found = [{self.makers[name] for name in free_reads(node.proto) if name in self.makers} for node in self.nodes]
        for node in self.nodes:
            if node.parent is not None:
                found[node.parent].add(node.index)
        return [frozenset(each - {index}) for index, each in enumerate(found)]


def free_reads(proto: onnx.NodeProto) -> list[str]:
    """Return the tensors that a node and its subgraphs read from outside of it."""
    names, inside = list(proto.input), {""}
    for body in bodies(proto):
        for scope in graphs(body):
            names += [name for each in scope.node for name in each.input]
            names += [value.name for value in scope.output]
            inside |= {value.name for value in scope.input} | {tensor.name for tensor in scope.initializer}
            inside |= {name for each in scope.node for name in each.output}
    return [name for name in dict.fromkeys(names) if name not in inside]


def take_apart(path: str) -> Original:
    """Read a model and take it apart; it may be invalid.

    Raises:
        SourceError: it cannot be read, or has no nodes.
    """
    read = read_unchecked(path)
    model = read.proto
    for graph in graphs(model.graph):
        _constants_to_initializers(graph)
    nodes: list[GraphNode] = []
    _flatten(model.graph, None, "", nodes)
    return Original(
        path,
        model,
        tuple(nodes),
        {tensor.name: tensor for graph in graphs(model.graph) for tensor in graph.initializer},
        {value.name: value for value in model.graph.input},
        {name: node.index for node in nodes for name in node.makes},
        types_of(model),
        read.notes,
        {node.name: node.index for node in nodes},
        read.streamed,
    )


def types_of(model: onnx.ModelProto) -> dict[str, TensorType]:
    """Return the types of a model's tensors: its own, then those of onnx, then those of ONNX Runtime's inference."""
    types: dict[str, TensorType] = {}
    for each in (model, _inferred(model), _symbolic(model)):
        for graph in graphs(each.graph) if each is not None else ():
            for value in (*graph.input, *graph.output, *graph.value_info):
                _note(types, value)
    return types


def type_of(value: onnx.ValueInfoProto) -> TensorType | None:
    """Return the type of a tensor; None for another kind of value, or where nothing is said."""
    tensor = value.type.tensor_type
    if value.type.WhichOneof("value") != "tensor_type" or not tensor.elem_type:
        return None
    if not tensor.HasField("shape"):
        return TensorType(tensor.elem_type, None)
    return TensorType(tensor.elem_type, tuple(map(_dim, tensor.shape.dim)))


def _dim(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    return str(dim.dim_param) or None


def _note(types: dict[str, TensorType], value: onnx.ValueInfoProto) -> None:
    """Keep the type that says most of each tensor."""
    new, old = type_of(value), types.get(value.name)
    if new is not None and (old is None or _unknown(new) < _unknown(old)):
        types[value.name] = new


def _unknown(known: TensorType) -> int:
    """Return how little a type says; a name that onnx made up says that a size is dynamic, not which one it is."""
    if known.dims is None:
        return 1 << 10
    made_up = sum(isinstance(dim, str) and dim.startswith(_MADE_UP) for dim in known.dims)
    return 2 * sum(dim is None for dim in known.dims) + made_up


def _inferred(model: onnx.ModelProto) -> onnx.ModelProto | None:
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):  # the model may be what is wrong
        return None


def _symbolic(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Return what ONNX Runtime's symbolic inference makes of a model; None where it is not installed or fails.

    It runs as a child process, since it fails on what it does not know in many ways.
    """
    dynamic = any(dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim)
    if not dynamic or importlib.util.find_spec("sympy") is None or model.ByteSize() > _LARGEST_INFERRED:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        before, after = Path(scratch, "before.onnx"), Path(scratch, "after.onnx")
        before.write_bytes(references_as_inputs(model).SerializeToString())
        words = ["--input", str(before), "--output", str(after), "--auto_merge"]
        line = [sys.executable, "-m", "onnxruntime.tools.symbolic_shape_infer", *words]
        subprocess.run(line, capture_output=True, check=False, timeout=_PATIENCE_S)  # noqa: S603 - our interpreter
        return onnx.load(after) if after.exists() else None


def _flatten(graph: onnx.GraphProto, parent: int | None, body: str, nodes: list[GraphNode]) -> None:
    """Append the nodes of a graph, those of subgraphs first."""
    for proto in graph.node:
        inner = [a for a in proto.attribute if a.type == AttributeProto.GRAPH]
        start = len(nodes)
        for attribute in inner:
            _flatten(attribute.g, -1, attribute.name, nodes)
        index = len(nodes)
        for place in range(start, index):
            if nodes[place].parent == -1:
                held = nodes[place]
                nodes[place] = GraphNode(held.index, held.proto, index, held.body)
        nodes.append(GraphNode(index, proto, parent, body))


def _constants_to_initializers(graph: onnx.GraphProto) -> None:
    kept = []
    for node in graph.node:
        tensor = _constant(node)
        if tensor is None:
            kept.append(node)
        else:
            graph.initializer.append(tensor)
    if len(kept) < len(graph.node):
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in kept]
        graph.ClearField("node")
        graph.node.extend(copies)


def _constant(node: onnx.NodeProto) -> onnx.TensorProto | None:
    if node.op_type != "Constant" or node.domain not in {"", "ai.onnx"} or len(node.attribute) != 1:
        return None
    (attribute,) = node.attribute
    if attribute.name == "value":
        tensor = onnx.TensorProto()
        tensor.CopyFrom(attribute.t)
        tensor.name = node.output[0]
        return tensor
    if attribute.name in _CONSTANT_FIELDS:
        kind = np.float32 if "float" in attribute.name else np.int64
        return numpy_helper.from_array(np.asarray(onnx.helper.get_attribute_value(attribute), kind), node.output[0])
    return None
