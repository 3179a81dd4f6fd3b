"""The caster makes typed models: some nodes stay FP32, all other candidates compute in 16 bits, with Casts between.

A tensor ``t`` is always FP32 under its own name and always 16 bits wide under ``t`` and a suffix. A graph has at most
one Cast of a tensor; subgraphs capture the FP32 name, so that inputs and outputs of the model and of bodies keep their
type. If every candidate stays FP32, the result is the model itself, node for node.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import onnx
from onnx import AttributeProto, TensorProto

from trtforensics.bisect.precision.casting.eligibility import candidates, survey_of
from trtforensics.bisect.precision.casting.storage import convert_constants

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from trtforensics.bisect.precision.casting.eligibility import CandidateNode, Use
    from trtforensics.bisect.precision.casting.preparation import PreparedModel
    from trtforensics.bisect.precision.casting.storage import Constants, Storage
    from trtforensics.bisect.precision.casting.streaming import Streamed


class Caster:
    """Casts one model, with any set of nodes in FP32."""

    def __init__(self, prepared: PreparedModel, storage: Storage) -> None:
        self.prepared = prepared
        self.storage = storage
        self.survey = survey_of(prepared.proto)
        self.candidates = candidates(prepared.proto, self.survey, storage)
        self.suffix = _free_suffix(self.survey.scopes, self.survey.nodes, storage)

    @cached_property
    def constants(self) -> Constants:
        """The 16-bit copies of the constants, made on first access."""
        read = {name: tensor for name, tensor in self.survey.constants.items() if self._readers(name)}
        return convert_constants(read, self.suffix, self.storage, self.prepared.streamed)

    @property
    def streamed(self) -> Streamed:
        """The values of all streamed constants, by their keys."""
        return {**self.prepared.streamed, **self.constants.streamed}

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
        model = onnx.ModelProto()
        for entry, value in self.prepared.proto.ListFields():
            if entry.name != "graph":
                _set(model, entry.name, value)
        _Casting(self, narrow).graph(self.prepared.proto.graph, model.graph)
        return model

    def narrow_ends(self, scope: int) -> tuple[str, str]:
        """Return the ends of names of 16-bit tensors in a graph: of its own tensors, and of those of graphs around."""
        return self.suffix, f"{self.suffix}_{scope}"

    def is_read_narrow(self, use: Use) -> bool:
        """Whether the slot of a use may be 16 bits wide."""
        node = self.candidates.get(use.node)
        return node is not None and use.slot in node.inputs

    def _readers(self, tensor: str) -> list[Use]:
        return [use for use in self.survey.uses.get(tensor, ()) if self.is_read_narrow(use)]


class _Casting:
    """One run over the model."""

    def __init__(self, caster: Caster, narrow: dict[str, CandidateNode]) -> None:
        self._caster = caster
        self._narrow = narrow
        self._numbers: Iterator[int] = iter(range(1 << 30))
        self._suffix = caster.suffix
        self._survey = caster.survey

    def graph(self, source: onnx.GraphProto, target: onnx.GraphProto) -> None:
        """Write one graph and its subgraphs."""
        scope = next(self._numbers)
        for entry, value in source.ListFields():
            if entry.name not in {"node", "initializer", "value_info"}:
                _set(target, entry.name, value)
        for tensor in source.initializer:
            if self._is_read_wide(tensor.name) or not self._is_read_narrow(tensor.name):
                target.initializer.append(tensor)
            self._add_narrow_constant(tensor.name, target)
        cast: set[str] = set()
        for node in source.node:
            if node.name in self._narrow:
                self._narrow_node(node, self._narrow[node.name], scope, target, cast)
            else:
                self._wide_node(node, target)
        written = {name for node in target.node for name in node.output} | {
            tensor.name for tensor in target.initializer
        }
        target.value_info.extend(value for value in source.value_info if value.name in written)

    def _wide_node(self, node: onnx.NodeProto, target: onnx.GraphProto) -> None:
        if node.op_type == "Constant" and self._is_read_narrow(node.output[0]):
            self._add_narrow_constant(node.output[0], target)
            if not self._is_read_wide(node.output[0]):
                return
        copy = target.node.add()
        for entry, value in node.ListFields():
            if entry.name != "attribute":
                _set(copy, entry.name, value)
        for attribute in node.attribute:
            self._attribute(attribute, copy)

    def _attribute(self, attribute: AttributeProto, node: onnx.NodeProto) -> None:
        copy = node.attribute.add()
        if attribute.type not in {AttributeProto.GRAPH, AttributeProto.GRAPHS}:
            copy.CopyFrom(attribute)
            return
        for entry, value in attribute.ListFields():
            if entry.name not in {"g", "graphs"}:
                _set(copy, entry.name, value)
        if attribute.type == AttributeProto.GRAPH:
            self.graph(attribute.g, copy.g)
        for body in attribute.graphs:
            self.graph(body, copy.graphs.add())

    def _narrow_node(
        self, node: onnx.NodeProto, candidate: CandidateNode, scope: int, target: onnx.GraphProto, cast: set[str]
    ) -> None:
        for tensor in dict.fromkeys(node.input[slot] for slot in candidate.inputs):
            narrow = self._narrow_name(tensor, scope)
            if not self._has_narrow(tensor, scope) and narrow not in cast:
                cast.add(narrow)
                _add_cast(target, tensor, narrow, self._caster.storage.elem_type)
        copy = target.node.add()
        copy.CopyFrom(node)
        for slot in candidate.inputs:
            copy.input[slot] = self._narrow_name(node.input[slot], scope)
        for slot in candidate.outputs:
            copy.output[slot] += self._suffix
        for attribute in copy.attribute:
            if attribute.name == "output_dtype" and attribute.i == TensorProto.FLOAT:
                attribute.i = self._caster.storage.elem_type
        for slot in candidate.outputs:
            if self._is_read_wide(node.output[slot]):
                _add_cast(target, copy.output[slot], node.output[slot], TensorProto.FLOAT)

    def _narrow_name(self, tensor: str, scope: int) -> str:
        here = tensor in self._survey.constants or self._survey.scopes.get(tensor) == scope
        own, captured = self._caster.narrow_ends(scope)
        return tensor + (own if here else captured)

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

    def _add_narrow_constant(self, name: str, target: onnx.GraphProto) -> None:
        if self._is_read_narrow(name):
            target.initializer.append(self._caster.constants.narrow[name])


def _add_cast(graph: onnx.GraphProto, source: str, target: str, elem_type: int) -> None:
    name = f"{target}_cast" if elem_type != TensorProto.FLOAT else f"{source}_cast_back"
    graph.node.append(onnx.helper.make_node("Cast", [source], [target], name=name, to=elem_type))


def _set(
    message: onnx.ModelProto | onnx.GraphProto | onnx.NodeProto | AttributeProto, name: str, value: object
) -> None:
    """Copy one field, whatever its kind."""
    field = getattr(message, name)
    if hasattr(field, "MergeFrom"):
        field.MergeFrom(value)
    else:
        setattr(message, name, value)


def _free_suffix(tensors: Collection[str], nodes: Collection[str], storage: Storage) -> str:
    """Return a suffix that no name of the model contains."""
    suffix = f"__{storage.name}"
    while any(suffix in name for name in (*tensors, *nodes)):
        suffix = f"_{suffix}"
    return suffix
