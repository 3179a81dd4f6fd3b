"""The graph of one build: ONNX nodes, network layers, engine layers, tensors, and the relations between them.

It is a ``networkx.MultiDiGraph``. Node ids are strings with a kind prefix (``onnx:conv1``,
``layer:conv1``, ``engine:conv1 + relu1``, ``tensor:x``); an edge's key is its kind. Attributes that
the log does not state are absent, never None, because not every export can hold None. Other modules
use the methods of :class:`BuildGraph` instead of the attributes' keys.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any

import networkx as nx

from trtforensics.engines.facts import EngineFacts, LayerFacts
from trtforensics.model.log import EngineLayer, EngineTensor, Fusion, OnnxNode
from trtforensics.model.older_python import StrEnum
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.notation.names import is_reformat, members
from trtforensics.render.json_text import Forms, JsonObject, document_of

_PROFILE = re.compile(r" \[profile (\d{1,18})\]\Z")
_REFORMAT_NAME = re.compile(r"Reformat(?:ting CopyNode for|ted) ")


class NodeKind(StrEnum):
    """What a node stands for; the value is the prefix of its id."""

    ONNX = "onnx"
    LAYER = "layer"
    ENGINE = "engine"
    TENSOR = "tensor"


class EdgeKind(StrEnum):
    """The relation that an edge states; the value is its key."""

    PRODUCES = "produces"
    CONSUMES = "consumes"
    IMPORTED_AS = "imported_as"
    FUSED_INTO = "fused_into"
    REFORMATS = "reformats"


def node_id(kind: NodeKind, name: str) -> str:
    """Return the id of the first node of this kind and name (a second node's id ends in `` #2``)."""
    return f"{kind}:{name}"


class BuildGraph:
    """The graph of an engine and its build, with methods in the field's terms.

    Nodes are given by their id, a string; an unknown id raises ``KeyError`` or ``networkx.NetworkXError``. Results are
    in the log's order. Two layers of one name stay two nodes: the second id ends in `` #2``.
    """

    def __init__(self, engine: EngineFacts) -> None:
        self.engine = engine
        self.build = build = engine.build
        self.layers_by_node: dict[str, LayerFacts] = {}
        """The engine layer that each ``engine:`` node stands for, in the order of the dump."""
        self.graph = nx.MultiDiGraph(**_known(schema=2, build=build.index, tensorrt_version=build.tensorrt_version))
        self._add_onnx_nodes()
        self._add_fused_layers()
        self._add_engine_layers()
        self._add_origins()
        self._add_reformats()

    def nodes(self, kind: NodeKind) -> tuple[str, ...]:
        """Return the nodes of a kind."""
        return tuple(node for node in self.graph if self.kind(node) is kind)

    def kind(self, node: str) -> NodeKind:
        """Return what a node stands for."""
        return NodeKind(self.graph.nodes[node]["kind"])

    def name(self, node: str) -> str:
        """Return the name that the log prints, without prefix."""
        return str(self.graph.nodes[node]["name"])

    def layers_of(self, onnx: str) -> tuple[str, ...]:
        """Return the network layers that an ONNX node was imported as."""
        return self._targets(onnx, EdgeKind.IMPORTED_AS)

    def engine_layers_of(self, node: str) -> tuple[str, ...]:
        """Return the engine layers that contain an ONNX node or a network layer."""
        parts = (node, *self.layers_of(node))
        return tuple(dict.fromkeys(layer for part in parts for layer in self._targets(part, EdgeKind.FUSED_INTO)))

    def inputs_of(self, node: str) -> tuple[str, ...]:
        """Return the tensors that an engine layer or an ONNX node reads."""
        return self._sources(node, EdgeKind.CONSUMES)

    def outputs_of(self, node: str) -> tuple[str, ...]:
        """Return the tensors that an engine layer or an ONNX node writes."""
        return self._targets(node, EdgeKind.PRODUCES)

    def producers(self, tensor: str, kind: NodeKind = NodeKind.ENGINE) -> tuple[str, ...]:
        """Return the engine layers (or the ONNX nodes) that write a tensor; none for an input of the network."""
        return tuple(node for node in self._sources(tensor, EdgeKind.PRODUCES) if self.kind(node) is kind)

    def consumers(self, tensor: str, kind: NodeKind = NodeKind.ENGINE) -> tuple[str, ...]:
        """Return the engine layers (or the ONNX nodes) that read a tensor; none for an output of the network."""
        return tuple(node for node in self._targets(tensor, EdgeKind.CONSUMES) if self.kind(node) is kind)

    def _targets(self, node: str, kind: EdgeKind) -> tuple[str, ...]:
        return tuple(target for _, target, key in self.graph.out_edges(node, keys=True) if key == kind)

    def _sources(self, node: str, kind: EdgeKind) -> tuple[str, ...]:
        return tuple(source for source, _, key in self.graph.in_edges(node, keys=True) if key == kind)

    def _add_onnx_nodes(self) -> None:
        """Add the nodes that the ONNX parser read; a node that it read twice (a second parse) is added once."""
        read: dict[tuple[str, str, tuple[str, ...]], OnnxNode] = {}
        for onnx in self.build.onnx_nodes:
            read.setdefault((onnx.name, onnx.op, onnx.outputs), onnx)
        for onnx in read.values():
            node = self._new_node(NodeKind.ONNX, onnx.name, onnx.span, op=onnx.op or None)
            for name in onnx.inputs:
                self._edge(self._node(NodeKind.TENSOR, name, onnx.span), node, EdgeKind.CONSUMES)
            for name in onnx.outputs:
                self._edge(node, self._node(NodeKind.TENSOR, name, onnx.span), EdgeKind.PRODUCES)
            for name in onnx.layers:
                self._edge(node, self._node(NodeKind.LAYER, name, onnx.span), EdgeKind.IMPORTED_AS)

    def _add_fused_layers(self) -> None:
        """Add the network layers that fusions name; some of them are in no engine layer."""
        for fusion in self.build.fusions:
            for name in _members(fusion.inputs):
                self._node(NodeKind.LAYER, name, fusion.span)

    def _add_engine_layers(self) -> None:
        """Add the engine's layers, their tensors (as their producers describe them) and the network layers in them."""
        for facts in self.engine.layers:
            self.layers_by_node[self._new_node(NodeKind.ENGINE, facts.name, facts.span, **_engine_facts(facts))] = facts
        layers = {node: facts.layer for node, facts in self.layers_by_node.items()}
        for node, layer in layers.items():
            for tensor in layer.outputs:
                self._edge(node, self._tensor(tensor, layer), EdgeKind.PRODUCES)
        for node, layer in layers.items():
            for tensor in layer.inputs:
                self._edge(self._tensor(tensor, layer), node, EdgeKind.CONSUMES)
            for name in members(layer.name):
                self._node(NodeKind.LAYER, name, layer.span)

    def _add_origins(self) -> None:
        """Connect network layers and ONNX nodes with the engine layers that contain them, and name the fusions."""
        foreign = {node.name: node.onnx_nodes for node in self.build.foreign_nodes}
        fusions = _fusions_by_member(f for f in self.build.fusions if self.build.may_be_in_engine(f.pass_index))
        for node, facts in self.layers_by_node.items():
            layer = facts.layer
            onnx_names = layer.onnx_nodes or foreign.get(_PROFILE.sub("", layer.name), ())
            from_onnx = frozenset(onnx_names)
            names = dict.fromkeys((*members(layer.name), *onnx_names))
            for name in names:
                taken = [fusion for inputs, fusion in fusions.get(name, ()) if inputs <= names.keys()]
                kinds, lines = [fusion.kind for fusion in taken], [fusion.span.line for fusion in taken]
                member = self._member(name, layer, from_onnx=name in from_onnx)
                self._edge(member, node, EdgeKind.FUSED_INTO, fusions=kinds or None, lines=lines or None)

    def _member(self, name: str, layer: EngineLayer, *, from_onnx: bool) -> str:
        """Return the network layer of this name, else the ONNX node, which is added if only metadata names it."""
        network_layer = node_id(NodeKind.LAYER, name)
        if not from_onnx:
            return network_layer
        onnx = self._node(NodeKind.ONNX, name, layer.span)
        if network_layer not in self.graph:
            return onnx
        self._edge(onnx, network_layer, EdgeKind.IMPORTED_AS)
        return network_layer

    def _add_reformats(self) -> None:
        """Connect each reformat layer with the readers of its outputs, and add the formats that the log prints."""
        announced = {_REFORMAT_NAME.sub("", reformat.name, count=1): reformat for reformat in self.build.reformats}
        for node, facts in self.layers_by_node.items():
            if facts.is_reformat or is_reformat(facts.name):
                reformat = announced.get(_REFORMAT_NAME.sub("", _PROFILE.sub("", facts.name), count=1))
                printed: dict[str, object] = {}
                if reformat is not None:
                    line = reformat.span.line
                    printed = {"from_format": reformat.source, "to_format": reformat.target, "line": line}
                for fed in self._fed_by(facts.layer):
                    self._edge(node, fed, EdgeKind.REFORMATS, **printed)

    def _fed_by(self, layer: EngineLayer) -> Iterable[str]:
        for tensor in layer.outputs:
            made = node_id(NodeKind.TENSOR, tensor.name)
            consumers = [node for node in self.graph.successors(made) if node in self.layers_by_node]
            yield from consumers or [made]

    def _tensor(self, tensor: EngineTensor, layer: EngineLayer) -> str:
        node = self._node(NodeKind.TENSOR, tensor.name, layer.span)
        attributes = self.graph.nodes[node]
        if "dims" not in attributes:
            components = tensor.components if tensor.components > 1 else None
            facts = {"dtype": tensor.dtype or None, "dims": list(tensor.dims), "format": tensor.format or None}
            attributes.update(_known(**facts, components=components))
        return node

    def _node(self, kind: NodeKind, name: str, span: SourceSpan) -> str:
        """Return the first node of this kind and name, added where there is none."""
        node = node_id(kind, name)
        return node if node in self.graph else self._new_node(kind, name, span)

    def _new_node(self, kind: NodeKind, name: str, span: SourceSpan, **facts: object) -> str:
        """Add a further node of this kind and name, with a new id."""
        first = node_id(kind, name)
        node = next(node for node in chain([first], (f"{first} #{n}" for n in count(2))) if node not in self.graph)
        self.graph.add_node(node, kind=kind.value, name=name, file=span.file, line=span.line_in_file, **_known(**facts))
        return node

    def _edge(self, source: str, target: str, kind: EdgeKind, **facts: object) -> None:
        self.graph.add_edge(source, target, key=kind.value, kind=kind.value, **_known(**facts))


def _known(**facts: object) -> dict[str, Any]:
    """Return the facts without those that the log does not state."""
    return {name: fact for name, fact in facts.items() if fact is not None}


def _members(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(member for name in names for member in members(name))


def _profile_number(name: str) -> int | None:
    profile = _PROFILE.search(name)
    return None if profile is None else int(profile[1])


_FORMS: Forms = {"profile_number": _profile_number, "text": lambda word: word and str(word)}


def _engine_facts(facts: LayerFacts) -> JsonObject:
    parts = {"graph_layer": facts, "graph_precision": facts.compute_precision, "graph_choice": facts.choice}
    documents = (document_of(name, part, _FORMS) for name, part in parts.items() if part is not None)
    return {name: fact for document in documents for name, fact in document.items()}


def _fusions_by_member(fusions: Iterable[Fusion]) -> Mapping[str, Sequence[tuple[frozenset[str], Fusion]]]:
    by_member: dict[str, list[tuple[frozenset[str], Fusion]]] = defaultdict(list)
    for fusion in fusions:
        inputs = frozenset(_members(fusion.inputs))
        for name in inputs:
            by_member[name].append((inputs, fusion))
    return by_member
