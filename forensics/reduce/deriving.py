"""Makes the model of a probe: the nodes that are kept, with recorded values where a tensor was cut.

A cut tensor becomes an input; it becomes a constant where nothing but constants and shapes decide its value, since
TensorRT wants weights, axes and target shapes so. A node of a subgraph whose holder is not kept moves into the graph
around it. What is left has the interface that its nodes need: inputs that are read, outputs that nobody reads.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import AttributeProto, numpy_helper

from trtforensics.reduce.large import held
from trtforensics.reduce.original import free_reads
from trtforensics.reduce.recording import value_info, with_graph
from trtforensics.reduce.simplifying import PASSED, Aspect, Simplifier, made_up_names, relevant_to

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from trtforensics.bisect.precision.casting.streaming import Streamed
    from trtforensics.bisect.precision.inputs.sample import Values
    from trtforensics.reduce.original import Original, TensorType
    from trtforensics.reduce.recording import Recording
    from trtforensics.reduce.simplifying import Simplification

_SMALL = 64
"""Elements of an integer tensor that is taken to be a shape or an index, and stays a constant where it is cut."""

_WHOLE = {onnx.TensorProto.INT64, onnx.TensorProto.INT32}
_SHAPES = {"Shape", "Size"}

Host = tuple[int, str] | None
"""Where a node stands in a derived model: a node that holds it and its attribute, or the main graph."""


class UnknownValueError(Exception):
    """A tensor would be cut of which neither a value nor a type is known; the message names it."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A model, a value for each of its inputs, and the values of the constants that stay outside of it, by key."""

    model: onnx.ModelProto
    inputs: Mapping[str, Values]
    streamed: Streamed = field(default_factory=dict)


@dataclass(slots=True)
class Deriver:
    """Makes models of some nodes of an original, whose tensors have recorded values."""

    original: Original
    recording: Recording
    simplifications: tuple[Simplification, ...] = ()
    _simplifier: Simplifier = field(init=False)
    _settled: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._settled = _settled(self.original)
        anonymous = any(each.aspect is Aspect.NAMES for each in self.simplifications)
        self._simplifier = Simplifier(made_up_names(self.original) if anonymous else {})

    @property
    def renames(self) -> Mapping[str, str]:
        """The made-up name of each name, where names may be replaced."""
        return self._simplifier.renames

    def derive(self, active: Collection[int]) -> Derived:
        """Return the model of some items.

        Raises:
            UnknownValueError: it would have to cut a tensor that nothing is known of.
        """
        count = len(self.original.nodes)
        derived = self._cut(frozenset(index for index in active if index < count))
        simpler = [each for index, each in enumerate(self.simplifications, count) if index not in active]
        streamed = dict(derived.streamed)
        inputs = self._simplifier.apply(derived.model, derived.inputs, simpler, streamed)
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
        own = {tensor.name for tensor in constants} & self.original.streamed.keys()
        streamed = {name: self.original.streamed[name] for name in own}
        return Derived(with_graph(self.original.model, graph), values, streamed)

    def _host(self, index: int, kept: Collection[int]) -> Host:
        """Return the innermost kept node that holds a node, and the attribute that leads to it."""
        node = self.original.nodes[index]
        while node.parent is not None:
            if node.parent in kept:
                return node.parent, node.body
            node = self.original.nodes[node.parent]
        return None

    def _rebuilt(self, index: int, hosted: Mapping[Host, Sequence[int]]) -> onnx.NodeProto:
        """Return a copy of a node whose subgraphs hold the kept nodes only."""
        node = self.original.nodes[index]
        proto = onnx.NodeProto()
        proto.CopyFrom(node.proto)
        for attribute in proto.attribute:
            if attribute.type == AttributeProto.GRAPH:
                inner = [self._rebuilt(each, hosted) for each in hosted.get((index, attribute.name), ())]
                _refill(attribute.g, inner)
        return proto

    def _outside(self, protos: Sequence[onnx.NodeProto]) -> list[str]:
        """Return the tensors that nodes of the main graph read and none of them makes."""
        made = {name for proto in protos for name in proto.output}
        names = (name for proto in protos for name in free_reads(proto))
        return [name for name in dict.fromkeys(names) if name not in made]

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
                inputs.append(value_info(name, values[name], self._dims(name, values[name])))
        return constants, inputs, values

    def _stays_constant(self, name: str) -> bool:
        if name in self._settled:
            return name in self.recording.values
        known, value = self.original.types.get(name), self.recording.values.get(name)
        whole = known is not None and known.element in _WHOLE
        return whole and value is not None and value.ndim <= 1 and value.size <= _SMALL

    def _value(self, name: str) -> Values:
        """Return a tensor's recorded value; ones of its type where ONNX Runtime did not get to it."""
        value = self.recording.values.get(name)
        if value is not None:
            return value
        known = self.original.types.get(name)
        if known is None or known.dims is None or not all(isinstance(dim, int) for dim in known.dims):
            raise UnknownValueError(name)
        shape = [dim for dim in known.dims if isinstance(dim, int)]
        return np.ones(shape, onnx.helper.tensor_dtype_to_np_dtype(known.element))

    def _dims(self, name: str, value: Values) -> list[int | str]:
        """Return the dimensions to declare: a named one where inference found it, else the recorded size."""
        known = self.original.types.get(name)
        dims = known.dims if known is not None and known.dims is not None else ()
        if len(dims) != value.ndim:
            return list(value.shape)
        return [dim if isinstance(dim, str) else size for dim, size in zip(dims, value.shape, strict=True)]

    def _outputs(
        self, indexes: Iterable[int], protos: Sequence[onnx.NodeProto], made: set[str]
    ) -> list[onnx.ValueInfoProto]:
        """Return the model's own outputs that are left, and what no kept node reads."""
        read = Counter(name for proto in protos for name in set(free_reads(proto)))
        own = {value.name: value for value in self.original.model.graph.output}
        names: list[str] = []
        for index in indexes:
            makes = self.original.nodes[index].makes
            unread = [name for name in makes if name in own or not read[name]]
            taken = len(unread) < len(makes) or any(name in own for name in unread)
            names += [name for name in unread if name in own or not taken] or ([] if taken else unread[:1])
        whole = {name: value for name, value in own.items() if value.type.tensor_type.HasField("shape")}
        return [whole.get(name) or self._declared(name) for name in dict.fromkeys(names) if name in made]

    def _declared(self, name: str) -> onnx.ValueInfoProto:
        known: TensorType | None = self.original.types.get(name)
        if name in self.recording.values:
            value = self.recording.values[name]
            return value_info(name, value, self._dims(name, value))
        if known is None:
            return onnx.ValueInfoProto(name=name)
        return onnx.helper.make_tensor_value_info(name, known.element, known.dims)


def _refill(body: onnx.GraphProto, nodes: Sequence[onnx.NodeProto]) -> None:
    """Put other nodes into a subgraph; an output that none of them makes passes through from outside."""
    own = {value.name for value in body.input} | {tensor.name for tensor in body.initializer}
    own |= {name for node in nodes for name in node.output}
    body.ClearField("node")
    body.ClearField("value_info")
    body.node.extend(nodes)
    for value in body.output:
        if value.name not in own:
            passed = f"{value.name}{PASSED}"
            body.node.append(onnx.helper.make_node("Identity", [value.name], [passed], name=passed))
            value.name = passed


def _settled(original: Original) -> frozenset[str]:
    """Return the tensors whose values only constants and shapes decide."""
    settled = set(original.constants)
    for node in original.nodes:
        reads = free_reads(node.proto)
        if node.proto.op_type in _SHAPES or (reads and settled.issuperset(reads)):
            settled.update(node.makes)
    return frozenset(settled)
