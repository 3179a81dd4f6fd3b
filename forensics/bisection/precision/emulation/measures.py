"""Measures of tensors inside the bodies of If, Loop and Scan, as outputs of the model.

A body hands a measure on to its node: a vector of a fixed length, so that Loop and Scan can stack those of their
iterations whatever the shapes of the tensors are. The stack is reduced to one vector again. A branch that is not taken
gives zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.onnx_models.graphs import bodies, holds_graphs, inside, operator_set, refill
from trtforensics.onnx_models.rewriting import NodeWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Measured = Callable[[NodeWriter, str, str], str]

_REACHED = frozenset({"If", "Loop", "Scan"})
_TAP = "__measured"
_AXES_ARE_INPUTS = {"ReduceMax": 18, "ReduceSum": 13}
"""The operator sets from which on these take their axes as an input."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What to ask of a tensor inside a body.

    ``write`` adds nodes that compute it from a tensor, of which it gets the name in the answer and the name in the
    graph; it returns a vector of ``length`` numbers, FP64. ``reduction`` joins those of several executions: ReduceMax
    or ReduceSum.
    """

    write: Measured
    length: int
    reduction: str


def is_reached(node: onnx.NodeProto) -> bool:
    """Whether measures come out of all bodies of a node."""
    holders = (each for each in (node, *inside(node)) if holds_graphs(each))
    return all(each.op_type in _REACHED for each in holders)


def measured_inside(
    model: onnx.ModelProto, wanted: Mapping[int, Mapping[str, str]], measure: Measure
) -> dict[str, str]:
    """Make measures of tensors in bodies the only outputs of a model; return these, each with the name in the answer.

    ``wanted`` holds by a body's number, in the order of the file, the names of its tensors by those in the answer. The
    same names in the answer give the same outputs.
    """
    taps = _Tapping(wanted, measure, operator_set(model)).graph(model.graph)
    refill(model.graph, "output", map(_value, taps))
    return taps


@dataclass(slots=True)
class _Tapping:
    wanted: Mapping[int, Mapping[str, str]]
    measure: Measure
    version: int
    numbers: Iterator[int] = field(default_factory=count)

    def graph(self, graph: onnx.GraphProto) -> dict[str, str]:
        """Add the measures of a graph and of all in it; return them, each with the name in the answer."""
        number = next(self.numbers)
        added: dict[str, str] = {}
        for node in list(graph.node):
            added.update(self._node(node, graph))
        for about, source in self.wanted.get(number, {}).items():
            tap = f"{about}{_TAP}_{number}"
            writer = NodeWriter(tap)
            writer.named(self.measure.write(writer, about, source), tap)
            graph.node.extend(writer.nodes)
            added[tap] = about
        return added

    def _node(self, node: onnx.NodeProto, graph: onnx.GraphProto) -> dict[str, str]:
        measured = [(body, self.graph(body)) for body in bodies(node)]
        taps = {tap: about for _, inner in measured for tap, about in inner.items()}
        if not taps or node.op_type not in _REACHED:
            return {}
        results = len(measured[0][0].output) - (node.op_type == "Loop")  # its first is the condition
        node.output.extend([""] * (results - len(node.output)))
        for number, (body, inner) in enumerate(measured):
            for tap in taps:
                name = tap if tap in inner else f"{tap}_{number}"
                if tap not in inner:
                    nothing = numpy_helper.from_array(np.zeros(self.measure.length), "value")
                    body.node.append(helper.make_node("Constant", [], [name], value=nothing))
                body.output.append(_value(name))
        return {self._outside(node, graph, tap): about for tap, about in taps.items()}

    def _outside(self, node: onnx.NodeProto, graph: onnx.GraphProto, tap: str) -> str:
        """Add an output to a node with bodies; return the one vector that it comes to."""
        result = f"{tap}_outside"
        if node.op_type == "If":
            node.output.append(result)
            return result
        for attribute in node.attribute:
            if attribute.name in {"scan_output_axes", "scan_output_directions"}:
                attribute.ints.append(0)
        node.output.append(f"{tap}_each")
        writer = NodeWriter(result)
        nothing = writer.constant(np.zeros((1, self.measure.length)), np.float64)
        every = writer.add("Concat", nothing, f"{tap}_each", axis=0)
        if self.version >= _AXES_ARE_INPUTS[self.measure.reduction]:
            reduced = writer.add(self.measure.reduction, every, writer.constant([0]), keepdims=0)
        else:
            reduced = writer.add(self.measure.reduction, every, axes=[0], keepdims=0)
        writer.named(reduced, result)
        graph.node.extend(writer.nodes)
        return result


def _value(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.DOUBLE, None)
