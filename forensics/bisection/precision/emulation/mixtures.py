"""One twin for all mixtures: an input says which nodes are in 16 bits, so that a probe costs a run and no session.

Each slot of a candidate that may be 16 bits wide reads ``Where(in 16 bits, rounded, exact)``, and each of its results
is stored likewise. ``Where`` only selects, so that the values are those of the twin of the typed model, bit for bit.
A node that only moves data needs no switch: values that are rounded once stay as they are.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisection.precision.emulation.accumulation import accumulated, product_of
from trtforensics.bisection.precision.emulation.twin import emulate, store_and_read
from trtforensics.model.data_types import Accumulator
from trtforensics.onnx_models.graphs import copied, operator_set
from trtforensics.onnx_models.rewriting import GraphRewriter, Scope
from trtforensics.onnx_models.shapes import sizes_by_tensor

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from trtforensics.bisection.precision.casting.caster import Caster

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
