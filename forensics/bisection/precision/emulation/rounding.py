"""Forms of the FP32 model for all candidates at once: the rounding floor, and one twin for all mixtures.

The floor is what 16 bits of storage cost if their exponent had no limits. The operands and results of every candidate
are rounded to the type's digits in FP32, by Veltkamp's splitting (``c = x * (2**s + 1); c - (c - x)``), so that
rounding shows and overflow does not. Where products sum in FP16, the partial sums are rounded likewise.

An input of the mixture says which nodes are in 16 bits, so that a probe costs a run and no session. Each slot of a
candidate that may be 16 bits wide reads ``Where(in 16 bits, rounded, exact)``, and each of its results is stored
likewise. ``Where`` only selects, so that the values are those of the twin of the typed model, bit for bit. A node that
only moves data needs no switch: values that are rounded once stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisection.precision.casting.storage import Storage, rounded
from trtforensics.bisection.precision.emulation.accumulation import accumulated, product_of
from trtforensics.bisection.precision.emulation.twin import emulate, store_and_read
from trtforensics.model.data_types import Accumulator
from trtforensics.onnx_models.graphs import copied, operator_set
from trtforensics.onnx_models.rewriting import GraphRewriter, Scope
from trtforensics.onnx_models.shapes import sizes_by_tensor

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy.typing as npt

    from trtforensics.bisection.precision.casting.caster import Caster
    from trtforensics.onnx_models.shapes import Sizes


_LARGEST_SPLIT = 1e30
"""Beyond it, the product would overflow FP32; larger values are masks, for which this limit is as good as infinity."""

_FP32_DIGITS = 24

_FIRST_WITH_BROADCAST_MAX = 8
"""Before this operator set, Max and Min take operands of one shape only, but Clip has its limits as attributes."""


def without_range_limits(caster: Caster, accumulator: Accumulator = Accumulator.FP32) -> onnx.ModelProto:
    """Return the model with every candidate rounded, nothing clamped; products sum in ``accumulator``."""
    model = copied(caster.prepared.proto)
    split = _Split(caster.storage, broadcasts=operator_set(model) >= _FIRST_WITH_BROADCAST_MAX)
    model.graph.initializer.extend(split.factors())
    shapes = sizes_by_tensor(caster.prepared.proto) if accumulator is Accumulator.FP16 else {}
    _Rounding(caster, split, shapes).rewrite(model.graph)
    return model


class _Rounding(GraphRewriter):
    def __init__(self, caster: Caster, split: _Split, shapes: Mapping[str, Sizes]) -> None:
        super().__init__()
        self._shapes = shapes
        self._caster = caster
        self._split = split
        self._written = {
            caster.survey.nodes[name].output[slot] for name, node in caster.candidates.items() for slot in node.outputs
        }

    def node(self, node: onnx.NodeProto, scope: Scope) -> None:
        """Round the operands of a candidate, as far as no candidate has made them, and its results."""
        graph = scope.graph
        if node.name not in self._caster.candidates:
            graph.node.append(node)
            return
        candidate = self._caster.candidates[node.name]
        product = product_of(node, self._shapes)
        for slot in candidate.inputs:
            tensor = node.input[slot]
            if tensor in self._written:
                continue
            mark = f"{tensor}__rounded_{scope.number}"
            if mark not in scope.copies:
                scope.copies.add(mark)
                if tensor in self._caster.survey.constants and tensor not in self._caster.prepared.streamed:
                    graph.initializer.append(self._constant(tensor, mark))
                else:
                    graph.node.extend(self._split.nodes(tensor, mark))
            node.input[slot] = mark
        results = [node.output[slot] for slot in candidate.outputs]
        for slot in candidate.outputs:
            node.output[slot] += "__exact"
        graph.node.append(node)
        for tensor in results:
            sums = f"{tensor}__exact"
            if product is not None:
                sums = f"{tensor}__summed"
                graph.node.extend(accumulated(node, product, sums, self._split.nodes))
            graph.node.extend(self._split.nodes(sums, tensor))

    def _constant(self, tensor: str, name: str) -> TensorProto:
        exact = numpy_helper.to_array(self._caster.survey.constants[tensor])
        return numpy_helper.from_array(rounded(exact, self._caster.storage), name)


@dataclass(frozen=True, slots=True)
class _Split:
    """Veltkamp's splitting as ONNX nodes."""

    storage: Storage
    broadcasts: bool

    def factors(self) -> list[TensorProto]:
        """Return the constants that the nodes of every splitting read."""
        factor = np.float32(2 ** (_FP32_DIGITS - self.storage.digits) + 1)
        limits = (("low", np.float32(-_LARGEST_SPLIT)), ("high", np.float32(_LARGEST_SPLIT)), ("factor", factor))
        return [numpy_helper.from_array(np.asarray(value), f"__split_{name}") for name, value in limits]

    def nodes(self, source: str, target: str) -> list[onnx.NodeProto]:
        """Return the nodes that round one tensor into another."""
        steps = (
            ("Mul", [f"{target}__x", "__split_factor"], f"{target}__c"),
            ("Sub", [f"{target}__c", f"{target}__x"], f"{target}__d"),
            ("Sub", [f"{target}__c", f"{target}__d"], target),
        )
        made = [helper.make_node(op, inputs, [output], name=f"{output}__{op}") for op, inputs, output in steps]
        return [*self._limited(source, target), *made]

    def _limited(self, source: str, target: str) -> list[onnx.NodeProto]:
        limited = f"{target}__x"
        if not self.broadcasts:
            name = f"{limited}__Clip"
            return [helper.make_node("Clip", [source], [limited], name=name, min=-_LARGEST_SPLIT, max=_LARGEST_SPLIT)]
        above = f"{target}__above"
        return [
            helper.make_node("Max", [source, "__split_low"], [above], name=f"{above}__Max"),
            helper.make_node("Min", [above, "__split_high"], [limited], name=f"{limited}__Min"),
        ]


SWITCHES = "__in_16_bits"
"""The name of the input: one boolean for each node that computes."""

_FIRST_WITH_WHERE = 9
_LARGEST_MODEL = 1_000_000_000
"""Bytes of a model: its mixture has the constants in both types and must be one message of less than 2 GiB."""


def can_mix(caster: Caster) -> bool:
    """Whether a model has a mixture: its operator set knows ``Where``, and both forms of it fit into one message."""
    proto = caster.prepared.proto
    return operator_set(proto) >= _FIRST_WITH_WHERE and proto.ByteSize() < _LARGEST_MODEL


def mixture_of(caster: Caster, accumulator: Accumulator = Accumulator.FP32) -> onnx.ModelProto:
    """Return the twin of all typed models of a caster, with one more input: :data:`SWITCHES`.

    16-bit products sum in ``accumulator``.
    """
    model = copied(caster.prepared.proto)
    _Mixing(caster, accumulator).rewrite(model.graph)
    return emulate(model)


def switches(caster: Caster, keep: Collection[str]) -> npt.NDArray[np.bool_]:
    """Return the value of the input for the mixture in which some nodes stay FP32; shape: (nodes that compute,)."""
    return np.asarray([name not in keep for name in _switched(caster)], np.bool_)


def _switched(caster: Caster) -> list[str]:
    return [name for name, node in caster.candidates.items() if node.moves is None]


def _switch(node: str) -> str:
    return f"{SWITCHES} {node}"


class _Mixing(GraphRewriter):
    def __init__(self, caster: Caster, accumulator: Accumulator) -> None:
        super().__init__()
        self._shapes = sizes_by_tensor(caster.prepared.proto) if accumulator is Accumulator.FP16 else {}
        self._caster = caster
        self._elem_type = caster.storage.elem_type

    def begin(self, scope: Scope) -> None:
        """Add the input of the model, and take the switch of each node from it."""
        if scope.number:
            return
        graph, switched = scope.graph, _switched(self._caster)
        graph.input.append(helper.make_tensor_value_info(SWITCHES, TensorProto.BOOL, [len(switched)]))
        for number, name in enumerate(switched):
            index = f"{SWITCHES}_{number}"
            graph.initializer.append(numpy_helper.from_array(np.asarray(number, np.int64), index))
            graph.node.append(helper.make_node("Gather", [SWITCHES, index], [_switch(name)], name=f"{index}_of"))

    def node(self, node: onnx.NodeProto, scope: Scope) -> None:
        """Have a node that computes read and store what its switch says."""
        graph, mark = scope.graph, f"__mixed_{scope.number}"
        candidate = self._caster.candidates.get(node.name)
        if candidate is None or candidate.moves is not None:
            graph.node.append(node)
            return
        exact = list(node.input)
        product = product_of(node, self._shapes)
        for slot in candidate.inputs:
            narrow = f"{exact[slot]}{mark}"
            if narrow not in scope.copies:
                scope.copies.add(narrow)
                self._round(exact[slot], narrow, graph)
            chosen = f"{node.name}{mark}_in_{slot}"
            graph.node.append(_where(_switch(node.name), narrow, exact[slot], chosen))
            node.input[slot] = chosen
        results = {slot: node.output[slot] for slot in candidate.outputs}
        for slot, result in results.items():
            node.output[slot] = f"{result}{mark}_exact"
        graph.node.append(node)
        for result in results.values():
            stored, sums = f"{result}{mark}_stored", f"{result}{mark}_exact"
            if product is not None:
                sums = f"{result}{mark}_summed"
                rounding = partial(store_and_read, elem_type=self._elem_type)
                graph.node.extend(accumulated(node, product, sums, rounding))
            self._round(sums, stored, graph)
            graph.node.append(_where(_switch(node.name), stored, f"{result}{mark}_exact", result))

    def _round(self, source: str, target: str, graph: onnx.GraphProto) -> None:
        """Store a tensor in 16 bits and read it back; a constant is stored as the caster stores it."""
        constant = self._caster.constants.narrow.get(source)
        if constant is not None:
            stored = onnx.TensorProto()
            stored.CopyFrom(constant)
            stored.name = f"{target}_16"
            graph.initializer.append(stored)
        else:
            cast = helper.make_node("Cast", [source], [f"{target}_16"], name=f"{target}_16", to=self._elem_type)
            graph.node.append(cast)
        graph.node.append(helper.make_node("Cast", [f"{target}_16"], [target], name=target, to=TensorProto.FLOAT))


def _where(switch: str, narrow: str, exact: str, chosen: str) -> onnx.NodeProto:
    return helper.make_node("Where", [switch, narrow, exact], [chosen], name=chosen)
