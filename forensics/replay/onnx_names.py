"""The nodes of an ONNX model under the names that TensorRT's parser gives their layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.errors import ForensicsError, NotAnOnnxModelError, SourceError
from trtforensics.replay.edges import DataflowNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import onnx


def operators_of(path: str) -> tuple[DataflowNode, ...]:
    """Read a model's nodes, those of subgraphs too; weights are not loaded and stand in no list of inputs.

    A node without a name goes by ``node_of_`` and its first output, as TensorRT's ONNX parser calls it (8.0 and later).

    Raises:
        SourceError: there is no such file, or it cannot be read.
        ForensicsError: it is no ONNX model.
    """
    import onnx  # noqa: PLC0415 - heavy, and needed for this alone
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - as above

    try:
        model = onnx.load(path, format="protobuf", load_external_data=False)  # whatever its ending says
    except OSError as error:
        raise SourceError(path, f"cannot be read ({error.strerror or error})", "Check the path") from error
    except DecodeError as error:
        raise NotAnOnnxModelError(path, "is no ONNX model", "Give the .onnx file that was built") from error
    if not model.graph.node:
        raise ForensicsError(path, "holds no node of an ONNX model", "Give the .onnx file that was built")
    constants = {tensor.name for tensor in model.graph.initializer}
    return tuple(_operators(model.graph.node, constants))


def _operators(nodes: Iterable[onnx.NodeProto], constants: set[str]) -> Iterator[DataflowNode]:
    for node in nodes:
        inputs = tuple(name for name in node.input if name and name not in constants)
        outputs = tuple(name for name in node.output if name)
        if node.op_type == "Constant":
            constants.update(outputs)
        yield DataflowNode(node.name or f"node_of_{outputs[0] if outputs else ''}", inputs, outputs)
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _operators(graph.node, constants | {tensor.name for tensor in graph.initializer})
