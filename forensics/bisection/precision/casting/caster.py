"""The caster makes typed models: some nodes stay FP32, all other candidates compute in 16 bits, with Casts between.

A tensor ``t`` is always FP32 under its own name and always 16 bits wide under ``t`` and a suffix. A graph has at most
one Cast of a tensor; subgraphs capture the FP32 name, so that inputs and outputs of the model and of bodies keep their
type. If every candidate stays FP32, the result is the model itself, node for node.

The ONNX schema, and what values are used for, decide which slots of a node may be 16 bits wide. A slot follows its
type variable: if the schema lets the variable be 16 bits wide and the model uses it as FP32, all slots of the
variable change together. Operators with their type stated elsewhere (control flow, casts, generators) are never
candidates, nor are nodes with sequences or tensors of unknown type, arithmetic on shapes, nor what is computed of
constants alone, which a compiler folds.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from trtforensics.bisection.precision.casting.storage import Constants, Storage, convert_constants
from trtforensics.console.output import write_bytes
from trtforensics.console.own_files import is_there
from trtforensics.knowledge.table import rows
from trtforensics.onnx_models.checked_graph import Survey, Use
from trtforensics.onnx_models.graphs import copied, holds_graphs, initializers, is_random, refill
from trtforensics.onnx_models.reading import PreparedModel, schema_of
from trtforensics.onnx_models.rewriting import GraphRewriter, Scope
from trtforensics.onnx_models.samples import Values
from trtforensics.onnx_models.streaming import Streamed, data_places, fill, key_of, refer, write_data

_OPERATORS = tuple(rows("operators", "trtforensics.bisection.precision"))


def operators_that(role: str) -> frozenset[str]:
    """Return the operators with a role, as ``operators.tsv`` names it."""
    return frozenset(row["operator"] for row in _OPERATORS if role in row["roles"].split())


_TYPED_ELSEWHERE = operators_that("typed-elsewhere")

_MOVES = operators_that("moves")
"""Each output value is an input value or its magnitude, so that 16 bits lose no more than the producer has lost."""

_ONLY_THESE_VARIABLES = {"BatchNormalization": frozenset({"T"})}
"""TensorRT takes FP32 statistics beside 16-bit data (seen in TensorRT-RTX 1.7.1), and needs their range."""
_SHAPE_SLOTS = {row["operator"]: tuple(map(int, row["shape_slots"].split())) for row in _OPERATORS}


@dataclass(frozen=True, slots=True)
class CandidateNode:
    """A node that may compute in 16 bits, with the slots that change. ``moves`` names the tensor that it only moves."""

    name: str
    op: str
    scope: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    moves: str | None = None


def candidates(model: onnx.ModelProto, survey: Survey, storage: Storage) -> dict[str, CandidateNode]:
    """Return the nodes that may compute in 16 bits, in the order of the file."""
    versions = {entry.domain: entry.version for entry in model.opset_import}
    shapes = _shape_arithmetic(survey)
    scopes = {use.node: use.scope for uses in survey.uses.values() for use in uses}
    eligible = {}
    fixed = set(survey.constants)
    for name, node in survey.nodes.items():
        if node.op_type not in _TYPED_ELSEWHERE and node.input and fixed.issuperset(filter(None, node.input)):
            fixed.update(node.output)  # the compiler folds it, in FP32
            continue
        if name in shapes or node.op_type in _TYPED_ELSEWHERE or holds_graphs(node):
            continue
        version = versions.get(node.domain, versions.get("ai.onnx" if not node.domain else "", 0))
        schema = schema_of(node.op_type, version, node.domain)
        if schema is None:
            continue
        inputs, outputs = (_slots(node, schema, survey, storage, side) for side in ("inputs", "outputs"))
        if inputs is None or outputs is None or not inputs:
            continue
        # a node that moves a constant rounds it, so it counts as arithmetic; a Dropout that draws does too
        moves = node.op_type in _MOVES and not is_random(node)
        moves = moves and inputs == (0,) and bool(outputs) and node.input[0] not in survey.constants
        moved = node.input[0] if moves else None
        eligible[name] = CandidateNode(name, node.op_type, scopes[name], inputs, outputs, moved)
    return eligible


def _slots(
    node: onnx.NodeProto, schema: onnx.defs.OpSchema, survey: Survey, storage: Storage, side: str
) -> tuple[int, ...] | None:
    """Return the slots that change, or None if a type is unknown or no tensor type."""
    formals = schema.inputs if side == "inputs" else schema.outputs
    wide = {rule.type_param_str for rule in schema.type_constraints if storage.type_name in rule.allowed_type_strs}
    wide &= _ONLY_THESE_VARIABLES.get(node.op_type, wide)
    slots = []
    for slot, name in enumerate(node.input if side == "inputs" else node.output):
        if not name:
            continue
        kind = survey.types.get(name, TensorProto.UNDEFINED)
        if kind == TensorProto.UNDEFINED:
            return None
        if kind == TensorProto.FLOAT and formals[min(slot, len(formals) - 1)].type_str in wide:
            slots.append(slot)
    return tuple(slots)


def _shape_arithmetic(survey: Survey) -> set[str]:
    """Return the nodes that compute sizes: from shapes alone, or small tensors that end in a shape input."""
    # FP16 cannot tell 4102 from 4104, and TensorRT refuses dynamic shapes computed in it
    chain: set[str] = set()
    derived: set[str] = set()
    for name, node in survey.nodes.items():
        varying = [i for i in node.input if i and i not in survey.constants]
        from_shapes = bool(varying) and all(i in derived for i in varying)
        if node.op_type in {"Shape", "Size"} or (from_shapes and survey.small.issuperset(node.output)):
            derived.update(node.output)
            chain.add(name)
    slots = {name: _SHAPE_SLOTS.get(node.op_type, ()) for name, node in survey.nodes.items()}
    ahead = [tensor for tensor, uses in survey.uses.items() if any(use.slot in slots[use.node] for use in uses)]
    while ahead:
        tensor = ahead.pop()
        producer = survey.producers.get(tensor)
        if producer is None or tensor not in survey.small or producer in chain:
            continue
        chain.add(producer)
        ahead.extend(i for i in survey.nodes[producer].input if i)
    return chain


DATA = "weights.bin"
"""The data file that all models of a folder share; it holds the external constants."""


class Caster:
    """Casts one model, with any set of nodes in FP32.

    ``source`` has references in place of its large constants, as what is made of it: their values are in ``streamed``.
    """

    def __init__(self, prepared: PreparedModel, storage: Storage) -> None:
        self.prepared = prepared
        self.storage = storage
        self.source, self._apart = prepared.apart or (prepared.proto, {})
        self.survey = Survey(prepared.proto)
        self.candidates = candidates(prepared.proto, self.survey, storage)
        self.suffix = f"__{storage.name}"
        while any(self.suffix in name for name in (*self.survey.scopes, *self.survey.nodes)):
            self.suffix = f"_{self.suffix}"

    @cached_property
    def constants(self) -> Constants:
        """The 16-bit copies of the constants, made on first access."""
        read = {
            name: tensor
            for name, tensor in self.survey.constants.items()
            if any(map(self.is_read_narrow, self.survey.uses.get(name, ())))
        }
        for name, node in self.candidates.items():
            if node.op == "BatchNormalization" and len(node.inputs) > 1:
                read |= _folded(self.survey, self.survey.nodes[name], read)
        return convert_constants(read, self.suffix, self.storage, self._wide)

    @property
    def streamed(self) -> Streamed:
        """The values of all streamed constants, by their keys."""
        return {**self._wide, **self.constants.streamed}

    @property
    def _wide(self) -> Streamed:
        return {**self.prepared.streamed, **self._apart}

    def kept(self, chosen: Collection[str]) -> frozenset[str]:
        """Return the nodes that stay FP32 if the chosen ones do: those, and the nodes that only move FP32 data."""
        narrow: set[str] = set()
        for name, node in self.candidates.items():
            if node.moves is None:
                is_narrow = name not in chosen
            else:
                producer = self.survey.producers.get(node.moves)
                is_narrow = producer in narrow and self.survey.scopes[node.moves] == node.scope
            if is_narrow:
                narrow.add(name)
        return frozenset(self.candidates.keys() - narrow)

    def cast(self, keep: Collection[str]) -> onnx.ModelProto:
        """Return the typed model in which the named candidates stay FP32."""
        narrow = {name: node for name, node in self.candidates.items() if name not in keep}
        model = copied(self.source)
        _Casting(self, narrow).rewrite(model.graph)
        return model

    def narrow_ends(self, scope: int) -> tuple[str, str]:
        """Return the ends of names of 16-bit tensors in a graph: of its own tensors, and of those of graphs around."""
        return self.suffix, f"{self.suffix}_{scope}"

    def is_read_narrow(self, use: Use) -> bool:
        """Whether the slot of a use may be 16 bits wide."""
        node = self.candidates.get(use.node)
        return node is not None and use.slot in node.inputs


class _Casting(GraphRewriter):
    def __init__(self, caster: Caster, narrow: dict[str, CandidateNode]) -> None:
        super().__init__()
        self._caster = caster
        self._narrow = narrow
        self._suffix = caster.suffix
        self._survey = caster.survey

    def begin(self, scope: Scope) -> None:
        """Write the constants in the types in which they are read."""
        graph = scope.graph
        constants = list(graph.initializer)
        graph.ClearField("initializer")
        for tensor in constants:
            narrow = self._is_read_narrow(tensor.name)
            if not narrow or self._is_read_wide(tensor.name):
                graph.initializer.append(tensor)
            if narrow:
                graph.initializer.append(self._caster.constants.narrow[tensor.name])

    def node(self, node: onnx.NodeProto, scope: Scope) -> None:
        """Write a node; if it computes in 16 bits, with the Casts that it needs."""
        if node.name in self._narrow:
            self._narrow_node(node, self._narrow[node.name], scope)
            return
        if node.op_type == "Constant" and self._is_read_narrow(node.output[0]):
            scope.graph.initializer.append(self._caster.constants.narrow[node.output[0]])
            if not self._is_read_wide(node.output[0]):
                return
        scope.graph.node.append(node)

    def end(self, scope: Scope) -> None:
        """Keep the types of the tensors that are left."""
        graph = scope.graph
        written = {name for node in graph.node for name in node.output} | {tensor.name for tensor in graph.initializer}
        refill(graph, "value_info", (value for value in graph.value_info if value.name in written))

    def _narrow_node(self, node: onnx.NodeProto, candidate: CandidateNode, scope: Scope) -> None:
        graph, elem_type = scope.graph, self._caster.storage.elem_type
        for slot in candidate.inputs:
            tensor = node.input[slot]
            narrow = node.input[slot] = self._narrow_name(tensor, scope.number)
            if not self._has_narrow(tensor, scope.number) and narrow not in scope.copies:
                scope.copies.add(narrow)
                _add_cast(graph, tensor, narrow, elem_type)
        results = [node.output[slot] for slot in candidate.outputs]
        for slot in candidate.outputs:
            node.output[slot] += self._suffix
        for attribute in node.attribute:
            if attribute.name == "output_dtype" and attribute.i == TensorProto.FLOAT:
                attribute.i = elem_type
        graph.node.append(node)
        for result in results:
            if self._is_read_wide(result):
                _add_cast(graph, result + self._suffix, result, TensorProto.FLOAT)

    def _narrow_name(self, tensor: str, scope: int) -> str:
        here = tensor in self._survey.constants or self._survey.scopes.get(tensor) == scope
        suffix, captured = self._caster.narrow_ends(scope)
        return tensor + (suffix if here else captured)

    def _has_narrow(self, tensor: str, scope: int) -> bool:
        """Whether the tensor is 16 bits wide in this graph without a Cast: a constant, or written so by a node."""
        if tensor in self._survey.constants:
            return True
        producer = self._narrow.get(self._survey.producers.get(tensor, ""))
        if producer is None or producer.scope != scope:
            return False
        return tensor in {self._survey.nodes[producer.name].output[slot] for slot in producer.outputs}

    def _is_read_wide(self, tensor: str) -> bool:
        if tensor in self._survey.results:
            return True
        constant = tensor in self._survey.constants
        home = self._survey.scopes.get(tensor)
        uses = self._survey.uses.get(tensor, ())
        return any(not (self._is_narrow(use) and (constant or use.scope == home)) for use in uses)

    def _is_read_narrow(self, tensor: str) -> bool:
        return any(self._is_narrow(use) for use in self._survey.uses.get(tensor, ()))

    def _is_narrow(self, use: Use) -> bool:
        return use.node in self._narrow and use.slot in self._narrow[use.node].inputs


def _folded(survey: Survey, node: onnx.NodeProto, read: Mapping[str, TensorProto]) -> dict[str, TensorProto]:
    """Return the parameters of a BatchNormalization as TensorRT folds them in FP32: a scale and a shift of the data."""
    # before operator set 15 they have the type of the data, in which a variance may overflow or become zero
    names = node.input[1:]
    if not all(name in read and len(survey.uses[name]) == 1 for name in names):
        return {}
    scale, shift, mean, variance = (numpy_helper.to_array(read[name]).astype(np.float64) for name in names)
    epsilon = next((each.f for each in node.attribute if each.name == "epsilon"), 1e-5)
    gain = scale / np.sqrt(variance + epsilon)
    values = (gain, shift - mean * gain, np.zeros_like(mean), np.ones_like(variance))
    named = zip(names, values, strict=True)
    return {name: numpy_helper.from_array(each.astype(np.float32), name) for name, each in named}


def _add_cast(graph: onnx.GraphProto, source: str, target: str, elem_type: int) -> None:
    name = f"{target}_cast" if elem_type != TensorProto.FLOAT else f"{source}_cast_back"
    graph.node.append(onnx.helper.make_node("Cast", [source], [target], name=name, to=elem_type))


def save(caster: Caster, model: onnx.ModelProto, path: Path, data: str = DATA) -> None:
    """Write a model of the caster, or its twin, and where it is missing the folder's ``data`` file for this caster."""
    if caster.prepared.external:
        file, contents = path.parent / data, _contents(caster)
        written = is_there(file)  # its content follows from the folder's job
        places = data_places(contents) if written else write_data(file, contents)
        for tensor in initializers(model.graph):
            if tensor.name in places:
                refer(tensor, data, *places[tensor.name])
    for tensor in model.graph.initializer:
        if key_of(tensor) in caster.streamed:
            fill(tensor, caster.streamed[tensor.name])
    write_bytes(path, model.SerializeToString())


def _contents(caster: Caster) -> Streamed:
    """Return the values of every external constant and its 16-bit copy."""
    contents = {}
    for tensor in initializers(caster.prepared.proto.graph):
        if tensor.name in caster.prepared.external:
            contents[tensor.name] = _values(caster, tensor)
            if tensor.name in caster.constants.narrow:
                narrow = caster.constants.narrow[tensor.name]
                contents[narrow.name] = _values(caster, narrow)
    return contents


def _values(caster: Caster, tensor: TensorProto) -> Values:
    key = key_of(tensor)
    return np.frombuffer(tensor.raw_data, np.uint8) if key is None else caster.streamed[key]
