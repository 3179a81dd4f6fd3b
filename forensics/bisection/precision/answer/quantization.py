"""Quantized models: which pairs of QuantizeLinear and DequantizeLinear cost the accuracy, measured in FP32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisection.precision.answer.int8_ranges import Grid, RangeUse, use_of
from trtforensics.bisection.precision.emulation.metrics import is_floating, scores_of
from trtforensics.bisection.precision.emulation.oracle import set_outputs
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.bisection.precision.items import PrecisionItem
from trtforensics.bisection.precision.repair.smallest import RepairSearch, solve
from trtforensics.console.counting import counted, listed
from trtforensics.onnx_models.graphs import integer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from trtforensics.bisection.precision.casting.caster import Caster
    from trtforensics.bisection.precision.emulation.oracle import Oracle, Outputs
    from trtforensics.onnx_models.graphs import Survey

    Errors = Callable[[Collection[str]], float]

_SHARE = 0.5
_SHOWN = 8
_A_RUN = 32
"""How many tensors one run returns."""
_ENDS: Mapping[int, tuple[float, float]] = {
    TensorProto.INT8: (-128.0, 127.0),
    TensorProto.UINT8: (0.0, 255.0),
    TensorProto.INT4: (-8.0, 7.0),
}
_PRODUCTS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_MOVES = frozenset({"Flatten", "Identity", "MaxPool", "Relu", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"})
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
    """A pair, by the node that quantizes, and the error that is left without it.

    ``use`` says how its scale suits the values, as the model without pairs has them; None where no constant gives it.
    """

    node: str
    tensor: str
    scale: str
    without: float | None
    use: RangeUse | None = None


@dataclass(frozen=True, slots=True)
class QuantizationCost:
    """The error of all pairs, of all but each one, and the fewest pairs without which half of the error is left.

    Errors are the largest relative L2 of any sample and output, against the model without any pair; of integers, the
    share of unequal ones. None: not finite where that model is. ``stored_weights`` counts constants that are stored as
    integers: what that cost cannot be seen any more. ``unpaired`` are the products that lack pairs others have.
    """

    error: float | None
    pairs: tuple[PairCost, ...]
    half: tuple[str, ...]
    stored_weights: int
    unpaired: tuple[UnpairedNode, ...] = ()

    def lines(self) -> list[str]:
        """Return what quantization costs as text, the pairs that cost most first."""
        ranked = sorted(self.pairs, key=lambda pair: np.inf if pair.without is None else pair.without)
        pairs = [f"  {each.node}, scale {each.scale}: without this pair {_cost(each)}" for each in ranked]
        more = len(pairs) - _SHOWN
        lines = [
            f"Quantized: {counted(len(ranked), 'pair')} of Q and DQ, at the cost of {_shown(self.error)}",
            "  by relative L2 in FP32 against the model without them.",
            *(f"  {each.node} computes in floating point: {each.why}." for each in self.unpaired[:_SHOWN]),
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


def _cost(pair: PairCost) -> str:
    """Return the error without a pair, what is wrong with its scale, and the signal-to-noise ratio that it leaves."""
    use = pair.use
    noise = "" if use is None or use.snr_db is None else f"{use.snr_db:.0f} dB"
    reason = "" if use is None or not use.reason else f"it {use.reason}"
    return "; ".join(filter(None, (_shown(pair.without), reason, noise)))


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
    uses = _uses(oracle, pairs)
    costs = tuple(
        PairCost(pair.name, pair.tensor, pair.scale, _finite(without[pair.name]), uses.get(pair.name)) for pair in pairs
    )
    return QuantizationCost(_finite(whole), costs, half, quantized_weights(survey), unpaired_nodes(survey))


def _uses(oracle: Oracle, pairs: tuple[QuantizedPair, ...]) -> dict[str, RangeUse]:
    """Return how the scales suit the values of the model without pairs, where they are constants of integer types."""
    survey = oracle.caster.survey
    grids = {pair.name: grid for pair in pairs if (grid := _grid(survey, pair)) is not None}
    uses: dict[str, RangeUse] = {}
    off = {QUANTIZED: np.zeros(len(pairs), np.bool_)}
    for start in range(0, len(pairs), _A_RUN):
        part = [pair for pair in pairs[start : start + _A_RUN] if pair.name in grids]
        model = switched(oracle.caster, pairs)
        made = [pair.tensor for pair in part if pair.tensor in survey.producers]
        set_outputs(model, dict.fromkeys(made))
        runs = oracle.runner(model)(off) if made else []
        for pair in part:
            values = [run[pair.tensor] for run in runs if pair.tensor in run]
            constant = survey.constants.get(pair.tensor)
            if not values:
                samples = [sample[pair.tensor] for sample in oracle.samples if pair.tensor in sample]
                values = samples if constant is None else [numpy_helper.to_array(constant)]
            uses[pair.name] = use_of(values, grids[pair.name])
    return uses


def _grid(survey: Survey, pair: QuantizedPair) -> Grid | None:
    node = survey.nodes[pair.name]
    names = [name for name in node.input[1:] if name]
    if not all(name in survey.constants for name in names):
        return None
    scale, *zero = (numpy_helper.to_array(survey.constants[name]) for name in names)
    kind = survey.constants[names[1]].data_type if zero else TensorProto.UINT8
    ends = _ENDS.get(kind)
    steps = np.asarray(scale, np.float64).ravel()
    if ends is None or not (np.isfinite(steps) & (steps > 0)).all():
        return None
    points = np.asarray(zero[0], np.float64).ravel() if zero else np.zeros(1)
    axis = integer(node, "axis")
    return Grid(steps, points, *ends, 1 if axis is None else axis)


@dataclass(frozen=True, slots=True)
class UnpairedNode:
    """A product between quantized ones whose operands are not all dequantized, and which are not."""

    node: str
    why: str


def unpaired_nodes(survey: Survey) -> tuple[UnpairedNode, ...]:
    """Return the products of the main graph that lack a pair, between others that have theirs."""
    found = {
        name: [_is_quantized(survey, operand) for operand in node.input[:2]]
        for name, node in survey.nodes.items()
        if node.op_type in _PRODUCTS and survey.scopes[node.output[0]] == 0
    }
    order = list(found)
    whole = [place for place, name in enumerate(order) if all(found[name])]
    unpaired = []
    for place, name in enumerate(order):
        data, weight = found[name]
        if data != weight and whole:
            bare = survey.nodes[name].input[int(data)]
            unpaired.append(UnpairedNode(name, f"{bare} has no pair, its other operand has"))
        elif not data and whole and whole[0] < place < whole[-1]:
            unpaired.append(UnpairedNode(name, "its operands have no pairs, products before and behind it have"))
    return tuple(unpaired)


def _is_quantized(survey: Survey, tensor: str) -> bool:
    """Whether a tensor is dequantized, straight or through what only moves values."""
    maker = survey.maker(tensor)
    while maker is not None and maker.op_type in _MOVES:
        maker = survey.maker(maker.input[0])
    return maker is not None and maker.op_type == "DequantizeLinear"


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
