"""A model taken apart: its nodes in the order in which they can be cut, its constants, its tensors.

The nodes of a subgraph (a branch of ``If``, the body of ``Loop`` or ``Scan``) stand before the node that holds it, so
that every node stands behind all that it reads. Constant nodes become initializers.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import onnx
from onnx import AttributeProto

from trtforensics.onnx_models.graphs import STANDARD, all_nodes, bodies, graphs, initializers, nodes_of, refill
from trtforensics.onnx_models.reading import constant_of, read_unchecked
from trtforensics.onnx_models.samples import Values
from trtforensics.onnx_models.shapes import TensorType, fits, types_of
from trtforensics.onnx_models.streaming import Streamed


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
        reads = [{self.makers[name] for name in free_reads(node.proto) if name in self.makers} for node in self.nodes]
        for node in self.nodes:
            if node.parent is not None:
                reads[node.parent].add(node.index)
        return [frozenset(each - {index}) for index, each in enumerate(reads)]


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


def take_apart(path: str, *, inline: bool = True) -> Original:
    """Read a model and take it apart; it may be invalid. Without ``inline`` a call of a local function is one node."""
    read = read_unchecked(path, inline=inline)
    model = read.proto
    for graph in graphs(model.graph):
        _constants_to_initializers(graph)
    nodes: list[GraphNode] = []
    _flatten(model.graph, nodes)
    return Original(
        path,
        model,
        tuple(nodes),
        {tensor.name: tensor for tensor in initializers(model.graph)},
        {value.name: value for value in model.graph.input},
        {name: node.index for node in nodes for name in node.makes},
        types_of(model),
        read.notes,
        {node.name: node.index for node in nodes},
        read.streamed,
    )


def _flatten(graph: onnx.GraphProto, nodes: list[GraphNode]) -> list[int]:
    """Append the nodes of a graph, each behind those of its subgraphs; return the indexes of the graph's own."""
    indexes = []
    for proto in graph.node:
        bodies_of = [(a.name, _flatten(a.g, nodes)) for a in proto.attribute if a.type == AttributeProto.GRAPH]
        index = len(nodes)
        nodes.append(GraphNode(index, proto, None))
        for body, inner in bodies_of:
            for place in inner:
                nodes[place] = replace(nodes[place], parent=index, body=body)
        indexes.append(index)
    return indexes


def _constants_to_initializers(graph: onnx.GraphProto) -> None:
    kept = []
    for node in graph.node:
        tensor = constant_of(node)
        if tensor is None:
            kept.append(node)
        else:
            graph.initializer.append(tensor)
    if len(kept) < len(graph.node):
        refill(graph, "node", kept)


def constants_to_nodes(graph: onnx.GraphProto, names: Collection[str], ending: str = "") -> None:
    """Make initializers of some names Constant nodes, the first of the graph, in place; ``ending`` ends their names."""
    tensors = [tensor for tensor in graph.initializer if tensor.name in names]
    made = [onnx.helper.make_node("Constant", [], [t.name], name=f"{t.name}{ending}", value=t) for t in tensors]
    refill(graph, "initializer", [tensor for tensor in graph.initializer if tensor.name not in names])
    refill(graph, "node", [*made, *graph.node])


class UnknownValueError(Exception):
    """A tensor cannot be cut: its type cannot be declared, or a value be given, exactly; the message says why."""


def declaration(name: str, known: TensorType | None, value: Values | None = None) -> onnx.ValueInfoProto:
    """Return the declaration of a tensor exactly as its type is known.

    A recorded value's shape stands for a rank that is not known, and for sizes that it shows to be wrong.

    Raises:
        UnknownValueError: the value is of another type, or of a type that ONNX has not.
    """
    if known is not None and known.other:
        return onnx.ValueInfoProto(name=name, type=onnx.TypeProto.FromString(known.other))
    if value is None:
        untyped = onnx.ValueInfoProto(name=name)
        return untyped if known is None else onnx.helper.make_tensor_value_info(name, known.element, known.dims)
    element, dims = _element_of(name, value), None if known is None else known.dims
    if known is not None and known.element != element:
        raise UnknownValueError(f"the tensor {name} would be cut, but its recorded values are {value.dtype}")
    right = dims if dims is not None and fits(value.shape, dims) else value.shape
    return onnx.helper.make_tensor_value_info(name, element, right)


def _element_of(name: str, value: Values) -> int:
    try:
        return int(onnx.helper.np_dtype_to_tensor_dtype(value.dtype))
    except (KeyError, ValueError) as error:
        raise UnknownValueError(f"the tensor {name} would be cut, but {value.dtype} is no type of ONNX") from error


def with_graph(model: onnx.ModelProto, graph: onnx.GraphProto) -> onnx.ModelProto:
    """Return a model of another graph, with those of this one's functions and operator sets that it uses."""
    made = onnx.ModelProto(ir_version=model.ir_version, producer_name="trtforensics")
    called, before = {(node.domain, node.op_type) for node in nodes_of(graph)}, 0
    while len(called) > before:
        before = len(called)
        made.ClearField("functions")
        made.functions.extend(each for each in model.functions if (each.domain, each.name) in called)
        called |= {(node.domain, node.op_type) for node in all_nodes(made)}
    used = {domain for domain, _ in called} | STANDARD
    made.opset_import.extend(entry for entry in model.opset_import if entry.domain in used)
    made.graph.CopyFrom(graph)
    return made
