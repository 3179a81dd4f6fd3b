"""From an ONNX model to the network that the emulator builds: which nodes are fused, and which go to a ForeignNode."""

from __future__ import annotations

import os
import pickle
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.emulator.engine.net import Layer, Net, Node, Operation, offers
from tests.emulator.engine.network import FLOAT, HALF

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

KINDS = {
    "Conv": "convolution",
    "MaxPool": "pooling",
    "AveragePool": "pooling",
    "GlobalAveragePool": "pooling",
    "Reshape": "shuffle",
    "Flatten": "shuffle",
    "Transpose": "shuffle",
    "Squeeze": "shuffle",
    "Unsqueeze": "shuffle",
    "TopK": "topk",
}
"""Kind of layer by the operator of its first node; element-wise ones of images are added below."""

ELEMENTWISE = frozenset({"Add", "Sub", "Mul", "Div", "Relu", "Sigmoid", "Tanh", "Clip", "LeakyRelu", "Pow", "Sqrt"})
ACTIVATIONS = frozenset({"Relu", "Clip", "LeakyRelu"})
IMAGE = 4
"""Dimensions of a tensor that has vectorised formats."""

HAS_TACTICS = frozenset({"Conv", "Gemm", "MatMul", "ConvTranspose"})
"""Operators that have a table of tactics inside a ForeignNode."""


class Unsupported(Exception):  # noqa: N818 - says what the model is, not that we failed
    """The parser knows no such model; ``node`` is its index, -1 for the whole model."""

    def __init__(self, message: str, node: int = -1, op: str = "") -> None:
        super().__init__(message)
        self.node = node
        self.op = op


class _Model(NamedTuple):
    nodes: tuple[Node, ...]
    dims: dict[str, tuple[int, ...]]
    half: frozenset[str]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    weights: tuple[str, ...]
    kernels: dict[str, tuple[int, ...]]
    elements: dict[str, tuple[int, tuple[int, ...]]]
    """Number of type and dimensions (0: without a size) of each tensor that has a type in the model."""


KEPT = "EMULATED_TENSORRT_MODELS"
"""The variable that names a folder for what was read of models: only the first of a test's processes imports onnx."""


def to_net(content: bytes, marked: Collection[str] = (), *, eleven: bool = False, typed: bool = False) -> Net:
    """Return the network of a model. A tensor in ``marked`` is an output too, which no fusion swallows.

    ``eleven``: everything goes to ForeignNodes, as in TensorRT 11. ``typed``: the model says every precision.

    Raises:
        Unsupported: It is no ONNX model, or it holds an operator of another domain.
    """
    model = _model(content)
    outputs = (*model.outputs, *(name for name in marked if name not in model.outputs))
    typed = typed or eleven
    groups = _groups(model, frozenset(outputs), eleven=eleven)
    layers = tuple(_layer(model, kind, members, outputs, typed=typed) for kind, members in groups)
    return Net("model", layers, model.dims, model.inputs, outputs, model.weights)


def nodes_of(content: bytes) -> tuple[Node, ...]:
    """Return the model's nodes in order, without constants.

    Raises:
        Unsupported: As to_net.
    """
    return _model(content).nodes


def elements_of(content: bytes) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Return `_Model.elements`.

    Raises:
        Unsupported: As to_net.
    """
    return _model(content).elements


@cache
def _model(content: bytes) -> _Model:
    folder = os.environ.get(KEPT)
    if folder is None or not Path(folder).is_dir():
        return _read(content)
    path = Path(folder, blake2b(content, digest_size=16).hexdigest())
    if path.exists():
        kept: _Model = pickle.loads(path.read_bytes())  # noqa: S301 - written below, in a folder of the tests
        return kept
    model = _read(content)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(pickle.dumps(model))
    unfinished.replace(path)
    return model


def _read(content: bytes) -> _Model:
    import onnx  # noqa: PLC0415 - heavy, and most questions to TensorRT are about no model
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - as above
    from onnx import shape_inference  # noqa: PLC0415 - as above

    try:
        proto = shape_inference.infer_shapes(onnx.load_model_from_string(content), data_prop=True)
    except (DecodeError, shape_inference.InferenceError) as error:
        raise Unsupported("Failed to parse ONNX model from stream") from error
    graph = proto.graph
    dims = {item.name: tuple(item.dims) for item in graph.initializer}
    half = {item.name for item in graph.initializer if item.data_type == onnx.TensorProto.FLOAT16}
    for value in (*graph.input, *graph.output, *graph.value_info):
        tensor = value.type.tensor_type
        dims.setdefault(value.name, tuple(dim.dim_value or 1 for dim in tensor.shape.dim))
        if tensor.elem_type == onnx.TensorProto.FLOAT16:
            half.add(value.name)
    nodes, weights = [], {item.name for item in graph.initializer}
    for index, node in enumerate(graph.node):
        if node.domain not in {"", "ai.onnx"}:
            raise Unsupported(
                "Plugin not found, are the plugin name, version, and namespace correct?", index, node.op_type
            )
        if node.op_type == "Constant":
            weights.update(node.output)
            continue
        inputs = tuple(name for name in node.input if name)
        outputs = tuple(filter(None, node.output))
        nodes.append(Node(node.name or f"{node.op_type}_{index}", node.op_type, inputs, outputs))
    kernels = {node.name: dims.get(node.inputs[1], ())[2:] for node in nodes if node.op == "Conv"}
    inputs = tuple(value.name for value in graph.input if value.name not in weights)
    for made in nodes:
        for name in made.outputs:
            dims.setdefault(name, (1,))
    results = tuple(value.name for value in graph.output)
    typed = shape_inference.infer_shapes(onnx.load_model_from_string(content)).graph
    elements = {
        value.name: (value.type.tensor_type.elem_type, tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim))
        for value in (*typed.input, *typed.output, *typed.value_info)
    }
    return _Model(tuple(nodes), dims, frozenset(half), inputs, results, tuple(sorted(weights)), kernels, elements)


def _groups(model: _Model, outputs: frozenset[str], *, eleven: bool) -> Iterator[tuple[str, list[Node]]]:
    """Yield kind and nodes of each layer: neighbours in the model's order fuse unless that would hide an output."""
    readers: dict[str, int] = {}
    for node in model.nodes:
        for name in set(node.inputs):
            readers[name] = readers.get(name, 0) + 1
    kind, members = "", list[Node]()
    for node in model.nodes:
        wanted = "foreign" if eleven else _kind(model, node)
        if members and not (outputs & set(members[-1].outputs)) and _fuses(kind, members, wanted, node, readers):
            members.append(node)
            continue
        if members:
            yield kind, members
        kind, members = wanted, [node]
    if members:
        yield kind, members


def _kind(model: _Model, node: Node) -> str:
    if node.op in ELEMENTWISE and len(model.dims.get(node.outputs[0], ())) == IMAGE:
        return "pointwise"
    kind = KINDS.get(node.op, "foreign")
    return "convolution 1x1" if kind == "convolution" and set(model.kernels[node.name]) == {1} else kind


def _fuses(kind: str, members: list[Node], wanted: str, node: Node, readers: dict[str, int]) -> bool:
    last = members[-1]
    if kind == "foreign":
        return wanted == "foreign"
    if last.outputs[0] not in node.inputs:
        return False
    alone = readers.get(last.outputs[0]) == 1
    if kind.startswith("convolution"):
        scaled = last.op == "Conv" and node.op == "BatchNormalization"
        return alone and (scaled or (last.op not in ACTIVATIONS and node.op in ACTIVATIONS))
    return kind == "pointwise" and wanted == "pointwise" and (last.op, node.op) == ("Sigmoid", "Mul") and alone


def _layer(model: _Model, kind: str, members: list[Node], outputs: tuple[str, ...], *, typed: bool) -> Layer:
    inside = {name for node in members for name in node.outputs}
    inputs = _distinct(name for node in members for name in node.inputs if name not in inside)
    inputs = tuple(name for name in inputs if name not in model.weights) or inputs[:1]
    last_reads = {name for node in model.nodes if node not in members for name in node.inputs}
    visible = _distinct(name for node in members for name in node.outputs if name in last_reads or name in outputs)
    visible = visible or members[-1].outputs[:1]
    nodes = tuple(members)
    if typed:
        nodes = tuple(node._replace(dtype="Half" if node.outputs[0] in model.half else "Float") for node in members)
    name = _name(kind, nodes)
    dims = model.dims.get(visible[0], (1,))
    ends = len(inputs), len(visible)
    found = offers(kind, ("onnx", name), dims, inputs=ends[0], outputs=ends[1])
    operations = _operations(nodes) if kind == "foreign" else ()
    if typed:
        wanted = HALF if {node.dtype for node in nodes} == {"Half"} else FLOAT
        found = [offer for offer in found if offer.inputs[0].dtype == wanted.dtype]
    return Layer(name, kind, nodes, inputs, visible, tuple(found), operations)


def _name(kind: str, nodes: tuple[Node, ...]) -> str:
    names = [node.name for node in nodes]
    if kind == "foreign":
        return f"{{ForeignNode[{names[0]}...{names[-1]}]}}" if len(names) > 1 else f"{{ForeignNode[{names[0]}]}}"
    if kind == "pointwise" and len(names) > 1:
        return f"PWN(PWN({names[0]}), {names[1]})"
    return " + ".join(names)


def _operations(nodes: tuple[Node, ...]) -> tuple[Operation, ...]:
    """Return the operations of a ForeignNode: each with tactics takes the nodes up to the next; one at least."""
    found: list[list[Node]] = []
    for node in nodes:
        if node.op in HAS_TACTICS or not found:
            found.append([])
        found[-1].append(node)
    return tuple(Operation(members[0].name, tuple(members)) for members in found)


def _distinct(names: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
