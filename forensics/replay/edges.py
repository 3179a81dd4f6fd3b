"""The tensors between layers, which a replay does not state: from a log, an ONNX model or layer information."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trtforensics.console.counting import grouped
from trtforensics.errors import ForensicsError
from trtforensics.model.log import Build, EngineLayer
from trtforensics.model.replay import ReplayEntry
from trtforensics.onnx_models.graphs import initializers, load, nodes_of
from trtforensics.parsers.files.layer_json import read_layer_json
from trtforensics.parsers.notation.names import is_reformat, members
from trtforensics.parsers.text.document import read_document


@dataclass(frozen=True, slots=True)
class DataflowNode:
    """A layer with the names of the tensors it reads and writes; a ForeignNode may be several nodes of one name."""

    layer: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DataflowEdge:
    """A tensor from one layer to another; ``output`` and ``input`` are its indexes in the two layers' lists."""

    producer: str
    output: int
    consumer: str
    input: int
    tensor: str


@dataclass(frozen=True, slots=True)
class Meeting:
    """The formats at both ends of an edge between two entries of a replay; a format that is not known is empty."""

    edge: DataflowEdge
    leaves: str
    enters: str

    @property
    def differs(self) -> bool:
        """Whether the tensor leaves one layer in another format than it enters the next."""
        return bool(self.leaves and self.enters) and self.leaves != self.enters


def edges_between(nodes: Sequence[DataflowNode]) -> tuple[DataflowEdge, ...]:
    """Return the edges between layers, through TensorRT's reformats, which a replay may lack."""
    writers = {tensor: (node, place) for node in nodes for place, tensor in enumerate(node.outputs)}
    edges: dict[DataflowEdge, None] = {}
    for node in nodes:
        if is_reformat(node.layer):
            continue
        for place, tensor in enumerate(node.inputs):
            writer = writers.get(tensor)
            followed = set()
            while writer is not None and is_reformat(writer[0].layer) and writer[0].inputs and tensor not in followed:
                followed.add(tensor)
                tensor = writer[0].inputs[0]  # noqa: PLW2901 - follows the tensor to before the reformat
                writer = writers.get(tensor)
            if writer is not None and writer[0].layer != node.layer and not is_reformat(writer[0].layer):
                edges[DataflowEdge(writer[0].layer, writer[1], node.layer, place, tensor)] = None
    return tuple(edges)


def meetings(
    edges: Iterable[DataflowEdge], nodes: Sequence[DataflowNode], entries: Mapping[str, ReplayEntry]
) -> list[Meeting]:
    """Return the edges between entries with the format on either side.

    The tensors of an entry correspond to those of its node by index, so only where both have equally many.
    """
    by_layer = grouped(nodes, lambda node: node.layer)
    between = []
    for edge in edges:
        producer, consumer = entries.get(edge.producer), entries.get(edge.consumer)
        if producer is None or consumer is None:
            continue
        leaves = enters = ""
        writers, readers = by_layer[edge.producer], by_layer[edge.consumer]
        if len(writers) == 1 and len(writers[0].outputs) == len(producer.outputs):
            leaves = producer.outputs[edge.output].text
        if len(readers) == 1 and len(readers[0].inputs) == len(consumer.inputs):
            enters = consumer.inputs[edge.input].text
        between.append(Meeting(edge, leaves, enters))
    return between


def nodes_of_build(build: Build) -> tuple[DataflowNode, ...]:
    """Return the layers of a build's engine; a Myelin kernel has the name of its ForeignNode where that is known."""
    nodes = []
    for layer in build.engine_layers:
        name = layer.name
        if layer.choice is not None:
            name = build.choices[layer.choice].layer
        elif layer.cached is not None and not is_reformat(layer.name):
            name = build.cached[layer.cached].layer
        nodes.append(_node(layer, name))
    return tuple(nodes)


def _node(layer: EngineLayer, name: str) -> DataflowNode:
    return DataflowNode(name, tuple(t.name for t in layer.inputs), tuple(t.name for t in layer.outputs))


def nodes_of_layer_info(path: str, *, max_bytes: int) -> tuple[DataflowNode, ...]:
    """Return the layers of a detailed engine-layer JSON (``--exportLayerInfo``, TensorRT 8.2 to 10).

    Raises:
        SourceError: it cannot be read.
        NotEngineInfoError: it is no such JSON.
        ForensicsError: it has only the names of layers.
    """
    engine = read_layer_json(read_document(path, max_bytes=max_bytes)).engines[-1]
    if not engine.detailed:
        next_step = "Give what `trtexec --exportLayerInfo --profilingVerbosity=detailed` writes"
        raise ForensicsError(path, "holds no detailed layer information", next_step)
    return tuple(_node(layer, layer.name) for layer in engine.layers)


def operators_of(path: str) -> tuple[DataflowNode, ...]:
    """Read a model's nodes, those of subgraphs too; constants stand in no list of inputs.

    A node without a name goes by ``node_of_`` and its first output, as TensorRT's ONNX parser calls it (8.0 and later).
    """
    graph = load(path).graph
    nodes = list(nodes_of(graph))
    constants = {tensor.name for tensor in initializers(graph)} | {""}
    constants.update(name for node in nodes for name in node.output if node.op_type == "Constant")
    operators = []
    for node in nodes:
        outputs = tuple(name for name in node.output if name)
        name = node.name or f"node_of_{outputs[0] if outputs else ''}"
        operators.append(DataflowNode(name, tuple(name for name in node.input if name not in constants), outputs))
    return tuple(operators)


def nodes_of_model(operators: Iterable[DataflowNode], layers: Iterable[str]) -> tuple[DataflowNode, ...]:
    """Return layers as nodes, by the ONNX operators fused into them: the tensors that enter and leave each layer.

    ``operators`` are the model's nodes. Tensors inside a layer are left out; a ForeignNode's members are not known.
    """
    by_name = {operator.layer: operator for operator in operators}
    readers: dict[str, set[str]] = defaultdict(set)
    for operator in by_name.values():
        for tensor in operator.inputs:
            readers[tensor].add(operator.layer)
    nodes = []
    for layer in layers:
        inside = [by_name[name] for name in members(layer) if name in by_name]
        names = {operator.layer for operator in inside}
        written = [tensor for operator in inside for tensor in operator.outputs]
        read = [tensor for operator in inside for tensor in operator.inputs if tensor not in written]
        leaving = [tensor for tensor in written if not readers[tensor] or readers[tensor] - names]
        nodes.append(DataflowNode(layer, tuple(dict.fromkeys(read)), tuple(leaving)))
    return tuple(nodes)
