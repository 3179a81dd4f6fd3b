"""Views of a build's graph: layers (or ONNX nodes) as nodes, and the tensors between them as edges.

The whole graph has tensors as nodes of their own, which is right for programs and hard to look at. A view is a
``networkx.MultiDiGraph`` with the same ids and attributes of nodes. Its edges have the key ``tensor``, and the
attributes ``tensor``, ``dtype``, ``dims``, ``layout`` and ``casts`` (the two ends compute in different types) as far as
they are known. Inputs and outputs of the network stay nodes.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import networkx as nx

from trtforensics.graph.build import NodeKind
from trtforensics.model.older_python import StrEnum
from trtforensics.model.operation import operation_of
from trtforensics.model.times import NO_KERNEL
from trtforensics.parsers.notation.layouts import short_layout
from trtforensics.parsers.notation.names import is_foreign_node, is_reformat, myelin_graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.graph.build import BuildGraph
    from trtforensics.model.log import EngineLayer


class View(StrEnum):
    """What the nodes of a picture are."""

    ENGINE = "engine"
    NETWORK = "network"
    ONNX = "onnx"
    ALL = "all"


_FLOAT_ISLANDS = {"Float", "TF32", "Half", "BF16", "BFloat16", "Int8", "FP8", "Int4", "FP4"}


def viewed(graph: BuildGraph, view: View) -> nx.MultiDiGraph:
    """Return a view of a build's graph; ``all`` is the graph itself."""
    if view is View.ALL:
        return graph.graph
    if view is View.NETWORK:
        return _network(graph)
    found = _flow(graph, NodeKind.ENGINE if view is View.ENGINE else NodeKind.ONNX)
    if view is View.ENGINE:
        _describe(graph, found)
    return found


def _flow(graph: BuildGraph, kind: NodeKind) -> nx.MultiDiGraph:
    """Return the nodes of a kind with edges from who writes a tensor to who reads it.

    Where the tensors are unknown, edges with ``order`` link the nodes in the order of the log.
    """
    nodes = graph.engine_layers() if kind is NodeKind.ENGINE else graph.nodes(kind)
    found = nx.MultiDiGraph(**graph.graph.graph)
    found.add_nodes_from((node, dict(graph.graph.nodes[node])) for node in nodes)
    place = {node: number for number, node in enumerate(nodes)}
    for node in nodes:
        for tensor in dict.fromkeys(graph.inputs_of(node)):
            for source in _writers(tensor, node, place, graph, kind) or [_kept(found, graph, tensor)]:
                found.add_edge(source, node, key=f"tensor:{tensor}", **_facts(graph, tensor, source, node))
    if not found.number_of_edges():
        found.add_edges_from((one, other, "order", {"kind": "tensor", "order": True}) for one, other in pairwise(nodes))
    read = {tensor for node in nodes for tensor in graph.inputs_of(node)}
    for node in nodes:
        for tensor in dict.fromkeys(graph.outputs_of(node)):
            if tensor not in read:
                found.add_edge(node, _kept(found, graph, tensor), key=f"tensor:{tensor}", **_facts(graph, tensor))
    return found


def _writers(tensor: str, reader: str, place: dict[str, int], graph: BuildGraph, kind: NodeKind) -> list[str]:
    """Return who writes a tensor that a node reads.

    TensorRT uses a name again after its last reader: of several writers those count that stand before the reader.
    """
    writers = [one for one in graph.producers(tensor, kind) if one != reader]
    before = [one for one in writers if place[one] < place[reader]]
    return before or writers


def _kept(found: nx.MultiDiGraph, graph: BuildGraph, tensor: str) -> str:
    """Add an input or output of the network as a node."""
    if tensor not in found:
        found.add_node(tensor, **graph.graph.nodes[tensor])
    return tensor


def _facts(graph: BuildGraph, tensor: str, source: str = "", target: str = "") -> dict[str, Any]:
    attributes = graph.graph.nodes[tensor]
    facts = {name: attributes[name] for name in ("dtype", "dims") if name in attributes}
    layout = short_layout(attributes.get("format", ""), attributes.get("components", 1))
    if layout:
        facts["layout"] = layout
    ends = [_computes(graph, node) for node in (source, target)]
    if all(ends) and ends[0] != ends[1]:
        facts["casts"] = True
    return {"kind": "tensor", "tensor": graph.name(tensor), **facts}


def _computes(graph: BuildGraph, node: str) -> str:
    """Return the type that an engine layer computes in; empty for reformats, which are changes and no islands."""
    layer = graph.layers_by_node.get(node)
    if layer is None or layer.compute_precision is None or _reformats(layer):
        return ""
    known = layer.compute_precision.type
    return known if known in _FLOAT_ISLANDS else ""


def _reformats(layer: EngineLayer) -> bool:
    return is_reformat(layer.name) or layer.type in {"Reformat", "MyelinReformat"}


def _describe(graph: BuildGraph, found: nx.MultiDiGraph) -> None:
    """Add to engine layers their share of the time, whether they reformat, and the ForeignNode they belong to."""
    layers = graph.layers_by_node
    whole = sum(layer.time_ms or 0.0 for layer in layers.values())
    inside = _foreign(layers.items())
    for node, layer in layers.items():
        attributes = found.nodes[node]
        if layer.time_ms is not None and whole:
            attributes["share"] = layer.time_ms / whole
        attributes["reformat"] = _reformats(layer)
        attributes["no_kernel"] = layer.type in NO_KERNEL
        attributes["onnx_nodes"] = list(layer.onnx_nodes)
        attributes["operation"] = operation_of(layer)
        if node in inside:
            attributes["foreign_node"] = inside[node]


def _foreign(layers: Iterable[tuple[str, EngineLayer]]) -> dict[str, str]:
    """Return the ForeignNode of each layer that is one, or is a kernel of one that several kernels were made of."""
    found: dict[str, str] = {}
    kernels: dict[int, list[str]] = defaultdict(list)
    for node, layer in layers:
        number = myelin_graph(layer.name)
        if is_foreign_node(layer.name):
            found[node] = layer.name
        elif number is not None:
            kernels[number].append(node)
    for number, nodes in kernels.items():
        if len(nodes) > 1:
            found.update(dict.fromkeys(nodes, f"ForeignNode {number}"))
    return found


def _network(graph: BuildGraph) -> nx.MultiDiGraph:
    """Return the network's layers, connected as their ONNX nodes are; ``engine_layer`` names what each became.

    No log tells the tensors between the layers of one ONNX node: edges with ``order`` only say in which order the
    parser made them.
    """
    found = nx.MultiDiGraph(**graph.graph.graph)
    for node in graph.nodes(NodeKind.LAYER):
        found.add_node(node, **graph.graph.nodes[node])
        into = graph.engine_layers_of(node)
        if into:
            found.nodes[node]["engine_layer"] = graph.name(into[0])
    for onnx in graph.nodes(NodeKind.ONNX):
        own = graph.layers_of(onnx)
        for one, other in pairwise(own):
            found.add_edge(one, other, key="order", kind="tensor", order=True)
        for tensor, reader in _readers(graph, onnx):
            theirs = graph.layers_of(reader)
            if own and theirs:
                facts = _facts(graph, tensor)
                found.add_edge(own[-1], theirs[0], key=f"tensor:{tensor}", **facts)
    return found


def _readers(graph: BuildGraph, onnx: str) -> Iterator[tuple[str, str]]:
    for tensor in graph.outputs_of(onnx):
        for reader in graph.consumers(tensor, NodeKind.ONNX):
            yield tensor, reader
