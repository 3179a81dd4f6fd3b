"""The rounding floor: what 16 bits of storage cost if their exponent had no limits.

The operands and results of every candidate are rounded to the type's digits in FP32, by Veltkamp's splitting
(``c = x * (2**s + 1); c - (c - x)``), so that rounding shows and overflow does not. Where products sum in FP16, the
partial sums are rounded likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisection.precision.casting.storage import rounded
from trtforensics.bisection.precision.emulation.accumulation import accumulated, product_of
from trtforensics.model.data_types import Accumulator
from trtforensics.onnx_models.graphs import copied, operator_set
from trtforensics.onnx_models.rewriting import GraphRewriter, Scope
from trtforensics.onnx_models.shapes import sizes_by_tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.bisection.precision.casting.caster import Caster
    from trtforensics.bisection.precision.casting.storage import Storage
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
