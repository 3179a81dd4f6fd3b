"""Quantized models: which pairs of QuantizeLinear and DequantizeLinear cost the accuracy, measured in FP32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisection.precision.emulation.metrics import is_floating, scores_of
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.bisection.precision.items import PrecisionItem
from trtforensics.bisection.precision.repair.smallest import RepairSearch, solve
from trtforensics.console.counting import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from trtforensics.bisection.precision.casting.caster import Caster
    from trtforensics.bisection.precision.emulation.oracle import Oracle, Outputs
    from trtforensics.onnx_models.graphs import Survey

    Errors = Callable[[Collection[str]], float]

_SHARE = 0.5
_SHOWN = 8
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
    pairs = []
    for name, node in survey.nodes.items():
        if node.op_type != "QuantizeLinear" or survey.scopes[node.output[0]] != 0:
            continue
        uses = survey.uses.get(node.output[0], [])
        readers = [survey.nodes[use.node] for use in uses if use.scope == 0 and use.slot == 0]
        results = tuple(reader.output[0] for reader in readers if reader.op_type == "DequantizeLinear")
        whole = len(results) == len(uses) > 0 and node.output[0] not in survey.results
        if whole and all(survey.types.get(each) == TensorProto.FLOAT for each in (node.input[0], *results)):
            pairs.append(QuantizedPair(name, node.input[0], node.input[1], results))
    return tuple(pairs)


def quantized_weights(survey: Survey) -> int:
    """Count the constants that are stored as integers and dequantized."""
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


@dataclass(frozen=True, slots=True)
class PairCost:
    """A pair, by the node that quantizes, and the error that is left without it."""

    node: str
    tensor: str
    scale: str
    without: float | None


@dataclass(frozen=True, slots=True)
class QuantizationCost:
    """The error of all pairs, of all but each one, and the fewest pairs without which half of the error is left.

    Errors are the largest relative L2 of any sample and output, against the model without any pair; of integers, the
    share of unequal ones. None: not finite where that model is. ``stored_weights`` counts constants that are stored as
    integers: what that cost cannot be seen any more.
    """

    error: float | None
    pairs: tuple[PairCost, ...]
    half: tuple[str, ...]
    stored_weights: int

    def lines(self) -> list[str]:
        """Return what quantization costs as text, the pairs that cost most first."""
        ranked = sorted(self.pairs, key=lambda pair: np.inf if pair.without is None else pair.without)
        pairs = [f"  {pair.node}, scale {pair.scale}: without this pair {_shown(pair.without)}" for pair in ranked]
        more = len(pairs) - _SHOWN
        lines = [
            f"Quantized: {counted(len(ranked), 'pair')} of Q and DQ, at the cost of {_shown(self.error)}",
            "  by relative L2 in FP32 against the model without them.",
            *pairs[:_SHOWN],
            *([f"  and {more} more in result.json"] if more > 0 else []),
        ]
        if self.half:
            lines.append(f"  The fewest that halve it: leave out {listed(self.half, _SHOWN)}.")
        if self.stored_weights:
            lines.append(
                f"  What constants lost that are stored as integers ({self.stored_weights}) cannot be seen here."
            )
        return lines


def _shown(value: float | None) -> str:
    return "an output that is not finite" if value is None else f"{value:.3g}"


def cost_of(oracle: Oracle) -> QuantizationCost | None:
    """Measure the pairs of a model on the samples of its oracle; None if it has none.

    Raises:
        RunError: ONNX Runtime cannot run it with switches.
    """
    survey = oracle.caster.survey
    pairs = pairs_of(survey)
    if not pairs:
        return None
    run = oracle.runner(switched(oracle.caster, pairs))
    names = [pair.name for pair in pairs]

    def outputs(left_out: Collection[str]) -> list[Outputs]:
        return run({QUANTIZED: np.asarray([name not in left_out for name in names])})

    reference = outputs(names)

    def error(left_out: Collection[str]) -> float:
        return _error(reference, outputs(left_out))

    whole = error(())
    without = {name: error((name,)) for name in names}
    half = _half(names, without, whole, error) if 0.0 < whole < np.inf else ()
    costs = tuple(PairCost(pair.name, pair.tensor, pair.scale, _finite(without[pair.name])) for pair in pairs)
    return QuantizationCost(_finite(whole), costs, half, quantized_weights(survey))


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _half(names: list[str], without: Mapping[str, float], whole: float, error: Errors) -> tuple[str, ...]:
    """Search the pairs as a repair is searched: left out is what is kept in FP32 there."""
    least = min((error for error in without.values() if error), default=1.0)
    items = [PrecisionItem((name,), frozenset({name}), whole / max(without[name], least), "") for name in names]
    search = RepairSearch(items, {name: frozenset({name}) for name in names}, "integers", every=False)
    limit = _SHARE * whole
    answer = solve(search, lambda left_out: error(left_out) <= limit)
    repairs = answer.repairs if answer else ()
    return tuple(name for name in names if repairs and name in repairs[0].nodes)


def _error(reference: list[Outputs], outputs: list[Outputs]) -> float:
    worst = 0.0
    for wanted, got in zip(reference, outputs, strict=True):
        for name, values in wanted.items():
            scores = scores_of(np.asarray(values), np.asarray(got[name]), masked=True)
            measure = "rel-l2" if is_floating(np.asarray(values)) else "mismatch"
            worst = max(worst, np.inf if scores is None else scores[measure])
    return worst
