"""``--fold``: what only constants and known shapes decide becomes a constant, and inferred shapes are written down.

Quantized constants stay so: TensorRT takes the type of a layer from the nodes that quantize its inputs.
"""

from typing import Any

import numpy as np
import onnx

from trtforensics.onnx_models.cutting import with_graph
from trtforensics.onnx_models.graphs import holds_graphs, is_random
from trtforensics.onnx_models.running import run_model
from trtforensics.onnx_models.samples import Values
from trtforensics.repairs.graph import DEFAULTS_SINCE, RepairedGraph

NAME = "fold"
_GROWTH = 1 << 20
"""Bytes by which a folded constant may be larger than what it is made of."""
_QUANTIZING = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}


def fold(graph: RepairedGraph) -> None:
    """Fold until nothing changes, then write inferred types and shapes into the model."""
    while _fold_once(graph):
        graph.look()
    graph.sweep(NAME)
    graph.write_shapes(NAME)


def _fold_once(graph: RepairedGraph) -> bool:
    kept = []
    for node in graph.nodes:
        stays = any(map(graph.is_output, node.output)) or not graph.constants.keys().isdisjoint(node.output)
        values = None if stays else _values(graph, node)
        if values is None:
            kept.append(node)
            continue
        for name, value in zip(node.output, values, strict=True):
            if name:
                graph.model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(value), name))
                graph.constants[name] = graph.model.graph.initializer[-1]
        graph.note(NAME, node, f"{node.op_type} becomes a constant, {_spelled(values[0])}")
    if len(kept) == len(graph.nodes):
        return False
    graph.replace_nodes(kept)
    return True


def _values(graph: RepairedGraph, node: onnx.NodeProto) -> list[Values] | None:
    """Return a node's results if constants and known shapes decide them, and they are not much larger than those."""
    operator = graph.operator(node)
    shape = graph.static(node.input[0]) if operator == "Shape" else None
    if shape is not None:
        bounds = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        return [np.asarray(shape[slice(bounds.get("start"), bounds.get("end"))], np.int64)]
    if not operator or operator in _QUANTIZING or is_random(node) or holds_graphs(node):
        return None
    if not all(name in graph.constants for name in node.input if name):
        return None
    ran = run_model(_alone(graph, node), {})
    if isinstance(ran, str):
        return None
    if any(graph.kinds.get(name, 0) != _element_of(value) for name, value in ran.items()):
        return None
    values = [ran[name] if name else np.empty(0) for name in node.output]
    before = sum(len(graph.constants[name].SerializeToString()) for name in node.input if name)
    return values if sum(value.nbytes for value in values) <= before + _GROWTH else None


def _element_of(value: Any) -> int | None:  # noqa: ANN401 - a list where the result is a sequence
    """Return ONNX's element type of a tensor; None for what is no tensor."""
    return onnx.helper.np_dtype_to_tensor_dtype(value.dtype) if isinstance(value, np.ndarray) else None


def _alone(graph: RepairedGraph, node: onnx.NodeProto) -> onnx.ModelProto:
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    constants = [graph.constants[name] for name in dict.fromkeys(node.input) if name]
    model = with_graph(graph.model, onnx.helper.make_graph([node], "folded", [], outputs, constants))
    model.ir_version = max(model.ir_version, DEFAULTS_SINCE)
    return model


def _spelled(value: Values) -> str:
    return f"{value.dtype} of shape {'x'.join(map(str, value.shape))}" if value.ndim else f"a scalar of {value.dtype}"
