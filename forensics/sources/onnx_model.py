"""Reads the ONNX model given with a log: its nodes and small initializers; external weights are not loaded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trtforensics.errors import NotAnOnnxModelError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import onnx


@dataclass(frozen=True, slots=True)
class ModelNode:
    """A node; ``attributes`` are its integer attributes, such as ``to`` of Cast and ``allowzero`` of Reshape."""

    name: str
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, int]


@dataclass(frozen=True)
class OnnxModel:
    """The nodes of a model in its own order; the nodes of a subgraph follow the node that contains it."""

    path: str
    nodes: tuple[ModelNode, ...]
    inputs: Mapping[str, tuple[int | str, ...]]
    """The dimensions of its inputs; a dynamic dimension is given by its name, or an empty text."""
    opset: int
    constants: Mapping[str, tuple[int, ...]]
    """Initializers of at most 64 integers, by name: shapes and axes."""
    weight_dims: Mapping[str, tuple[int, ...]]
    """The dimensions of its initializers, by name."""
    float_types: tuple[str, ...]
    """The floating types of its initializers, most frequent first, as ONNX spells them (FLOAT, FLOAT16)."""

    @cached_property
    def by_name(self) -> Mapping[str, ModelNode]:
        """The nodes by name; of two nodes with one name, the first."""
        return {node.name: node for node in reversed(self.nodes)}

    @cached_property
    def makers(self) -> Mapping[str, ModelNode]:
        """The node that makes each tensor."""
        return {output: node for node in self.nodes for output in node.outputs}


def load_model(path: str) -> OnnxModel:
    """Read a model; external data is not opened.

    Raises:
        SourceError: The file cannot be read or is no ONNX model.
    """
    import onnx  # noqa: PLC0415 - slow to import, and needed only with --onnx
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - comes with onnx

    try:
        model = onnx.load(path, load_external_data=False)
    except OSError as error:
        what = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise SourceError(path, what, "Name the ONNX model that was built") from error
    except (DecodeError, ValueError) as error:
        raise NotAnOnnxModelError(path, "is no ONNX model", "Name the .onnx file that was built") from error
    if not model.HasField("graph"):
        raise SourceError(path, "is no ONNX model, it holds no graph", "Name the .onnx file that was built")
    return _read(path, model)


def _read(path: str, model: onnx.ModelProto) -> OnnxModel:
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    return OnnxModel(
        path=path,
        nodes=tuple(_nodes(model.graph)),
        inputs={one.name: tuple(_dims(one)) for one in model.graph.input},
        opset=opsets.get("", opsets.get("ai.onnx", 0)),
        constants=dict(_constants(model.graph)),
        weight_dims={tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer},
        float_types=_float_types(model.graph.initializer),
    )


def _nodes(graph: onnx.GraphProto) -> Iterator[ModelNode]:
    for node in graph.node:
        integers = {a.name: int(a.i) for a in node.attribute if a.type == a.INT}
        yield ModelNode(node.name, node.op_type, tuple(node.input), tuple(node.output), integers)
        for attribute in node.attribute:
            for inner in (
                (attribute.g, *attribute.graphs) if attribute.type in {attribute.GRAPH, attribute.GRAPHS} else ()
            ):
                yield from _nodes(inner)


def _dims(value: onnx.ValueInfoProto) -> Iterator[int | str]:
    for dim in value.type.tensor_type.shape.dim:
        yield dim.dim_value if dim.HasField("dim_value") else dim.dim_param


_FEW = 64


def _constants(graph: onnx.GraphProto) -> Iterator[tuple[str, tuple[int, ...]]]:
    from onnx import numpy_helper  # noqa: PLC0415 - slow to import

    small = [tensor for tensor in graph.initializer if _is_small(tensor)]
    yield from ((tensor.name, tuple(numpy_helper.to_array(tensor).flatten().tolist())) for tensor in small)
    for node in graph.node:
        values = [a.t for a in node.attribute if node.op_type == "Constant" and a.name == "value" and _is_small(a.t)]
        yield from ((node.output[0], tuple(numpy_helper.to_array(t).flatten().tolist())) for t in values)


def _is_small(tensor: Any) -> bool:  # noqa: ANN401 - onnx has no types for its messages in older releases
    count = 1
    for size in tensor.dims:
        count *= size
    integers = tensor.data_type in {tensor.INT32, tensor.INT64}
    return integers and count <= _FEW and tensor.data_location != tensor.EXTERNAL


def _float_types(initializers: Iterable[onnx.TensorProto]) -> tuple[str, ...]:
    from collections import Counter  # noqa: PLC0415 - beside its only use

    from onnx import TensorProto  # noqa: PLC0415 - slow to import

    names = (TensorProto.DataType.Name(tensor.data_type) for tensor in initializers)
    return tuple(name for name, _ in Counter(n for n in names if "FLOAT" in n or n == "DOUBLE").most_common())
