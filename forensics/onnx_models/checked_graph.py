"""The one reader of a model's graphs: nodes by number and name, producers, readers, constants; nothing is inferred.

``Survey`` reads a prepared model, whose nodes have unique names, ``CheckedGraph`` any model as it is stored.

Weights stay in their file until their values are needed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import external_data_helper, helper, numpy_helper

from trtforensics.onnx_models.graphs import (
    STANDARD,
    bodies,
    graphs,
    held_nodes,
    initializers,
    integer,
    nodes_of,
    operator_set,
    reachable,
)
from trtforensics.onnx_models.reading import constant_of, schema_of
from trtforensics.onnx_models.samples import Values
from trtforensics.onnx_models.shapes import Sizes, element_types, fits, is_static, sizes_by_tensor, sizes_of, spelled
from trtforensics.onnx_models.streaming import mapped

_BLOCK = 1 << 22
"""Elements of a constant in a file of its own that are read in one go."""
_SMALL = 1 << 20
"""Elements of a constant whose values are read whole."""
PLACE = "trtforensics.place"
"""Key of the metadata that name a node's function, and its own name there."""
_MOST = 1 << 10
"""Inputs of a variadic slot that are looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class CheckedNode:
    """A node with its ``number`` (from 1, those of a body behind the node that holds it) and its ``holder``'s label.

    ``scope`` is the number of its graph, 0 for the main one.
    """

    number: int
    proto: onnx.NodeProto
    holder: str
    scope: int

    @property
    def op(self) -> str:
        """The operator's name."""
        return str(self.proto.op_type)

    @property
    def label(self) -> str:
        """Its name, behind that of the function that the file has it in; without one, what it makes."""
        place = next((entry.value for entry in self.proto.metadata_props if entry.key == PLACE), "")
        return place or str(self.proto.name) or next((str(name) for name in self.proto.output if name), self.op)

    @property
    def is_standard(self) -> bool:
        """Whether the operator is one of ONNX's own domain."""
        return self.proto.domain in STANDARD

    def since(self, opset: int) -> int:
        """Return the operator set, up to one, in which the operator last changed; 0 for one that is not ONNX's."""
        schema = schema_of(self.op, opset) if self.is_standard else None
        return 0 if schema is None else int(schema.since_version)

    def differs(self, opset: int, known: int) -> bool:
        """Whether the operator of a set has other attributes, defaults or inputs than that of an earlier ``known`` one.

        Element types that were added since are no difference.
        """
        now, before = (schema_of(self.op, version) if self.is_standard else None for version in (opset, known))
        return opset > known and now is not None and (before is None or _signature(now) != _signature(before))

    def lacks(self, opset: int) -> list[str]:
        """Return the attributes and inputs that ONNX's operator wants, later ones too, and the node has not."""
        schema, later = (schema_of(self.op, version) for version in (opset, onnx.defs.onnx_opset_version()))
        if schema is None or not self.is_standard:
            return []
        given = {attribute.name for attribute in self.proto.attribute}
        optional, inputs = onnx.defs.OpSchema.FormalParameterOption.Optional, schema.inputs[: schema.min_input]
        free = {each.name for of in (schema, later or schema) for each in of.inputs if each.option == optional}
        slots = [*self.proto.input, *[None] * len(inputs)]
        pairs = zip(inputs, slots, strict=False)
        lost = [each.name for each, name in pairs if name is None or (not name and each.name not in free)]
        lost += [each.name for each in schema.outputs[: 0 if any(self.proto.output) else schema.min_output]]
        return [name for name, each in schema.attributes.items() if each.required and name not in given] + lost

    def misfit_body(self) -> list[str]:
        """Return that the body of a loop takes another number of inputs than the node has, in words."""
        body, given = self.attribute("body") if self.op == "Loop" else None, len(self.proto.input)
        takes = 0 if body is None else len(body.input)
        return [f"its body takes {takes} inputs, it has {given}"] if takes not in {0, given} else []

    def mistyped(self, opset: int) -> list[str]:
        """Return the attributes of another type than ONNX's operator has them, in words."""
        schema = schema_of(self.op, opset)
        known = {} if schema is None else schema.attributes
        name_of = onnx.AttributeProto.AttributeType.Name
        kinds = {name: str(each.type).rpartition(".")[2] for name, each in known.items()}
        wanted = ((each, kinds[each.name]) for each in self.proto.attribute if each.name in kinds)
        return [
            f"{each.name} is {name_of(each.type)} for {kind}"
            for each, kind in wanted
            if name_of(each.type) not in {"UNDEFINED", kind}
        ]

    def unknown_attributes(self, opset: int = 0) -> list[str]:
        """Return the attributes that ONNX's operator of the name does not have in a set, or in the newest."""
        schema = schema_of(self.op, opset or onnx.defs.onnx_opset_version())
        known = None if schema is None else schema.attributes
        return [] if known is None else sorted({each.name for each in self.proto.attribute} - {*known})

    @property
    def casts_to(self) -> str:
        """The element type that a Cast makes, by ONNX's name."""
        return self.element("to")

    def element(self, name: str) -> str:
        """Return the element type that an attribute gives, by ONNX's name; ``UNDEFINED`` where it gives none."""
        return element_name(self.attribute(name) or 0)

    def default(self, name: str, opset: int) -> Any:  # noqa: ANN401 - of any of ONNX's types
        """Return the default of an attribute in an operator set; None where there is none."""
        schema = schema_of(self.op, opset)
        declared = None if schema is None else schema.attributes.get(name)
        return _python(declared.default_value) if declared is not None and declared.default_value.name else None

    def attribute(self, name: str) -> Any:  # noqa: ANN401 - of any of ONNX's types
        """Return the value of an attribute, texts as str; None where it is not given."""
        return next((_python(attribute) for attribute in self.proto.attribute if attribute.name == name), None)


@dataclass(frozen=True, slots=True)
class CheckedInput:
    """An input that is no constant, or an output: ``element`` is ONNX's name of its type.

    A size that is not known is None; ``sizes`` is None where the rank is not known either. ``text`` are the sizes as
    trtexec spells them.
    """

    name: str
    element: str
    sizes: Sizes | None
    text: str

    @property
    def is_dynamic(self) -> bool:
        """Whether a size is not known."""
        return not is_static(self.sizes)

    def takes(self, shape: Sequence[int]) -> bool:
        """Whether it takes a tensor of a shape."""
        return fits(shape, self.sizes)


class ModelGraph:
    """The nodes of all graphs of a model, what makes each tensor, the initializers."""

    proto: onnx.ModelProto

    @cached_property
    def all_nodes(self) -> tuple[CheckedNode, ...]:
        """The nodes of all graphs, in the order of the file."""
        return tuple(
            CheckedNode(number, node, "" if holder is None else holder.name or holder.op_type, scope)
            for number, (node, holder, scope) in enumerate(held_nodes(self.proto.graph), 1)
        )

    @cached_property
    def by_name(self) -> Mapping[str, CheckedNode]:
        """The nodes by their names in the file; of two with one name, the first."""
        return {str(node.proto.name): node for node in reversed(self.all_nodes)}

    @cached_property
    def makers(self) -> Mapping[str, CheckedNode]:
        """The node that makes each tensor."""
        return {name: node for node in self.all_nodes for name in node.proto.output if name}

    @cached_property
    def initial(self) -> Mapping[str, onnx.TensorProto]:
        """The initializers of all graphs."""
        return {tensor.name: tensor for tensor in initializers(self.proto.graph)}


@dataclass(frozen=True, slots=True)
class Use:
    """A slot of a node that reads a tensor, and the number of the node's graph."""

    node: str
    slot: int
    scope: int


class Survey(ModelGraph):
    """A prepared model by names: its nodes, the producer, the uses and the element type of each tensor.

    ``scopes`` has the number of the graph in which a tensor is defined. ``constants`` are initializers and what
    Constant nodes give as tensors, ``small`` the tensors of rank 0 or 1, as shapes are. ``sources`` and ``results`` are
    inputs and outputs of the model and of bodies. ``carried`` says what the states of Loop and Scan are by their names
    inside: an operand of the node, then a result of the body.
    """

    def __init__(self, proto: onnx.ModelProto) -> None:
        self.proto = proto
        every = list(graphs(proto.graph))
        self.nodes = {str(node.proto.name): node.proto for node in self.all_nodes}
        self.producers = {name: str(node.proto.name) for name, node in self.makers.items()}
        self.uses: dict[str, list[Use]] = {}
        for node in self.all_nodes:
            for slot, name in enumerate(node.proto.input):
                if name:
                    self.uses.setdefault(name, []).append(Use(str(node.proto.name), slot, node.scope))
        given = ((each.name, scope) for scope, graph in enumerate(every) for each in (*graph.input, *graph.initializer))
        self.scopes = {**dict(given), **{name: node.scope for name, node in self.makers.items()}}
        stored = [node for node in self.nodes.values() if node.op_type == "Constant" and node.attribute]
        made = {node.output[0]: node.attribute[0].t for node in stored if node.attribute[0].name == "value"}
        self.constants = {**self.initial, **made}
        self.types = element_types(proto) | {name: tensor.data_type for name, tensor in self.constants.items()}
        sizes = [*sizes_by_tensor(proto).items(), *((name, tensor.dims) for name, tensor in self.constants.items())]
        self.small = {name for name, dims in sizes if len(dims) <= 1}
        self.sources = {value.name for graph in every for value in graph.input}
        self.results = {value.name: scope for scope, graph in enumerate(every) for value in graph.output}
        pairs = ((node.proto, body) for node in self.all_nodes for body in bodies(node.proto))
        self.carried = {state: ends for node, body in pairs for state, ends in _carried(node, body)}

    def maker(self, tensor: str) -> onnx.NodeProto | None:
        """Return the node that makes a tensor; None for inputs and initializers."""
        maker = self.makers.get(tensor)
        return None if maker is None else maker.proto

    def holders_of(self, node: str) -> tuple[str, ...]:
        """Return the nodes in whose bodies a node is, the innermost first; none for a node of the main graph."""
        holder = self.by_name[node].holder if node in self.by_name else ""
        return (holder, *self.holders_of(holder)) if holder else ()

    def behind(self, node: str) -> Iterator[str]:
        """Yield a node and the nodes that it is made of, the nearest first."""
        return reachable([node], lambda name: filter(None, map(self.producers.get, self.nodes[name].input)))


def _carried(node: onnx.NodeProto, body: onnx.GraphProto) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the states that a body hands on to its next execution."""
    if node.op_type == "Loop":  # the body has the number of the iteration and a condition before, the node has two more
        states, before, after = body.input[2:], node.input[2:], body.output[1:]
    elif node.op_type == "Scan":
        states = body.input[: len(body.input) - (integer(node, "num_scan_inputs") or 0)]
        before, after = node.input[-len(body.input) :], body.output
    else:
        return
    for state, first, then in zip(states, before, after, strict=False):
        yield state.name, (first, then.name)


@dataclass(frozen=True)
class CheckedGraph(ModelGraph):
    """A model whose local functions are inlined and whose bodies' tensors have names of their own."""

    path: str
    proto: onnx.ModelProto
    data: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with files of external data and with constants that are cut short, by words for these."""
    circle: str = ""
    """Why the local functions could not be inlined, in ONNX's words."""
    functions: Sequence[str] = ()
    """The local functions that the model had, by name."""
    shadowing: Sequence[tuple[str, str]] = ()
    """Nodes of bodies that make a tensor which the graph around them has already, and that tensor."""

    @cached_property
    def nodes(self) -> tuple[CheckedNode, ...]:
        """The nodes of all graphs, in the order of the file, but those that lack what rules look at, or never run."""
        return tuple(
            node for node in self.all_nodes if not node.lacks(self.opset) and self._idle.isdisjoint(node.proto.output)
        )

    @cached_property
    def idle_branches(self) -> Mapping[str, onnx.GraphProto]:
        """The branch that a constant condition never takes, by its If's result: the parser skips it (8.5 to 10.1)."""
        branches = {}
        for node in (each for each in self.all_nodes if each.op == "If" and each.proto.input and each.proto.output):
            maker = self.makers.get(node.proto.input[0])
            condition = constant_of(maker.proto) if maker is not None else self.initial.get(node.proto.input[0])
            if condition is not None and condition.data_type == onnx.TensorProto.BOOL and _count(condition) == 1:
                is_true = any(condition.raw_data or condition.int32_data)
                branches[node.proto.output[0]] = node.attribute("else_branch" if is_true else "then_branch")
        return branches

    @cached_property
    def _idle(self) -> frozenset[str]:
        """What the branches make that are never taken."""
        nodes = (node for branch in self.idle_branches.values() for node in nodes_of(branch))
        return frozenset(name for node in nodes for name in node.output if name)

    @cached_property
    def readers(self) -> Mapping[str, Sequence[CheckedNode]]:
        """The nodes that read each tensor."""
        readers: dict[str, list[CheckedNode]] = {}
        for node in self.nodes:
            for name in dict.fromkeys(node.proto.input):
                readers.setdefault(name, []).append(node)
        return readers

    @property
    def opset(self) -> int:
        """The operator set of ONNX's own domain."""
        return operator_set(self.proto)

    @property
    def knows_set(self) -> bool:
        """Whether the installed onnx has the operator set, or no node is of ONNX's own domain."""
        is_standard = any(node.is_standard for node in self.nodes)
        return not is_standard or 0 < self.opset <= onnx.defs.onnx_opset_version()

    @cached_property
    def inputs(self) -> tuple[CheckedInput, ...]:
        """The inputs that are no constants."""
        return tuple(_stated(value) for value in self.proto.graph.input if value.name not in self._constants)

    @cached_property
    def outputs(self) -> tuple[CheckedInput, ...]:
        """The outputs."""
        return tuple(map(_stated, self.proto.graph.output))

    @cached_property
    def _constants(self) -> Mapping[str, onnx.TensorProto]:
        made = ((node.proto.output[0], constant_of(node.proto)) for node in self.nodes if node.op == "Constant")
        return {**self.initial, **{name: tensor for name, tensor in made if tensor is not None}}

    @property
    def constants(self) -> Collection[str]:
        """The names of constants: initializers, and what Constant nodes make."""
        return self._constants.keys()

    def values(self, name: str, *, whole: bool = False) -> Values | None:
        """Return the values of a constant; None for what is none, cannot be read, or is large and not ``whole``.

        Values in a file of their own are mapped.
        """
        tensor = self._constants.get(name)
        if tensor is None or (not whole and _count(tensor) > _SMALL):
            return None
        try:
            if not external_data_helper.uses_external_data(tensor):
                return numpy_helper.to_array(tensor)
            return None if self.data else mapped(tensor, Path(self.path).resolve().parent)
        except (OSError, ValueError, TypeError):  # of no type of numpy, cut short, or gone
            return None

    def blocks(self, name: str) -> Iterator[Values]:
        """Yield the values of a constant, flat; those in a file of their own some at a time, so that few are held.

        Nothing comes of what is no constant, has no type of numpy, or cannot be read.
        """
        tensor = self._constants.get(name)
        if tensor is None and name in self.stored:
            yield numpy_helper.to_array(self.makers[name].attribute("value")).reshape(-1)
        if tensor is None or not external_data_helper.uses_external_data(tensor):
            values = self.values(name, whole=True)
            yield from () if values is None else (values.reshape(-1),)
            return
        kind, left = helper.tensor_dtype_to_np_dtype(tensor.data_type), 0 if self.data else _count(tensor)
        place = external_data_helper.ExternalDataInfo(tensor)
        begin = place.offset or 0
        while left and kind.kind in "fiub":
            block = np.fromfile(Path(self.path).resolve().parent / place.location, kind, min(left, _BLOCK), "", begin)
            yield block
            left, begin = left - max(block.size, 1), begin + block.nbytes

    @cached_property
    def stored(self) -> Mapping[str, str]:
        """The element type of each constant whose values ``blocks`` gives, and of what ConstantOfShape fills with."""
        fills = {node.proto.output[0]: node.attribute("value") for node in self.nodes if node.op == "ConstantOfShape"}
        made = {name: element_name(tensor.data_type) for name, tensor in fills.items() if tensor is not None}
        return {name: element for name, (element, _) in self.weights.items()} | made

    @cached_property
    def weights(self) -> Mapping[str, tuple[str, tuple[int, ...]]]:
        """The element type, by ONNX's name, and the dimensions of each constant."""
        return {name: (element_name(tensor.data_type), tuple(tensor.dims)) for name, tensor in self._constants.items()}

    def slots(self, node: CheckedNode, names: Collection[str], *, of: str = "input") -> list[str]:
        """Return the tensors in the slots of these names, by ONNX's names in the model's operator set; given ones."""
        tensors = getattr(node.proto, of)
        places = sorted({place for name in names for place in _places(node.op, self.opset, of).get(name, ())})
        return [tensors[place] for place in places if place < len(tensors) and tensors[place]]

    def names_axes(self, node: CheckedNode) -> bool:
        """Whether a node names its axes, as an attribute or an input."""
        return bool(node.attribute("axes") or self.slots(node, ("axes",)))

    @staticmethod
    def bytes_of(element: str, shape: Sequence[int]) -> int:
        """Return the bytes of a tensor; 0 for texts and unknown types."""
        if element in {"UNDEFINED", "STRING"}:
            return 0
        kind = helper.tensor_dtype_to_np_dtype(onnx.TensorProto.DataType.Value(element))
        return int(kind.itemsize) * prod(shape)


def _python(attribute: onnx.AttributeProto) -> Any:  # noqa: ANN401 - of any of ONNX's types
    value = helper.get_attribute_value(attribute)
    if attribute.type == attribute.STRINGS:
        return [text.decode("utf-8", "replace") for text in value]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _count(tensor: onnx.TensorProto) -> int:
    return int(np.prod(tensor.dims, dtype=np.int64))


@cache
def _places(op: str, opset: int, of: str) -> Mapping[str, Sequence[int]]:
    """Return the places of an operator's inputs (or outputs) by name; of variadic ones all."""
    schema = schema_of(op, opset)
    formal = () if schema is None else schema.inputs if of == "input" else schema.outputs
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    return {
        each.name: range(place, _MOST) if each.option == variadic else (place,) for place, each in enumerate(formal)
    }


def _signature(schema: onnx.defs.OpSchema) -> object:
    attributes = {(each.name, each.required, str(each.default_value)) for each in schema.attributes.values()}
    return attributes, schema.min_input, *([each.name for each in of] for of in (schema.inputs, schema.outputs))


def element_name(element: int) -> str:
    """Return ONNX's name of an element type (``FLOAT16``); ``UNDEFINED`` for none that is known."""
    known = onnx.TensorProto.DataType.values()
    return str(onnx.TensorProto.DataType.Name(element if element in known else 0))


def _stated(value: onnx.ValueInfoProto) -> CheckedInput:
    return CheckedInput(value.name, element_name(value.type.tensor_type.elem_type), sizes_of(value), spelled(value))
