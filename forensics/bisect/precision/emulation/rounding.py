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

from trtforensics.bisect.precision.casting.preparation import bodies
from trtforensics.bisect.precision.casting.storage import rounded
from trtforensics.bisect.precision.emulation.accumulation import accumulated, product_of, shapes_of
from trtforensics.model.accumulator import Accumulator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trtforensics.bisect.precision.casting.caster import Caster
    from trtforensics.bisect.precision.casting.storage import Storage

_LARGEST_SPLIT = 1e30
"""Beyond it, the product would overflow FP32; larger values are masks, for which this limit is as good as infinity."""

_FP32_DIGITS = 24

_FIRST_WITH_BROADCAST_MAX = 8
"""Before this operator set, Max and Min take operands of one shape only, but Clip has its limits as attributes."""


def without_range_limits(caster: Caster, accumulator: Accumulator = Accumulator.FP32) -> onnx.ModelProto:
    """Return the model with every candidate rounded, nothing clamped; products sum in ``accumulator``."""
    model = onnx.ModelProto()
    model.CopyFrom(caster.prepared.proto)
    version = max(entry.version for entry in model.opset_import if entry.domain in {"", "ai.onnx"})
    split = _Split(caster.storage, broadcasts=version >= _FIRST_WITH_BROADCAST_MAX)
    model.graph.initializer.extend(split.factors())
    shapes = shapes_of(caster.prepared.proto) if accumulator is Accumulator.FP16 else {}
    _Rounding(caster, split, shapes).graph(model.graph)
    return model


class _Rounding:
    def __init__(self, caster: Caster, split: _Split, shapes: Mapping[str, Sequence[int]]) -> None:
        self._shapes = shapes
        self._caster = caster
        self._split = split
        self._numbers: Iterator[int] = iter(range(1 << 30))
        self._written = {
            caster.survey.nodes[name].output[slot] for name, node in caster.candidates.items() for slot in node.outputs
        }
        self._constants: set[str] = set()

    def graph(self, graph: onnx.GraphProto) -> None:
        """Round in one graph and its subgraphs, in place."""
        scope = next(self._numbers)
        nodes = list(graph.node)
        graph.ClearField("node")
        done: set[str] = set()
        for node in nodes:
            for body in bodies(node):
                self.graph(body)
            if node.name in self._caster.candidates:
                self._node(node, scope, graph, done)
            else:
                graph.node.append(node)

    def _node(self, node: onnx.NodeProto, scope: int, graph: onnx.GraphProto, done: set[str]) -> None:
        candidate = self._caster.candidates[node.name]
        product = product_of(node, self._shapes)
        for slot in candidate.inputs:
            tensor = node.input[slot]
            if tensor in self._written:
                continue
            mark = f"{tensor}__rounded_{scope}"
            if mark not in done:
                done.add(mark)
                if tensor in self._caster.survey.constants:
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
