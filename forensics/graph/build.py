"""The graph of one build: ONNX nodes, network layers, engine layers, tensors, and the relations between them.

It is a ``networkx.MultiDiGraph``. Node ids are strings with a kind prefix (``onnx:conv1``,
``layer:conv1``, ``engine:conv1 + relu1``, ``tensor:x``); an edge's key is its kind. Attributes that
the log does not state are absent, never None, because not every export can hold None. Other modules
use the methods of :class:`BuildGraph` instead of the attributes' keys.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import networkx as nx

from trtforensics.errors import UsageError
from trtforensics.model.older_python import StrEnum
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.notation.names import members

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trtforensics.model.log import (
        Build,
        BuildLog,
        CachedResult,
        Choice,
        EngineLayer,
        EngineTensor,
        Fusion,
        OnnxNode,
        ReformatLayer,
    )
    from trtforensics.model.span import SourceSpan

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


@dataclass(frozen=True, slots=True)
class FusedMember:
    """A network layer that is part of an engine layer, or an ONNX node where no network layer is known.

    ``fusions`` and ``lines`` are the kinds and lines of the fusions that led to it, in the log's order.
    """

    node: str
    fusions: tuple[str, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True)
class BuildGraph:
    """The graph of a build, with methods in the field's terms.

    Nodes are given by their id, a string; an unknown id raises ``KeyError`` or ``networkx.NetworkXError``. Results are
    in the log's order.
    """

    build: Build
    graph: nx.MultiDiGraph
    layers_by_node: Mapping[str, EngineLayer]
    """The engine layer that each ``engine:`` node stands for, in the order of the dump."""

    def engine_layers(self) -> tuple[str, ...]:
        """Return the engine layers, in the order of the dump."""
        return tuple(self.layers_by_node)

    def nodes(self, kind: NodeKind) -> tuple[str, ...]:
        """Return the nodes of a kind."""
        return tuple(node for node in self.graph if self.kind(node) is kind)

    def kind(self, node: str) -> NodeKind:
        """Return what a node stands for."""
        return NodeKind(self.graph.nodes[node]["kind"])

    def name(self, node: str) -> str:
        """Return the name that the log prints, without prefix."""
        return str(self.graph.nodes[node]["name"])

    def line(self, node: str) -> int:
        """Return the first line that states the node, as its file counts it."""
        return int(self.graph.nodes[node]["line"])

    def engine_layer(self, node: str) -> EngineLayer:
        """Return the engine layer that a node stands for."""
        return self.layers_by_node[node]

    def tuned(self, node: str) -> Choice | CachedResult | None:
        """Return the autotuning result that an engine layer came from; None where the log does not show it."""
        return _tuned(self.build, self.layers_by_node[node])

    def members_of(self, engine: str) -> tuple[FusedMember, ...]:
        """Return the network layers and ONNX nodes that were fused into an engine layer."""
        return tuple(
            FusedMember(source, tuple(edge.get("fusions", ())), tuple(edge.get("lines", ())))
            for source, _, kind, edge in self.graph.in_edges(engine, keys=True, data=True)
            if kind == EdgeKind.FUSED_INTO
        )

    def onnx_nodes_of(self, engine: str) -> tuple[str, ...]:
        """Return the ONNX nodes that an engine layer computes: named by the log, or known through a network layer."""
        found: dict[str, None] = {}
        for member in self.members_of(engine):
            if self.kind(member.node) is NodeKind.ONNX:
                found[member.node] = None
            found.update(dict.fromkeys(self._sources(member.node, EdgeKind.IMPORTED_AS)))
        return tuple(found)

    def layers_of(self, onnx: str) -> tuple[str, ...]:
        """Return the network layers that an ONNX node was imported as."""
        return self._targets(onnx, EdgeKind.IMPORTED_AS)

    def engine_layers_of(self, node: str) -> tuple[str, ...]:
        """Return the engine layers that contain an ONNX node or a network layer."""
        found = dict.fromkeys(self._targets(node, EdgeKind.FUSED_INTO))
        for layer in self.layers_of(node):
            found.update(dict.fromkeys(self._targets(layer, EdgeKind.FUSED_INTO)))
        return tuple(found)

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

    def upstream(self, node: str) -> tuple[str, ...]:
        """Return the nodes of the same kind whose tensors an engine layer or an ONNX node reads."""
        kind = self.kind(node)
        return tuple(dict.fromkeys(p for tensor in self.inputs_of(node) for p in self.producers(tensor, kind)))

    def downstream(self, node: str) -> tuple[str, ...]:
        """Return the nodes of the same kind that read the tensors of an engine layer or an ONNX node."""
        kind = self.kind(node)
        return tuple(dict.fromkeys(c for tensor in self.outputs_of(node) for c in self.consumers(tensor, kind)))

    def reformatted_for(self, engine: str) -> tuple[str, ...]:
        """Return the engine layers that read a reformat layer's outputs; for an output of the network, the tensor."""
        return self._targets(engine, EdgeKind.REFORMATS)

    def _targets(self, node: str, kind: EdgeKind) -> tuple[str, ...]:
        return tuple(target for _, target, key in self.graph.out_edges(node, keys=True) if key == kind)

    def _sources(self, node: str, kind: EdgeKind) -> tuple[str, ...]:
        return tuple(source for source, _, key in self.graph.in_edges(node, keys=True) if key == kind)


def node_id(kind: NodeKind, name: str) -> str:
    """Return the id of the first node of this kind and name (a second node's id ends in `` #2``)."""
    return f"{kind}:{name}"


def select_build(log: BuildLog, number: int | None = None) -> Build:
    """Return the build with a number (from 1); without a number the last with engine layers, else the last.

    Raises:
        UsageError: The log has no such build.
    """
    if number is None:
        complete = [build for build in log.builds if build.engine_layers]
        chosen = (complete or list(log.builds))[-1:]
    else:
        chosen = [build for build in log.builds if build.index + 1 == number]
    if chosen:
        return chosen[0]
    if not log.builds:
        raise UsageError(log.source.path, "it holds no build to graph")
    listed = "; ".join(
        f"{build.index + 1} (lines {build.first_line}-{build.last_line}, {len(build.engine_layers)} engine layers)"
        for build in log.builds
    )
    raise UsageError(log.source.path, f"it has no build {number}", f"Its builds are {listed}")


def build_graph(build: Build) -> BuildGraph:
    """Build the graph of a build.

    Two layers of one name stay two nodes: the second id ends in `` #2``.
    """
    assembly = _Assembly(build)
    assembly.add_onnx_nodes()
    assembly.add_fused_layers()
    assembly.add_engine_layers()
    assembly.add_origins()
    assembly.add_reformats()
    return BuildGraph(build, assembly.graph, assembly.layers)


class _Assembly:
    """The graph under construction; each step needs the nodes of the steps before it."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.layers: dict[str, EngineLayer] = {}
        self.graph = nx.MultiDiGraph(**_known(schema=2, build=build.index, tensorrt_version=build.tensorrt_version))

    def add_onnx_nodes(self) -> None:
        """Add the nodes that the ONNX parser read; a node that it read twice (a second parse) is added once."""
        seen: set[tuple[str, str, tuple[str, ...]]] = set()
        for onnx in self.build.onnx_nodes:
            if (onnx.name, onnx.op, onnx.outputs) not in seen:
                seen.add((onnx.name, onnx.op, onnx.outputs))
                self._add_onnx_node(onnx)

    def _add_onnx_node(self, onnx: OnnxNode) -> None:
        span = onnx.span
        node = self._new_node(NodeKind.ONNX, onnx.name, span, op=onnx.op or None)
        for name in onnx.inputs:
            self._edge(self._node(NodeKind.TENSOR, name, span), node, EdgeKind.CONSUMES)
        for name in onnx.outputs:
            self._edge(node, self._node(NodeKind.TENSOR, name, span), EdgeKind.PRODUCES)
        for name in onnx.layers:
            self._edge(node, self._node(NodeKind.LAYER, name, span), EdgeKind.IMPORTED_AS)

    def add_fused_layers(self) -> None:
        """Add the network layers that fusions name; some of them are in no engine layer."""
        for fusion in self.build.fusions:
            for name in _members(fusion.inputs):
                self._node(NodeKind.LAYER, name, fusion.span)

    def add_engine_layers(self) -> None:
        """Add the engine's layers, their tensors (as their producers describe them) and the network layers in them."""
        for layer in self.build.engine_layers:
            node = self._new_node(NodeKind.ENGINE, layer.name, layer.span, **_engine_facts(self.build, layer))
            self.layers[node] = layer
        for node, layer in self.layers.items():
            for tensor in layer.outputs:
                self._edge(node, self._tensor(tensor, layer), EdgeKind.PRODUCES)
        for node, layer in self.layers.items():
            for tensor in layer.inputs:
                self._edge(self._tensor(tensor, layer), node, EdgeKind.CONSUMES)
            for name in members(layer.name):
                self._node(NodeKind.LAYER, name, layer.span)

    def add_origins(self) -> None:
        """Connect network layers and ONNX nodes with the engine layers that contain them, and name the fusions."""
        foreign = {node.name: node.onnx_nodes for node in self.build.foreign_nodes}
        fusions = _fusions_by_member(_fusions_of_engine(self.build))
        for node, layer in self.layers.items():
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

    def add_reformats(self) -> None:
        """Connect each reformat layer with the readers of its outputs, and add the formats that the log prints."""
        announced = {_REFORMAT_NAME.sub("", reformat.name, count=1): reformat for reformat in self.build.reformats}
        for node, layer in self.layers.items():
            if _is_reformat(layer):
                reformat = announced.get(_REFORMAT_NAME.sub("", _PROFILE.sub("", layer.name), count=1))
                for fed in self._fed_by(layer):
                    self._edge(node, fed, EdgeKind.REFORMATS, **_reformat_facts(reformat))

    def _fed_by(self, layer: EngineLayer) -> Iterable[str]:
        for tensor in layer.outputs:
            made = node_id(NodeKind.TENSOR, tensor.name)
            consumers = [node for node in self.graph.successors(made) if node in self.layers]
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
        if node not in self.graph:
            self.graph.add_node(node, kind=kind.value, name=name, file=span.file, line=span.line_in_file)
        return node

    def _new_node(self, kind: NodeKind, name: str, span: SourceSpan, **facts: object) -> str:
        """Add a further node of this kind and name, with an id of its own."""
        first = node = node_id(kind, name)
        count = 1
        while node in self.graph:
            count += 1
            node = f"{first} #{count}"
        self.graph.add_node(node, kind=kind.value, name=name, file=span.file, line=span.line_in_file, **_known(**facts))
        return node

    def _edge(self, source: str, target: str, kind: EdgeKind, **facts: object) -> None:
        self.graph.add_edge(source, target, key=kind.value, kind=kind.value, **_known(**facts))


def _known(**facts: object) -> dict[str, Any]:
    """Return the facts without those that the log does not state."""
    return {name: fact for name, fact in facts.items() if fact is not None}


def _members(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(member for name in names for member in members(name))


def _tuned(build: Build, layer: EngineLayer) -> Choice | CachedResult | None:
    if layer.choice is not None:
        return build.choices[layer.choice]
    return None if layer.cached is None else build.cached[layer.cached]


def _engine_facts(build: Build, layer: EngineLayer) -> dict[str, object]:
    profile = _PROFILE.search(layer.name)
    facts: dict[str, object] = {
        "type": layer.type or None,
        "output_types": list(layer.output_types),
        "tactic": tactic_text(layer.tactic),
        "tactic_name": layer.tactic_name or None,
        "choice": layer.choice,
        "cached": layer.cached,
        "origin": layer.origin or None,
        "profile": None if profile is None else int(profile[1]),
        "time_ms": layer.time_ms,
        "time_is": layer.time_is and layer.time_is.value,
    }
    if layer.compute_precision is not None:
        known = layer.compute_precision
        facts |= {"compute_precision": known.type, "compute_precision_from": known.source.value}
    tuned = _tuned(build, layer)
    if tuned is not None:
        facts |= {"runner": tuned.runner, "final": tuned.final, "pass": tuned.pass_index}
    return facts


def _fusions_of_engine(build: Build) -> tuple[Fusion, ...]:
    """Return the fusions of the pass that made the engine; all fusions where the log does not show the pass."""
    chosen = {index for index, one in enumerate(build.passes) if one.chosen}
    return tuple(f for f in build.fusions if not chosen or f.pass_index is None or f.pass_index in chosen)


def _fusions_by_member(fusions: Iterable[Fusion]) -> Mapping[str, Sequence[tuple[frozenset[str], Fusion]]]:
    found: dict[str, list[tuple[frozenset[str], Fusion]]] = defaultdict(list)
    for fusion in fusions:
        inputs = frozenset(_members(fusion.inputs))
        for name in inputs:
            found[name].append((inputs, fusion))
    return found


def _is_reformat(layer: EngineLayer) -> bool:
    return layer.type.endswith("Reformat") or layer.name.startswith("Reformatting CopyNode for ")


def _reformat_facts(reformat: ReformatLayer | None) -> dict[str, object]:
    if reformat is None:
        return {}
    return {"from_format": reformat.source, "to_format": reformat.target, "line": reformat.span.line}
