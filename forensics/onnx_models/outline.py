"""Reads the ONNX model given with a log: its nodes and small initializers; external weights are not loaded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from trtforensics.onnx_models.graphs import load, nodes_of, operator_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    import onnx

    from trtforensics.onnx_models.checked import CheckedModel

_FEW = 64


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

    @cached_property
    def checked(self) -> CheckedModel:
        """The model as rules about models read it; it is read from its file again.

        Raises:
            SourceError: The file cannot be read any more.
        """
        from trtforensics.onnx_models.checked import read_checked  # noqa: PLC0415 - imports onnx, which is slow

        return read_checked(self.path)


def load_model(path: str) -> OnnxModel:
    """Read a model; external data is not opened.

    Raises:
        SourceError: The file cannot be read or is no ONNX model.
    """
    from onnx import TensorProto, numpy_helper  # noqa: PLC0415 - as above

    from trtforensics.onnx_models.shapes import dims_of  # noqa: PLC0415 - imports onnx, which is slow

    model = load(path)
    made = [
        (node.output[0], each) for node in model.graph.node if node.op_type == "Constant" for each in node.attribute
    ]
    constants = [(tensor.name, tensor) for tensor in model.graph.initializer]
    constants += [(name, attribute.t) for name, attribute in made if attribute.name == "value"]
    types = Counter(TensorProto.DataType.Name(tensor.data_type) for tensor in model.graph.initializer)
    inputs = {value.name: dims_of(value) or () for value in model.graph.input}
    return OnnxModel(
        path=path,
        nodes=tuple(map(_node, nodes_of(model.graph))),
        inputs={name: tuple("" if dim is None else dim for dim in dims) for name, dims in inputs.items()},
        opset=operator_set(model),
        constants={
            name: tuple(numpy_helper.to_array(tensor).flatten().tolist())
            for name, tensor in constants
            if _is_small(tensor)
        },
        weight_dims={tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer},
        float_types=tuple(name for name, _ in types.most_common() if "FLOAT" in name or name == "DOUBLE"),
    )


def _node(node: onnx.NodeProto) -> ModelNode:
    integers = {attribute.name: int(attribute.i) for attribute in node.attribute if attribute.type == attribute.INT}
    return ModelNode(node.name, node.op_type, tuple(node.input), tuple(node.output), integers)


def _is_small(tensor: onnx.TensorProto) -> bool:
    integers = tensor.data_type in {tensor.INT32, tensor.INT64}
    return integers and prod(tensor.dims) <= _FEW and tensor.data_location != tensor.EXTERNAL
