"""Types and sizes of a model by ONNX's inference of shapes, and what that refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx
from onnx import external_data_helper, helper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_INFERRED = 1 << 12
"""Bytes of a constant that inference of shapes may want to read; larger ones are no shapes."""
_QUOTED = 300
_OF_SHAPES = re.compile(r"ShapeInferenceError(?!.*K input must).*(?:ncompatible|ismatch|dimension|[Ss]hape of|rank)")


@dataclass(frozen=True, slots=True)
class ShapeFault:
    """What inference of shapes refuses: its message, and the name of the node where it has one."""

    node: str
    message: str


def inferred(
    model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]], *, strict: bool
) -> tuple[onnx.ModelProto, ShapeFault | None]:
    """Infer types and sizes of a copy without weights; return it as it was where inference refuses, with the reason."""
    light = _without_weights(model)
    for value in light.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value < 0:  # exporters write -1 for a size that is not known; inference computes with it
                dim.ClearField("dim_value")
        if value.name in shapes:
            element = value.type.tensor_type.elem_type
            value.CopyFrom(helper.make_tensor_value_info(value.name, element, list(shapes[value.name])))
    if strict:  # what is stated may be of other shapes, or wrong, and TensorRT does not look at it
        del light.graph.value_info[:]
        for output in light.graph.output:
            output.type.tensor_type.ClearField("shape")
    refused = None
    for data_prop in (True, False):  # what only the propagation of values refuses, it cannot broadcast
        try:
            return onnx.shape_inference.infer_shapes(light, strict_mode=strict, data_prop=data_prop), None
        except onnx.shape_inference.InferenceError as error:
            refused = _fault(str(error)) if strict else None
        except (RuntimeError, ValueError, TypeError):  # what it fails on is no fault of shapes
            refused = None
    return light, refused


def _fault(message: str) -> ShapeFault | None:
    """Return what a message says of shapes; None where it is about anything else."""
    text = " ".join(message.split())
    if _OF_SHAPES.search(text) is None:
        return None
    _, named, rest = text.partition("node name: ")
    return ShapeFault(rest.partition(")")[0] if named else "", text[:_QUOTED])


def _without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy whose constants that are too large for shapes are inputs."""
    graph = onnx.GraphProto(name=model.graph.name)
    graph.node.extend(model.graph.node)
    graph.input.extend(model.graph.input)
    graph.output.extend(model.graph.output)
    graph.value_info.extend(model.graph.value_info)
    listed = {value.name for value in model.graph.input}
    for tensor in model.graph.initializer:
        if tensor.ByteSize() <= _INFERRED and not external_data_helper.uses_external_data(tensor):
            graph.initializer.append(tensor)
        elif tensor.name not in listed:
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    light = onnx.ModelProto(ir_version=model.ir_version, graph=graph)
    light.opset_import.extend(model.opset_import)
    return light
