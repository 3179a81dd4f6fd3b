"""Pairs of QuantizeLinear and DequantizeLinear, and a model in which an input says which of them are left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisect.precision.emulation.twin import emulate

if TYPE_CHECKING:
    from trtforensics.bisect.precision.casting.caster import Caster
    from trtforensics.bisect.precision.casting.eligibility import Survey

QUANTIZED = "__quantized"
"""The name of the input: one boolean for each pair."""


@dataclass(frozen=True, slots=True)
class QuantizedPair:
    """A QuantizeLinear of the main graph, the FP32 tensor that it reads, its scale, and what dequantizes its result."""

    name: str
    tensor: str
    scale: str
    results: tuple[str, ...]


def pairs_of(survey: Survey) -> tuple[QuantizedPair, ...]:
    """Return the pairs in FP32, in the order of the model. All that reads a quantized tensor must dequantize it."""
    found = []
    for name, node in survey.nodes.items():
        if node.op_type != "QuantizeLinear" or survey.scopes[node.output[0]] != 0:
            continue
        uses = survey.uses.get(node.output[0], [])
        readers = [survey.nodes[use.node] for use in uses if use.scope == 0 and use.slot == 0]
        results = tuple(reader.output[0] for reader in readers if reader.op_type == "DequantizeLinear")
        whole = len(results) == len(uses) > 0 and node.output[0] not in survey.results
        if whole and all(survey.types.get(each) == TensorProto.FLOAT for each in (node.input[0], *results)):
            found.append(QuantizedPair(name, node.input[0], node.input[1], results))
    return tuple(found)


def quantized_weights(survey: Survey) -> int:
    """Count the constants that are stored as integers and dequantized: what that cost cannot be seen any more."""
    return sum(
        node.op_type == "DequantizeLinear" and node.input[0] in survey.constants for node in survey.nodes.values()
    )


def switched(caster: Caster, pairs: tuple[QuantizedPair, ...]) -> onnx.ModelProto:
    """Return the FP32 model with one more input, :data:`QUANTIZED`; a pair that is off passes its tensor on."""
    model = emulate(caster.prepared.proto)
    graph = model.graph
    switch_of = {result: number for number, pair in enumerate(pairs) for result in pair.results}
    source_of = {result: pair.tensor for pair in pairs for result in pair.results}
    nodes = list(graph.node)
    graph.ClearField("node")
    graph.input.append(helper.make_tensor_value_info(QUANTIZED, TensorProto.BOOL, [len(pairs)]))
    for number in range(len(pairs)):
        index, switch = f"{QUANTIZED}_{number}", f"{QUANTIZED} {number}"
        graph.initializer.append(numpy_helper.from_array(np.asarray(number, np.int64), index))
        graph.node.append(helper.make_node("Gather", [QUANTIZED, index], [switch], name=f"{index}_of"))
    for node in nodes:
        graph.node.append(node)
        for slot, result in enumerate(node.output):
            if result in switch_of:
                copy = graph.node[-1]
                copy.output[slot] = f"{result}{QUANTIZED}"
                inputs = [f"{QUANTIZED} {switch_of[result]}", copy.output[slot], source_of[result]]
                graph.node.append(helper.make_node("Where", inputs, [result], name=f"{result}{QUANTIZED}_or_not"))
    return model
