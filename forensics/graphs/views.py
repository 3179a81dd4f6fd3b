"""Views of a build's graph: layers (or ONNX nodes) as nodes, and the tensors between them as edges.

The whole graph has tensors as nodes of their own, which is right for programs and hard to look at. A view is a
``networkx.MultiDiGraph`` with the same ids and attributes of nodes. Its edges have the key ``tensor``, and the
attributes ``tensor``, ``dtype``, ``dims``, ``layout`` and ``casts`` (the two ends compute in different types) as far as
they are known. Inputs and outputs of the network stay nodes.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Any

import networkx as nx

from trtforensics.engines.facts import LayerFacts
from trtforensics.errors import UsageError
from trtforensics.graphs.build import BuildGraph, NodeKind
from trtforensics.model.data_types import FLOATING, QUANTISED
from trtforensics.model.layer_types import NO_KERNEL, is_foreign_node
from trtforensics.model.older_python import StrEnum
from trtforensics.parsers.notation.formats import short_layout
from trtforensics.parsers.notation.names import is_reformat, myelin_graph


class View(StrEnum):
    """What the nodes of a picture are."""

    ENGINE = "engine"
    NETWORK = "network"
    ONNX = "onnx"
    ALL = "all"


_COMPUTED = FLOATING | QUANTISED | {"TF32"}


def viewed(graph: BuildGraph, view: View) -> nx.MultiDiGraph:
    """Return a view of a build's graph; ``all`` is the graph itself."""
    if view is View.ALL:
        return graph.graph
    if view is View.NETWORK:
        return _network(graph)
    picture = _flow(graph, NodeKind.ENGINE if view is View.ENGINE else NodeKind.ONNX)
    if view is View.ENGINE:
        _describe(graph, picture)
    return picture


def _flow(graph: BuildGraph, kind: NodeKind) -> nx.MultiDiGraph:
    """Link the nodes of a kind by tensors; where these are unknown, by ``order``, the nodes in that of the log."""
    nodes = graph.nodes(kind)
    flow = nx.MultiDiGraph(**graph.graph.graph)
    flow.add_nodes_from((node, dict(graph.graph.nodes[node])) for node in nodes)
    place = {node: number for number, node in enumerate(nodes)}
    for node in nodes:
        for tensor in dict.fromkeys(graph.inputs_of(node)):
            for source in _writers(tensor, node, place, graph, kind) or [_kept(flow, graph, tensor)]:
                flow.add_edge(source, node, key=f"tensor:{tensor}", **_facts(graph, tensor, source, node))
    if not flow.number_of_edges():
        for source, target in pairwise(nodes):
            flow.add_edge(source, target, key="order", kind="tensor", order=True)
    read = {tensor for node in nodes for tensor in graph.inputs_of(node)}
    for node in nodes:
        for tensor in dict.fromkeys(graph.outputs_of(node)):
            if tensor not in read:
                flow.add_edge(node, _kept(flow, graph, tensor), key=f"tensor:{tensor}", **_facts(graph, tensor))
    return flow


def _writers(tensor: str, reader: str, place: dict[str, int], graph: BuildGraph, kind: NodeKind) -> list[str]:
    """Return who writes a tensor that a node reads: of writers of a name used again, those before the reader."""
    writers = [writer for writer in graph.producers(tensor, kind) if writer != reader]
    before = [writer for writer in writers if place[writer] < place[reader]]
    return before or writers


def _kept(flow: nx.MultiDiGraph, graph: BuildGraph, tensor: str) -> str:
    """Add an input or output of the network as a node."""
    if tensor not in flow:
        flow.add_node(tensor, **graph.graph.nodes[tensor])
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
    if layer is None or layer.compute_precision is None or layer.is_reformat:
        return ""
    known = layer.compute_precision.type
    return known if known in _COMPUTED else ""


def _describe(graph: BuildGraph, flow: nx.MultiDiGraph) -> None:
    """Add to engine layers their share of the time, whether they reformat, and the ForeignNode they belong to."""
    layers = graph.layers_by_node
    inside = _foreign(layers.items())
    for node, layer in layers.items():
        attributes = flow.nodes[node]
        if layer.share is not None:
            attributes["share"] = layer.share
        attributes["reformat"] = layer.is_reformat or is_reformat(layer.name)
        attributes["no_kernel"] = layer.layer.type in NO_KERNEL
        attributes["onnx_nodes"] = list(layer.layer.onnx_nodes)
        attributes["operation"] = layer.kind
        if node in inside:
            attributes["foreign_node"] = inside[node]


def _foreign(layers: Iterable[tuple[str, LayerFacts]]) -> dict[str, str]:
    """Return the ForeignNode of each layer that is one, or is a kernel of one that several kernels were made of."""
    foreign_nodes: dict[str, str] = {}
    kernels: dict[int, list[str]] = defaultdict(list)
    for node, layer in layers:
        number = myelin_graph(layer.name)
        if is_foreign_node(layer.name):
            foreign_nodes[node] = layer.name
        elif number is not None:
            kernels[number].append(node)
    for number, nodes in kernels.items():
        if len(nodes) > 1:
            foreign_nodes.update(dict.fromkeys(nodes, f"ForeignNode {number}"))
    return foreign_nodes


def _network(graph: BuildGraph) -> nx.MultiDiGraph:
    """Return the network's layers, connected as their ONNX nodes are, in the parser's ``order`` inside of one node."""
    network = nx.MultiDiGraph(**graph.graph.graph)
    for node in graph.nodes(NodeKind.LAYER):
        network.add_node(node, **graph.graph.nodes[node])
        into = graph.engine_layers_of(node)
        if into:
            network.nodes[node]["engine_layer"] = graph.name(into[0])
    for onnx in graph.nodes(NodeKind.ONNX):
        layers = graph.layers_of(onnx)
        for source, target in pairwise(layers):
            network.add_edge(source, target, key="order", kind="tensor", order=True)
        for tensor in graph.outputs_of(onnx):
            for reader in graph.consumers(tensor, NodeKind.ONNX):
                theirs = graph.layers_of(reader)
                if layers and theirs:
                    network.add_edge(layers[-1], theirs[0], key=f"tensor:{tensor}", **_facts(graph, tensor))
    return network


_SHOWN = 5


def around(graph: nx.MultiDiGraph, name: str, hops: int, *, where: str) -> nx.MultiDiGraph:
    """Return what is within ``hops`` edges of the ``centre``: a node, that of an ONNX node, or of part of one name."""
    centre = _named(graph, name, where)
    reached = nx.single_source_shortest_path_length(graph.to_undirected(as_view=True), centre, cutoff=hops)
    part = _part(graph, reached)
    part.nodes[centre]["centre"] = True
    return part


def _part(graph: nx.MultiDiGraph, nodes: Collection[str]) -> nx.MultiDiGraph:
    """Return some nodes and the edges between them, in the graph's order, which ``subgraph`` does not keep."""
    part = graph.copy()
    part.remove_nodes_from([node for node in graph if node not in nodes])
    return part


def _named(graph: nx.MultiDiGraph, name: str, where: str) -> str:
    nodes = [(node, str(attributes.get("name", node)), attributes) for node, attributes in graph.nodes(data=True)]
    for fitting in (
        [node for node, label, _ in nodes if label == name],
        [node for node, _, attributes in nodes if name in attributes.get("onnx_nodes", ())],
        [node for node, label, _ in nodes if name.casefold() in label.casefold()],
    ):
        if len(fitting) == 1:
            return str(fitting[0])
        if fitting:
            names = [label for node, label, _ in nodes if node in fitting]
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            what = f"{len(names)} nodes are meant by {name!r}: {'; '.join(names[:_SHOWN])}{more}"
            raise UsageError(where, what, "Name one of them in full")
    raise UsageError(where, f"no node of this view is named {name!r}", "`trtforensics parse` lists the layers")


def top(graph: nx.MultiDiGraph, count: int, *, where: str) -> nx.MultiDiGraph:
    """Return the nodes of most time, connected where nodes left out connect them. UsageError where none has a time."""
    timed = [node for node, attributes in graph.nodes(data=True) if attributes.get("time_ms") is not None]
    if not timed:
        raise UsageError(where, "tells no layer's time", "Give a profile (`--exportProfile`) or a verbose log too")
    slowest = sorted(timed, key=lambda node: -graph.nodes[node]["time_ms"])[:count]
    return only(graph, set(slowest))


def only(graph: nx.MultiDiGraph, nodes: Collection[str]) -> nx.MultiDiGraph:
    """Return some nodes; an edge with the attribute ``hidden`` (a count) stands for the shortest way through others."""
    kept = set(nodes)
    part = _part(graph, kept)
    for node in part.nodes:
        for target, count in _ways(graph, node, kept).items():
            if count and not part.has_edge(node, target):
                part.add_edge(node, target, key="hidden", kind="tensor", hidden=count)
    return part


def _ways(graph: nx.MultiDiGraph, source: str, kept: set[str]) -> dict[str, int]:
    """Return the kept nodes that are reached through nodes that are left out, with how many of those lie between."""
    through = nx.subgraph_view(graph, filter_edge=lambda node, *_: node == source or node not in kept)
    lengths = nx.single_source_shortest_path_length(through, source)
    return {node: length - 1 for node, length in lengths.items() if node in kept and node != source}
