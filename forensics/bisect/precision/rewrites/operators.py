"""The model with operators in the place of chains: the same function, in an operator set that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
from onnx import helper, numpy_helper, version_converter

from trtforensics.bisect.precision.casting.preparation import graphs
from trtforensics.bisect.precision.casting.streaming import key_of
from trtforensics.bisect.precision.rewrites.normalisations import GROUP, LAYER, RMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.bisect.precision.rewrites.normalisations import NormChain

SINCE: Mapping[str, int] = {LAYER: 17, GROUP: 21, RMS: 23}
"""The ONNX operator set that has each operator."""


def with_operators(model: onnx.ModelProto, chains: Sequence[NormChain]) -> onnx.ModelProto | None:
    """Return the model with each chain's operator; None if its operator set cannot be raised."""
    needed = max(SINCE[chain.operator] for chain in chains)
    present = next(entry.version for entry in model.opset_import if entry.domain in {"", "ai.onnx"})
    rewritten = onnx.ModelProto()
    rewritten.CopyFrom(model)
    if present < needed:
        if any(key_of(tensor) is not None for tensor in model.graph.initializer):  # it loses where the values are
            return None
        try:
            rewritten = version_converter.convert_version(model, needed)
        except (RuntimeError, ValueError):  # the converter lacks an operator, or the model does not fit into a message
            return None
    _replace(rewritten.graph, chains)
    rewritten.graph.ClearField("value_info")
    return rewritten


def _replace(graph: onnx.GraphProto, chains: Sequence[NormChain]) -> None:
    gone = {name for chain in chains for name in chain.nodes}
    ends = {chain.result: chain for chain in chains}
    nodes = list(graph.node)
    graph.ClearField("node")
    for node in nodes:
        chain = next((ends[name] for name in node.output if name in ends), None)
        if chain is not None:
            graph.node.append(_operator(chain, node.name, graph))
        elif node.name not in gone:
            graph.node.append(node)
    read = {name for scope in graphs(graph) for node in scope.node for name in node.input}
    read.update(value.name for scope in graphs(graph) for value in scope.output)
    kept = [tensor for tensor in graph.initializer if tensor.name in read]
    graph.ClearField("initializer")
    graph.initializer.extend(kept)


def _operator(chain: NormChain, name: str, graph: onnx.GraphProto) -> onnx.NodeProto:
    """Return the node that replaces a chain, named after its last one; add its constants to the graph."""
    inputs = [chain.source]
    for word, values in (("scale", chain.scale), ("bias", chain.bias)):
        if values is not None:
            graph.initializer.append(numpy_helper.from_array(values, f"{name}.{chain.operator}.{word}"))
            inputs.append(graph.initializer[-1].name)
    where: dict[str, Any] = {"num_groups": chain.groups} if chain.groups else {"axis": chain.axis}
    name = f"{name}.{chain.operator}"
    return helper.make_node(chain.operator, inputs, [chain.result], name=name, epsilon=chain.epsilon, **where)
