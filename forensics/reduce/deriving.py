"""Makes the model of a probe: the nodes that are kept, with recorded values where a tensor was cut.

A cut tensor becomes an input; it becomes a constant where nothing but constants and shapes decide its value, since
TensorRT wants weights, axes and target shapes so. A node of a subgraph whose holder is not kept moves into the graph
around it. What is left has the interface that its nodes need: inputs that are read, outputs that nobody reads, those
of the original first and in its order.

ONNX Runtime records the values on one sample. A model that it does not run as a whole runs node by node, as far as its
nodes run. Both branches of an ``If`` run, and the first iteration of a ``Loop`` or ``Scan``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import AttributeProto, external_data_helper, numpy_helper

from trtforensics.console.counting import counted
from trtforensics.onnx_models import cutting
from trtforensics.onnx_models.drawing import random_samples
from trtforensics.onnx_models.graphs import (
    all_nodes,
    copied,
    graphs,
    initializers,
    is_random,
    load,
    nodes_of,
    read_in,
    refill,
)
from trtforensics.onnx_models.reading import constant_of
from trtforensics.onnx_models.running import failures, first_line, session_of
from trtforensics.onnx_models.samples import Sample, Values
from trtforensics.onnx_models.shapes import is_static
from trtforensics.onnx_models.streaming import Streamed, digest_of, held
from trtforensics.reduce.simplifying import PASSED, Aspect, Simplification, made_up_names, relevant_to, simplify

_TENSORS_A_RUN = 256
"""How many tensors one run returns, so that ONNX Runtime need not hold all of them at once."""


@dataclass(slots=True)
class Recording:
    """Values of a model by tensor; ``why`` says what ONNX Runtime stopped at, "" if it runs the whole model."""

    original: cutting.Original
    values: dict[str, Values]
    why: str = ""

    def run(self, nodes: Sequence[cutting.GraphNode]) -> None:
        """Run the nodes of one graph, whose inputs have values, then the subgraphs in it."""
        whole = self._tried(nodes)
        if whole:
            self.why = self.why or whole
            for node in nodes:
                self._tried([node])
        for node in nodes:
            for name, body in node.bodies():
                self._enter(node, body)
                inner = [each for each in self.original.nodes if each.parent == node.index and each.body == name]
                self.run(inner)

    def _enter(self, node: cutting.GraphNode, body: onnx.GraphProto) -> None:
        """Give the inputs of a Loop's or Scan's body the values of the first iteration."""
        given = [self._value(name) for name in node.proto.input]
        if node.proto.op_type == "Loop":
            first: list[Values | None] = [np.asarray(0, np.int64), np.asarray(True), *given[2:]]  # noqa: FBT003 - a value
        elif node.proto.op_type == "Scan":
            scanned = onnx.helper.get_node_attr_value(node.proto, "num_scan_inputs")
            states = len(given) - scanned
            first = [*given[:states], *(None if each is None else each[0] for each in given[states:])]
        else:
            return
        for value, array in zip(body.input, first, strict=False):
            if array is not None:
                self.values[value.name] = np.asarray(array)

    def _value(self, name: str) -> Values | None:
        if name in self.original.streamed:
            return self.original.streamed[name]
        tensor = self.original.constants.get(name)
        if tensor is not None:
            return np.asarray(onnx.numpy_helper.to_array(tensor))
        return self.values.get(name)

    def _tried(self, nodes: Sequence[cutting.GraphNode]) -> str:
        """Run nodes as one model; return why that fails, or ""."""
        try:
            model, missing = self._model(nodes)
        except cutting.UnknownValueError as error:
            return str(error)
        if missing:
            return f"the value of {missing} is not known"
        try:
            session = session_of(model, self.original.streamed)
            names = [each.name for each in session.runtime.get_outputs() if each.type.startswith("tensor(")]
            fed = (each.name for each in session.runtime.get_inputs() if each.name not in session.weights)
            feed = {name: self.values[name] for name in fed}
            for start in range(0, len(names), _TENSORS_A_RUN):
                outputs = session.run(feed, names[start : start + _TENSORS_A_RUN])
                self.values.update((name, np.asarray(value)) for name, value in outputs.items())
        except failures() as error:
            return first_line(error)
        return ""

    def _model(self, nodes: Sequence[cutting.GraphNode]) -> tuple[onnx.ModelProto, str]:
        """Return a model of nodes with all their results as outputs, and a tensor that has no value."""
        made = {name for node in nodes for name in node.makes}
        needed = list(
            dict.fromkeys(name for node in nodes for name in cutting.free_reads(node.proto) if name not in made)
        )
        constants = [name for name in needed if name in self.original.constants]
        fed = [name for name in needed if name not in self.original.constants]
        missing = next((name for name in fed if name not in self.values), "")
        graph = onnx.helper.make_graph(
            [node.proto for node in nodes],
            "recorded",
            [] if missing else [cutting.declaration(name, None, self.values[name]) for name in fed],
            [onnx.ValueInfoProto(name=name) for name in made],
            [self.original.constants[name] for name in constants],
        )
        return cutting.with_graph(self.original.model, graph), missing


def record(original: cutting.Original, sample: Sample) -> Recording:
    """Run a model on a sample, and keep the value of each tensor that ONNX Runtime gets to."""
    recording = Recording(original, dict(sample))
    recording.run([node for node in original.nodes if node.parent is None])
    return recording


_SMALL = 64
"""Elements of an integer tensor that is taken to be a shape or an index, and stays a constant where it is cut."""

_WHOLE = {onnx.TensorProto.INT64, onnx.TensorProto.INT32}
_SHAPES = {"Shape", "Size"}

Host = tuple[int, str] | None
"""Where a node stands in a derived model: a node that holds it and its attribute, or the main graph."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A model, a value for each of its inputs, and the values of the constants that stay outside of it, by key."""

    model: onnx.ModelProto
    inputs: Mapping[str, Values]
    streamed: Streamed = field(default_factory=dict)


@dataclass(slots=True)
class Deriver:
    """Makes models of some nodes of an original, whose tensors have recorded values."""

    original: cutting.Original
    recording: Recording
    simplifications: tuple[Simplification, ...] = ()
    file: ModelFile | None = None
    renames: Mapping[str, str] = field(init=False)
    """The made-up name of each name, where names may be replaced."""
    _settled: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._settled = _settled(self.original)
        anonymous = any(each.aspect is Aspect.NAMES for each in self.simplifications)
        self.renames = made_up_names(self.original) if anonymous else {}

    def derive(self, active: Collection[int]) -> Derived:
        """Return the model of some items; an UnknownValueError where a tensor would not be cut exactly."""
        count = len(self.original.nodes)
        derived = self._cut(frozenset(index for index in active if index < count))
        simpler = [each for index, each in enumerate(self.simplifications, count) if index not in active]
        streamed, inputs = dict(derived.streamed), dict(derived.inputs)
        gone = {each.aspect for each in simpler}
        kept = {each.aspect for each in self.simplifications} - gone
        kept -= {Aspect.METADATA} if Aspect.NAMES in gone else set()  # it may hold any name
        if self.file is not None:
            self.file.restore(derived.model, kept, self.original.sources)
            left = {value.name for value in derived.model.graph.input} & self.recording.values.keys()
            inputs |= {name: self.recording.values[name] for name in left - inputs.keys()}
        inputs = simplify(derived.model, inputs, simpler, streamed, self.renames)
        if self.file is not None and Aspect.CONSTANTS in kept:
            self.file.restore_constants(derived.model, self.renames)
        return Derived(derived.model, inputs, held(derived.model, streamed))

    def relevant(self, nodes: frozenset[int]) -> frozenset[int]:
        """Return the simplifications that change the model of some nodes, by their indexes among the items."""
        cut = self._cut(nodes)
        first = len(self.original.nodes)
        return frozenset(
            i for i, each in enumerate(self.simplifications, first) if relevant_to(cut.model, cut.inputs, each)
        )

    def _cut(self, kept: frozenset[int]) -> Derived:
        hosted: dict[Host, list[int]] = {}
        for index in sorted(kept):
            hosted.setdefault(self._host(index, kept), []).append(index)
        made = {name for index in kept for name in self.original.nodes[index].makes}
        protos = [self._rebuilt(index, hosted) for index in hosted.get(None, ())]
        constants, inputs, values = self._feeds(self._outside(protos))
        outputs = self._outputs(hosted.get(None, ()), protos, made)
        graph = onnx.helper.make_graph(protos, "reduced", inputs, outputs, constants)
        outside = {tensor.name for tensor in constants} & self.original.streamed.keys()
        streamed = {name: self.original.streamed[name] for name in outside}
        return Derived(cutting.with_graph(self.original.model, graph), values, streamed)

    def _host(self, index: int, kept: Collection[int]) -> Host:
        """Return the innermost kept node that holds a node, and the attribute that leads to it."""
        node = self.original.nodes[index]
        while node.parent is not None:
            if node.parent in kept:
                return node.parent, node.body
            node = self.original.nodes[node.parent]
        return None

    def _rebuilt(self, index: int, hosted: Mapping[Host, Sequence[int]]) -> onnx.NodeProto:
        proto = copied(self.original.nodes[index].proto)
        for attribute in proto.attribute:
            if attribute.type == AttributeProto.GRAPH:
                inner = [self._rebuilt(each, hosted) for each in hosted.get((index, attribute.name), ())]
                _refill(attribute.g, inner)
        return proto

    def _outside(self, protos: Sequence[onnx.NodeProto]) -> list[str]:
        made = {name for proto in protos for name in proto.output}
        names = dict.fromkeys(name for proto in protos for name in cutting.free_reads(proto))
        declared = [name for name in self.original.sources if name in names]
        return [name for name in dict.fromkeys([*declared, *names]) if name not in made]

    def _feeds(
        self, names: Sequence[str]
    ) -> tuple[list[onnx.TensorProto], list[onnx.ValueInfoProto], dict[str, Values]]:
        """Return constants, inputs and the values of inputs for tensors that come from outside."""
        constants, inputs, values = [], [], {}
        for name in names:
            tensor = self.original.constants.get(name)
            if tensor is not None:
                constants.append(tensor)
            elif name in self.original.sources:
                inputs.append(self.original.sources[name])
                values[name] = self._value(name)
            elif self._stays_constant(name):
                constants.append(numpy_helper.from_array(self._value(name), name))
            else:
                values[name] = self._value(name)
                inputs.append(cutting.declaration(name, self.original.types.get(name), values[name]))
        return constants, inputs, values

    def _stays_constant(self, name: str) -> bool:
        if name in self._settled:
            return name in self.recording.values
        known, value = self.original.types.get(name), self.recording.values.get(name)
        whole = known is not None and known.element in _WHOLE
        return whole and value is not None and value.ndim <= 1 and value.size <= _SMALL

    def _value(self, name: str) -> Values:
        """Return a tensor's recorded value; ones of its type where ONNX Runtime did not get to it."""
        value, known = self.recording.values.get(name), self.original.types.get(name)
        if known is not None and known.other:
            raise cutting.UnknownValueError(f"{name} would be cut, but it is no tensor")
        if value is None and known is not None and known.element != onnx.TensorProto.STRING and is_static(known.dims):
            return np.ones(known.dims, onnx.helper.tensor_dtype_to_np_dtype(known.element))
        if value is None:
            raise cutting.UnknownValueError(f"the tensor {name} would be cut, but its value and type are unknown")
        if value.dtype.kind == "O" and value.astype(str).tolist() != value.tolist():
            raise cutting.UnknownValueError(
                f"the tensor {name} would be cut, but its texts end with zeros or are bytes"
            )
        return value

    def _outputs(
        self, indexes: Iterable[int], protos: Sequence[onnx.NodeProto], made: set[str]
    ) -> list[onnx.ValueInfoProto]:
        """Return the model's own outputs that are left, and what no kept node reads."""
        read = Counter(name for proto in protos for name in set(cutting.free_reads(proto)))
        declared = {value.name: value for value in self.original.model.graph.output}
        names: list[str] = []
        for index in indexes:
            makes = self.original.nodes[index].makes
            unread = [name for name in makes if name in declared or not read[name]]
            taken = len(unread) < len(makes) or any(name in declared for name in unread)
            names += [name for name in unread if name in declared or not taken] or ([] if taken else unread[:1])
        whole = {name: value for name, value in declared.items() if value.type.tensor_type.HasField("shape")}
        left = [name for name in dict.fromkeys([*(n for n in declared if n in names), *names]) if name in made]
        types, values = self.original.types, self.recording.values
        return [whole.get(name) or cutting.declaration(name, types.get(name), values.get(name)) for name in left]


def _refill(body: onnx.GraphProto, nodes: Sequence[onnx.NodeProto]) -> None:
    """Put other nodes into a subgraph; an output that none of them makes passes through from outside."""
    known = {value.name for value in body.input} | {tensor.name for tensor in body.initializer}
    known |= {name for node in nodes for name in node.output}
    refill(body, "node", nodes)
    body.ClearField("value_info")
    for value in body.output:
        if value.name not in known:
            passed = f"{value.name}{PASSED}"
            body.node.append(onnx.helper.make_node("Identity", [value.name], [passed], name=passed))
            value.name = passed


def _settled(original: cutting.Original) -> frozenset[str]:
    """Return the tensors whose values only constants and shapes decide, and no random numbers."""
    settled = set(original.constants)
    for node in original.nodes:
        reads = cutting.free_reads(node.proto)
        decided = reads and settled.issuperset(reads) and not is_random(node.proto)
        if node.proto.op_type in _SHAPES or decided:
            settled.update(node.makes)
    return frozenset(settled)


_MADE_UP = "control"


@dataclass(frozen=True, slots=True)
class Control:
    """A model that must pass; ``name`` says which. ``digest`` is that of the user's model, "" for one of our own."""

    name: str
    derived: Derived
    digest: str = ""


def control_of(path: str) -> Control:
    """Return a model of the user's as control, with random inputs."""
    model = cutting.take_apart(path)
    digest = digest_of(model.model, {})
    return Control(path, Derived(model.model, random_samples(model.model, {}, 1)[0], model.streamed), digest)


def identity_of(original: cutting.Original, values: Mapping[str, Values]) -> Control:
    """Return a model that hands an input of a model on, ones of FP32, to outputs of its names.

    It has the operator sets of the model; where that reads no FP32, the input is made up.
    """
    plain = (name for name, value in values.items() if name in original.sources and value.dtype == np.float32)
    name = next(plain, _MADE_UP)
    ones = np.ones_like(values[name]) if name in original.sources else np.ones(1, np.float32)
    declared = [output.name for output in original.model.graph.output if output.name != name]
    outputs = declared or [f"{name}_output"]
    nodes = [onnx.helper.make_node("Identity", [name], [output], name=f"{output}_control") for output in outputs]
    tensors = [
        onnx.helper.make_tensor_value_info(tensor, onnx.TensorProto.FLOAT, ones.shape) for tensor in (name, *outputs)
    ]
    graph = onnx.helper.make_graph(nodes, _MADE_UP, tensors[:1], tensors[1:])
    return Control(f"an Identity of {name}", Derived(cutting.with_graph(original.model, graph), {name: ones}))


_INLINED = "inlined (`--keep-functions` leaves them)"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """What a file has besides the model that was made of it.

    ``operators`` has its nodes, those of functions too, ``tensors`` all other names. ``constants`` are the results of
    Constant nodes, ``inputs`` those that no node reads or that have an initializer, ``head`` is the message without its
    graph. ``changes`` say in words what our rewriting makes of it.
    """

    operators: Mapping[str, str]
    tensors: frozenset[str]
    constants: frozenset[str]
    inputs: Mapping[str, onnx.ValueInfoProto]
    head: onnx.ModelProto
    is_single: bool
    changes: str

    @property
    def simplifications(self) -> tuple[Simplification, ...]:
        """Return what the rewriting may leave as it is: first the whole file, then its parts."""
        parts = {Aspect.FILE: True, Aspect.CONSTANTS: self.constants, Aspect.INPUTS: self.inputs, Aspect.METADATA: True}
        return tuple(Simplification(aspect) for aspect, part in parts.items() if part)

    def restore(self, model: onnx.ModelProto, kept: Collection[Aspect], sources: Collection[str]) -> None:
        """Put back into a cut model what is not to be rewritten, but for Constant nodes; those come last."""
        if Aspect.INPUTS in kept:
            known = {tensor.name for tensor in model.graph.initializer}.union(sources)
            model.graph.input.extend(value for name, value in self.inputs.items() if name in known)
        if Aspect.METADATA in kept:
            model.MergeFrom(self.head)

    def restore_constants(self, model: onnx.ModelProto, renames: Mapping[str, str]) -> None:
        """Make initializers Constant nodes again; they may have other names by now."""
        names = self.constants | {renames[name] for name in self.constants if name in renames}
        for graph in graphs(model.graph):
            cutting.constants_to_nodes(graph, names)


def file_of(original: cutting.Original) -> ModelFile:
    """Return the file of a model that was taken apart."""
    file = load(original.path)
    graph = file.graph
    nodes = list(all_nodes(file))
    read, constants = read_in(graph), {tensor.name for tensor in initializers(graph)}
    tensors = {name for node in nodes for name in (*node.input, *node.output)} | constants
    copies = onnx.GraphProto(input=graph.input).input
    inputs = {value.name: value for value in copies if value.name in constants or value.name not in read}
    results = frozenset(node.output[0] for node in nodes_of(graph) if constant_of(node) is not None)
    names = Counter(node.name for node in nodes_of(graph))
    counts = {
        "local function": (_INLINED, len(file.functions) - len(original.model.functions)),
        "Constant node": ("made initializers", len(results)),
        "unread input": ("left out", len(inputs.keys() - constants)),
        "input default": ("made constants", len(inputs.keys() & constants)),
        "unread initializer": ("left out", len(constants - read)),
        "unread result": ("made outputs", sum(read.isdisjoint(node.output) for node in graph.node)),
        "missing or repeated node name": ("replaced", names.total() - len(names.keys() - {""})),
        "metadata field": ("left out", len(file.metadata_props)),
        "declared type": ("left out", len(graph.value_info)),
    }
    changes = [f"{counted(count, noun)} {done}" for noun, (done, count) in counts.items() if count]
    is_single = not any(map(external_data_helper.uses_external_data, initializers(graph)))
    changes += [] if is_single else ["external data taken into the model"]
    operators = {node.name: node.op_type for node in nodes if node.name}
    tensors |= {value.name for value in (*graph.input, *graph.output)}
    for part in ("graph", "functions", "opset_import", "ir_version"):
        file.ClearField(part)
    words = ", ".join(changes) or "names of producer and graph replaced"
    return ModelFile(operators, frozenset(tensors - {""}), results, inputs, file, is_single, words)
