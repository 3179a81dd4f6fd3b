"""The graphs of a model as messages: nodes with their subgraphs, declarations, constants; copies, other names."""

from __future__ import annotations

from itertools import count
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from trtforensics.errors import NotAnOnnxModelError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    import onnx
    from google.protobuf.message import Message

_Message = TypeVar("_Message", "onnx.ModelProto", "onnx.GraphProto", "onnx.NodeProto", "onnx.TensorProto")
_Place = TypeVar("_Place", bound="Hashable")

STANDARD = frozenset({"", "ai.onnx"})
"""The two spellings of the domain of ONNX's own operators."""

_RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
_TRAINING = 2
"""The place of the input of Dropout that turns it on."""
_GIVE = "Give the .onnx file that TensorRT reads"


def load(path: str) -> onnx.ModelProto:
    """Read the message of a model without weights in other files; a SourceError where it is none or cannot be read."""
    import onnx  # noqa: PLC0415 - slow to import, and not needed for reports without a model
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - comes with onnx

    model, file = onnx.ModelProto(), Path(path)
    try:
        with file.open("rb") as source:  # a pipe has no pages to map
            data = mmap(source.fileno(), 0, access=ACCESS_READ) if file.is_file() else source.read()
            model.ParseFromString(memoryview(data))
    except OSError as error:
        raise SourceError(path, f"cannot be read: {(error.strerror or str(error)).lower()}", _GIVE) from error
    except (DecodeError, ValueError) as error:
        raise NotAnOnnxModelError(path, "is no ONNX model", _GIVE) from error
    if not model.HasField("graph"):
        raise NotAnOnnxModelError(path, "is no ONNX model, it holds no graph", _GIVE)
    return model


def bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """Yield the subgraphs of a node (``If``, ``Loop``, ``Scan``)."""
    for attribute in node.attribute:
        if attribute.type == attribute.GRAPH:
            yield attribute.g
        elif attribute.type == attribute.GRAPHS:
            yield from attribute.graphs


def graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and every subgraph in it, in the order of the file."""
    yield graph
    for node in graph.node:
        for body in bodies(node):
            yield from graphs(body)


def held_nodes(
    graph: onnx.GraphProto | onnx.FunctionProto,
    holder: onnx.NodeProto | None = None,
    numbers: Iterator[int] | None = None,
) -> Iterator[tuple[onnx.NodeProto, onnx.NodeProto | None, int]]:
    """Yield the nodes of a graph and of its subgraphs, each with the node that holds it and its graph's number.

    What a node holds follows it. Graphs are numbered in the order of the file, as :func:`graphs` yields them.
    """
    numbers = numbers or count()
    scope = next(numbers)
    for node in graph.node:
        yield node, holder, scope
        for body in bodies(node):
            yield from held_nodes(body, node, numbers)


def nodes_of(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of a graph and of its subgraphs; those of a subgraph follow the node that holds it."""
    return (node for node, *_ in held_nodes(graph))


def all_nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of a model, those of subgraphs and functions too."""
    for part in (model.graph, *model.functions):
        yield from nodes_of(part)


def defined(graph: onnx.GraphProto) -> list[str]:
    """Return the tensors that a graph itself defines: inputs, constants, results of its nodes."""
    names = [value.name for value in graph.input]
    names += [tensor.name for tensor in graph.initializer]
    names += [tensor.values.name for tensor in graph.sparse_initializer]
    names += [name for node in graph.node for name in node.output if name]
    return list(dict.fromkeys(names))


def initializers(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """Yield the initializers of a graph and of its subgraphs."""
    for scope in graphs(graph):
        yield from scope.initializer


def declarations(graph: onnx.GraphProto) -> Iterator[onnx.ValueInfoProto]:
    """Yield what a graph and its subgraphs state of tensors: inputs, outputs, and tensors between."""
    for scope in graphs(graph):
        yield from (*scope.input, *scope.output, *scope.value_info)


def inside(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes in the subgraphs of a node."""
    for body in bodies(node):
        yield from nodes_of(body)


def rename(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    """Rename tensors in a graph and its subgraphs, in place."""
    for scope in graphs(graph):
        for values in (scope.input, scope.output, scope.initializer, scope.value_info):
            for value in values:
                value.name = names.get(value.name, value.name)
        for node in scope.node:
            node.input[:] = [names.get(name, name) for name in node.input]
            node.output[:] = [names.get(name, name) for name in node.output]


def refill(message: Message, field: str, entries: Iterable[Message]) -> None:
    """Make some messages the only ones of a repeated field, such as ``node``."""
    kept = list(entries)
    message.ClearField(field)
    getattr(message, field).extend(kept)


def read_in(graph: onnx.GraphProto) -> set[str]:
    """Return the tensors that the nodes and outputs of a graph and of its subgraphs read."""
    reads = {name for node in nodes_of(graph) for name in node.input}
    return reads | {value.name for scope in graphs(graph) for value in scope.output}


def holds_graphs(node: onnx.NodeProto) -> bool:
    """Whether a node has subgraphs."""
    return next(bodies(node), None) is not None


def is_random(node: onnx.NodeProto) -> bool:
    """Whether a node, or one in its subgraphs, draws random numbers."""
    return any(_draws(each) for each in (node, *inside(node)))


def _draws(node: onnx.NodeProto) -> bool:
    trains = node.op_type == "Dropout" and len(node.input) > _TRAINING and bool(node.input[_TRAINING])
    return node.domain in STANDARD and (node.op_type in _RANDOM or trains)


def operator_set(model: onnx.ModelProto) -> int:
    """Return the version of ONNX's own operator set; 0 where the model names none."""
    return max((int(entry.version) for entry in model.opset_import if entry.domain in STANDARD), default=0)


def integer(node: onnx.NodeProto, name: str) -> int | None:
    """Return an integer attribute of a node; None where it has none of that name."""
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == name), None)


def copied(message: _Message) -> _Message:
    """Return a copy of a model, or of a part of one."""
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def copied_without(message: _Message, field: str) -> _Message:
    """Return a copy of a message without one of its fields, which may be large."""
    return type(message)(**{each.name: value for each, value in message.ListFields() if each.name != field})


def reachable(starts: Iterable[_Place], onward: Callable[[_Place], Iterable[_Place]]) -> Iterator[_Place]:
    """Yield tensors or nodes and what leads on from them, each once, the nearest first."""
    ahead = list(dict.fromkeys(starts))
    known = set(ahead)
    for place in ahead:
        yield place
        more = [each for each in dict.fromkeys(onward(place)) if each not in known]
        known.update(more)
        ahead += more
