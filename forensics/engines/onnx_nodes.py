"""The ONNX nodes of an engine, the ForeignNodes that contain them, and the fate of each with the line that says so."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple

from trtforensics.engines.alternatives import Alternatives
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import Build, EngineLayer, Fusion, OnnxNode
from trtforensics.model.older_python import StrEnum
from trtforensics.parsers.notation.names import members

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trtforensics.model.notes import Removal
    from trtforensics.model.span import SourceSpan
    from trtforensics.onnx_models.checked import CheckedModel


def layer_names(build: Build) -> Mapping[str, OnnxNode]:
    """Return the network layers that the ONNX parser registered, each with its node."""
    return {layer: node for node in build.onnx_nodes for layer in node.layers}


def node_operators(build: Build, model: CheckedModel | None) -> dict[str, str]:
    """Return the operator of each ONNX node that the log or the model names; what the log says goes first."""
    of_model = {name: node.op for name, node in model.by_name.items()} if model else {}
    return of_model | {node.name: node.op for node in build.onnx_nodes}


def nodes_of(layer: EngineLayer, operators: Mapping[str, str]) -> tuple[str, ...]:
    """Return a layer's ONNX nodes; where the log does not tell them, the ``operators`` its name is made of."""
    return layer.onnx_nodes or tuple(name for name in members(layer.name) if name in operators)


class HoldingForeignNode(NamedTuple):
    """The ForeignNode that contains an ONNX node: ``listed`` as a member, or suggested by the order of the nodes."""

    name: str
    span: SourceSpan
    listed: bool


def foreign_members(build: Build) -> Mapping[str, HoldingForeignNode]:
    """Return the ForeignNode that contains each ONNX node, without passes that were discarded.

    TensorRT 10 and later list the members. Before, a ForeignNode's name gives its two ends: the nodes between them, in
    the model's order, are its members unless they are on another branch.
    """
    held: dict[str, HoldingForeignNode] = {}
    for foreign in build.foreign_nodes:
        for node in foreign.onnx_nodes if build.may_be_in_engine(foreign.pass_index) else ():
            held.setdefault(node, HoldingForeignNode(foreign.name, foreign.span, listed=True))
    if held:
        return held
    places = {name: at for at, node in enumerate(build.onnx_nodes) for name in (node.name, *node.layers)}
    layers = {layer.name: layer.span for layer in build.engine_layers} or {c.layer: c.span for c in build.choices}
    for name, span in layers.items():
        ends = [places.get(end.split(" + ")[0]) for end in members(name)] if is_foreign_node(name) else []
        if ends and ends[0] is not None and ends[-1] is not None:
            between = build.onnx_nodes[ends[0] : ends[-1] + 1]
            held |= {
                node.name: HoldingForeignNode(name, span, listed=False) for node in between if node.name not in held
            }
    return held


def block_of(names: Sequence[str]) -> str:
    """Return the path that names of ONNX nodes begin with, without the nodes themselves; empty where none.

    Parts of a path stand between ``/``, of a name without ``/`` between ``.``. A name without a path, such as that of
    a node that an exporter adds, does not count where others have one.
    """
    paths = [path for name in names if len(path := _path(name)) > 1]
    ends = zip(min(paths, default=()), max(paths, default=()), strict=False)
    return "/".join(first for first, _ in takewhile(lambda parts: parts[0] == parts[1], ends))


def _path(name: str) -> list[str]:
    parts = name.split("/") if "/" in name else ["", *name.split(".")]
    return parts[:-1] if parts[0] == "" else ["", *parts[:-1]]


_FUSES = "Fusion"
"""A word in the names of the optimisations that put one layer into another."""
_DEAD = "dead-layer removal"


class FateKind(StrEnum):
    """The kinds of fate, as a person would name them."""

    ENGINE = "engine layer"
    FOREIGN = "ForeignNode"
    FUSED = "fused"
    ELIMINATED = "eliminated"
    NO_LAYER = "no layer"
    NOT_TOLD = "?"


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of an ONNX node. ``text`` says it in words; ``layer`` is the engine layer that holds the node."""

    node: OnnxNode
    kind: FateKind
    text: str
    span: SourceSpan
    layer: EngineLayer | None = None

    def mentions(self, needle: str) -> bool:
        """Whether the node's name, operator, layers or fate contain a text in lower case."""
        return any(needle in text.casefold() for text in (self.node.name, self.node.op, self.text, *self.node.layers))


def fates(build: Build) -> tuple[Fate, ...]:
    """Return the fate of every ONNX node that the log names, in the order of the model as far as the log has it."""
    search = _Search(build)
    return tuple(map(search.fate, _nodes(build)))


def _nodes(build: Build) -> Iterable[OnnxNode]:
    """Return the nodes that the parser met, each once, then those that only engine layers or ForeignNodes name."""
    nodes: dict[str, OnnxNode] = {}
    for node in build.onnx_nodes:
        nodes.setdefault(node.name, node)
    named = [
        *((name, layer.span) for layer in build.engine_layers for name in layer.onnx_nodes),
        *(
            (name, node.span)
            for node in build.foreign_nodes
            if build.may_be_in_engine(node.pass_index)
            for name in node.onnx_nodes
        ),
    ]
    for name, span in named:
        nodes.setdefault(name, OnnxNode(name, "", (), (), (), span))
    return nodes.values()


class _Search:
    """Looks nodes up in what a build says of its engine."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._inside = Alternatives(build).inside
        self._by_node: dict[str, list[EngineLayer]] = defaultdict(list)
        self._by_member: dict[str, EngineLayer] = {}
        for layer in build.engine_layers:
            for name in layer.onnx_nodes:
                self._by_node[name].append(layer)
            for name in (layer.name, *members(layer.name)):
                self._by_member.setdefault(name, layer)
        self._foreign = foreign_members(build)
        self._removed = _removed(removal for removal in build.removals if build.may_be_in_engine(removal.pass_index))
        self._fusions: dict[str, list[Fusion]] = defaultdict(list)
        for fusion in build.fusions:
            if build.may_be_in_engine(fusion.pass_index):
                for name in (member for fused in fusion.inputs for member in (fused, *members(fused))):
                    self._fusions[name].append(fusion)
        self._silent = _silently_removed(build)
        self._registers = any(node.layers for node in build.onnx_nodes)

    def fate(self, node: OnnxNode) -> Fate:
        """Return what became of a node."""
        return (
            self._in_engine(node) or self._in_foreign(node) or self._gone(node) or self._fused(node) or self._left(node)
        )

    def _in_engine(self, node: OnnxNode) -> Fate | None:
        holding = self._by_node.get(node.name) or [
            self._by_member[name] for name in (*node.layers, node.name) if name in self._by_member
        ]
        holding = list({id(layer): layer for layer in holding}.values())
        if not holding:
            return None
        layer = holding[0]
        more = f", and {len(holding) - 1} more" if len(holding) > 1 else ""
        inside = self._inside(layer)
        if is_foreign_node(layer.name):
            return Fate(node, FateKind.FOREIGN, f"in {layer.name}{more}", layer.span, layer)
        if inside:
            return Fate(node, FateKind.FOREIGN, f"{layer.name}{more}, a kernel inside {inside}", layer.span, layer)
        return Fate(node, FateKind.ENGINE, f"{layer.name}{more}", layer.span, layer)

    def _in_foreign(self, node: OnnxNode) -> Fate | None:
        held = next((self._foreign[name] for name in (node.name, *node.layers) if name in self._foreign), None)
        if held is None:
            return None
        how = "in" if held.listed else "by the order of the nodes in"
        return Fate(node, FateKind.FOREIGN, f"{how} {held.name}", held.span, self._by_member.get(held.name))

    def _gone(self, node: OnnxNode) -> Fate | None:
        """Return that the optimiser removed every layer of a node that a line names as removed."""
        removed = [self._removed[name] for name in (*node.layers, node.name) if name in self._removed]
        if not removed:
            return None
        last = removed[-1]
        if last.in_favour_of:
            text = f"eliminated, line {last.span.line:,}, {last.in_favour_of} does the same"
            return Fate(node, FateKind.ELIMINATED, text, last.span)
        itself = last.at in {"", last.layer, *members(last.layer)}
        by = f" by {last.by}" if last.by else ""
        if not itself and _FUSES in last.by:
            layer = self._by_member.get(last.at)
            return Fate(node, FateKind.FUSED, f"into {last.at}{by}, line {last.span.line:,}", last.span, layer)
        on = "" if itself else f" on {last.at}"
        return Fate(node, FateKind.ELIMINATED, f"eliminated{by}{on}, line {last.span.line:,}", last.span)

    def _fused(self, node: OnnxNode) -> Fate | None:
        """Follow the fusions of a node's layers to an engine layer; the name of a fusion need not name all members."""
        visited, waiting = {*node.layers, node.name}, [*node.layers, node.name]
        first: Fusion | None = None
        while waiting:
            name = waiting.pop()
            for fusion in self._fusions.get(name, ()):
                first = first or fusion
                for other in (member for fused in fusion.inputs for member in (fused, *members(fused))):
                    if other in self._by_member:
                        text = f"{first.kind} put it into {self._by_member[other].name}"
                        return Fate(node, FateKind.FUSED, text, first.span, self._by_member[other])
                    if other not in visited:
                        visited.add(other)
                        waiting.append(other)
        if first is None:
            return None
        return Fate(node, FateKind.FUSED, f"{first.kind} fused it; in no layer that the log names", first.span)

    def _left(self, node: OnnxNode) -> Fate:
        if not self._build.engine_layers:
            return Fate(node, FateKind.NOT_TOLD, "the log has no engine dump", node.span)
        if not node.layers and self._registers:
            return Fate(node, FateKind.NO_LAYER, "the ONNX parser registered no layer for it", node.span)
        if self._silent is None:
            return Fate(node, FateKind.NOT_TOLD, "in no layer that the log names, and no line removes it", node.span)
        stage, count = self._silent
        text = f"in no layer that the log names; dead-layer removal took {count:,} without a name, line {stage.line:,}"
        return Fate(node, FateKind.NOT_TOLD, text, stage)


def _silently_removed(build: Build) -> tuple[SourceSpan, int] | None:
    """Return the first removal of dead layers that took any, and how many all of them took: they name none."""
    stages = [stage for stage in build.stages if build.may_be_in_engine(stage.pass_index)]
    taken = [
        (after.span, before.layers - after.layers)
        for before, after in pairwise(stages)
        if _DEAD in after.name and after.layers < before.layers
    ]
    return (taken[0][0], sum(count for _, count in taken)) if taken else None


def _removed(removals: Iterable[Removal]) -> Mapping[str, Removal]:
    """Return the removal of each name, also of the members of a removed fusion."""
    return {name: removal for removal in removals for name in (removal.layer, *members(removal.layer))}


def fate_counts(every: Sequence[Fate]) -> dict[FateKind, int]:
    """Return how many nodes have each kind of fate, without kinds that none has."""
    counts = {kind: sum(fate.kind is kind for fate in every) for kind in FateKind}
    return {kind: count for kind, count in counts.items() if count}
