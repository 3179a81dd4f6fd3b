"""Which passes, network layers and ForeignNodes of a build an ONNX node belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trtforensics.parsers.notation.names import is_foreign_node, members

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.model.log import Build, EngineLayer, OnnxNode
    from trtforensics.model.span import SourceSpan
    from trtforensics.sources.onnx_model import OnnxModel


def in_engine(build: Build, pass_index: int | None) -> bool:
    """Whether a pass may have made the engine: the log does not say that it was discarded."""
    return pass_index is None or build.passes[pass_index].chosen is not False


def layer_names(build: Build) -> Mapping[str, OnnxNode]:
    """Return the network layers that the ONNX parser registered, each with its node."""
    return {layer: node for node in build.onnx_nodes for layer in node.layers}


def node_operators(build: Build, model: OnnxModel | None) -> dict[str, str]:
    """Return the operator of each ONNX node that the log or the model names; what the log says goes first."""
    of_model = {node.name: node.op for node in model.nodes} if model else {}
    return of_model | {node.name: node.op for node in build.onnx_nodes}


def nodes_of(layer: EngineLayer, operators: Mapping[str, str]) -> tuple[str, ...]:
    """Return a layer's ONNX nodes; where the log does not tell them, the ``operators`` its name is made of."""
    return layer.onnx_nodes or tuple(name for name in members(layer.name) if name in operators)


class HoldingForeignNode(NamedTuple):
    """The ForeignNode that contains an ONNX node.

    ``listed``: the log lists its members; otherwise the order of the nodes suggests them.
    """

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
        for node in foreign.onnx_nodes if in_engine(build, foreign.pass_index) else ():
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
