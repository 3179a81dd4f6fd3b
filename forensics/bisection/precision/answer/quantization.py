"""Quantized models: which pairs of QuantizeLinear and DequantizeLinear cost the accuracy, measured in FP32.

The reason is in the integer grid of a pair: what it clips of the values, and what it leaves unused. So the ranges of a
calibration cache are held against those that the samples show.

The format of a cache (TensorRT 3 to 10): a line ``TRT-8501-EntropyCalibration2``, version and calibrator; then for each
tensor its name, a colon, and the scale's 32 bits in hexadecimal digits, the most significant first. The range ends at
127 scales.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisection.precision.answer.kernels import PRODUCTS
from trtforensics.bisection.precision.answer.range_use import Grid, RangeUse, rank_of, use_of
from trtforensics.bisection.precision.casting.caster import Caster, operators_that
from trtforensics.bisection.precision.emulation.measures import is_floating, scores_of
from trtforensics.bisection.precision.emulation.oracle import Oracle, Outputs
from trtforensics.bisection.precision.emulation.twin import add_switches, emulate
from trtforensics.bisection.precision.items import PrecisionItem
from trtforensics.bisection.precision.repair.smallest import RepairSearch, solve
from trtforensics.console.counting import counted, grouped, head_lines, listed
from trtforensics.errors import SourceError
from trtforensics.findings.models.quantization import halved, needless_pairs, quantised
from trtforensics.onnx_models.checked import CheckedModel
from trtforensics.onnx_models.checked_graph import Survey
from trtforensics.onnx_models.graphs import integer

Errors = Callable[[Collection[str]], float]


_SHARE = 0.5
_INFINITE, _NONE = 1e30, 1e-12
_SHOWN = 8
_ENDS: Mapping[int, tuple[float, float]] = {
    TensorProto.INT8: (-128.0, 127.0),
    TensorProto.UINT8: (0.0, 255.0),
    TensorProto.INT4: (-8.0, 7.0),
}
_PLACEWISE = operators_that("placewise")
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


def switched(caster: Caster, pairs: tuple[QuantizedPair, ...]) -> onnx.ModelProto:
    """Return the FP32 model with one more input, :data:`QUANTIZED`; a pair that is off passes its tensor on."""
    model = emulate(caster.source)
    graph, nodes = model.graph, list(model.graph.node)
    graph.ClearField("node")
    switches = add_switches(graph, QUANTIZED, len(pairs))
    switched_pairs = zip(pairs, switches, strict=True)
    choices = {result: (switch, pair.tensor) for pair, switch in switched_pairs for result in pair.results}
    for node in nodes:
        graph.node.append(node)
        for slot, result in enumerate(node.output):
            if result in choices:
                quantized = graph.node[-1].output[slot] = f"{result}{QUANTIZED}"
                switch, exact = choices[result]
                graph.node.append(helper.make_node("Where", [switch, quantized, exact], [result], name=quantized))
    return model


@dataclass(frozen=True, slots=True)
class PairCost:
    """A pair, the error ``without`` it and with it ``alone``, and how its scale, if constant, suits the values."""

    node: str
    tensor: str
    scale: str
    without: float | None
    alone: float | None
    use: RangeUse | None = None


@dataclass(frozen=True, slots=True)
class QuantizationCost:
    """The error of all pairs, of all but each one, and the fewest pairs without which half of the error is left.

    Errors are the largest relative L2 of any sample and output, against the model without any pair; of integers, the
    share of unequal ones. None: not finite where that model is. ``stored_weights`` counts constants that are stored as
    integers: what that cost cannot be seen any more. ``unpaired`` are the products that lack pairs others have,
    ``needless`` the nodes before which a pair ends a fusion or only converts.
    """

    error: float | None
    pairs: tuple[PairCost, ...]
    half: tuple[str, ...]
    stored_weights: int
    unpaired: tuple[UnpairedNode, ...] = ()
    needless: tuple[UnpairedNode, ...] = ()

    def lines(self) -> list[str]:
        """Return what quantization costs as text: the pairs whose scale is at fault first, then by what they cost."""
        ranked = [f"  {each.node}, scale {each.scale}: without this pair {_cost(each)}" for each in self.ranked()]
        lines = [
            f"Quantized: {counted(len(ranked), 'pair')} of Q and DQ, at the cost of {_shown(self.error)}",
            "  by relative L2 in FP32 against the model without them.",
            *(f"  {each.node} computes in floating point: {each.why}." for each in self.unpaired[:_SHOWN]),
            *head_lines(ranked, _SHOWN),
        ]
        if self.half:
            lines.append(f"  The fewest that halve it: leave out {listed(self.half, _SHOWN)}.")
        for why, nodes in grouped(self.needless, lambda each: each.why).items():
            lines.append(f"  The Q/DQ before {listed([each.node for each in nodes], _SHOWN)} {why}.")
        if stored := self.stored_weights:
            lines.append(f"  What constants lost that are stored as integers ({stored}) cannot be seen here.")
        return lines

    def ranked(self) -> list[PairCost]:
        """Return the pairs by their cost, those at fault first, as errors may cancel at the output."""
        usual = float(np.median([pair.use.stretch for pair in self.pairs if pair.use] or [1.0]))
        whole, costs = _error_db(self.error), [_error_db(pair.alone) for pair in self.pairs]
        median = float(np.median(costs or [0.0]))

        def key(pair: PairCost) -> tuple[int, float]:
            return rank_of(pair.use, usual, whole - _error_db(pair.without), _error_db(pair.alone) - median)

        return sorted(self.pairs, key=key)


def _cost(pair: PairCost) -> str:
    """Return the error without a pair, what is wrong with its scale, and the signal-to-noise ratio that it leaves."""
    use = pair.use
    noise = "" if use is None or use.snr_db is None else f"{use.snr_db:.0f} dB"
    noise += f" of {use.fitted_db:.0f} dB" if use is not None and use.fitted_db is not None and use.is_at_fault else ""
    reason = "" if use is None or not use.reason else f"it {use.reason}"
    return "; ".join(filter(None, (_shown(pair.without), reason, noise)))


def _error_db(error: float | None) -> float:
    return float(20.0 * np.log10(_INFINITE if error is None else max(error, _NONE)))


def _shown(value: float | None) -> str:
    return "an output that is not finite" if value is None else f"{value:.3g}"


def cost_of(oracle: Oracle) -> QuantizationCost | None:
    """Measure the pairs of a model on its samples, None without any; a RunError where it does not run with switches."""
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
    alone = {name: error(set(names) - {name}) for name in names}
    half = _half(names, without, whole, error) if 0.0 < whole < np.inf else ()
    uses = uses_of(oracle, pairs)
    costs = tuple(
        PairCost(p.name, p.tensor, p.scale, _finite(without[p.name]), _finite(alone[p.name]), uses.get(p.name))
        for p in pairs
    )
    stored = sum(n.op_type == "DequantizeLinear" and n.input[0] in survey.constants for n in survey.nodes.values())
    model = CheckedModel(oracle.caster.prepared.path, oracle.caster.prepared.proto)
    needless = [UnpairedNode(each.label, why) for why, nodes in needless_pairs(model).items() for each in nodes]
    return QuantizationCost(_finite(whole), costs, half, stored, tuple(unpaired_nodes(model)), tuple(needless))


def uses_of(oracle: Oracle, pairs: tuple[QuantizedPair, ...]) -> dict[str, RangeUse]:
    """Return how the scales suit the values of the model without pairs, where they are constants of integer types."""
    survey, uses = oracle.caster.survey, {}
    grids = {pair: grid for pair in pairs if (grid := grid_of(survey, survey.nodes[pair.name])) is not None}
    off = {QUANTIZED: np.zeros(len(pairs), np.bool_)}
    made = {pair.tensor for pair in grids if pair.tensor in survey.producers or pair.tensor not in survey.constants}
    values = dict(oracle.values_of(sorted(made), switched(oracle.caster, pairs), off))
    for pair, grid in grids.items():
        arrays = values.get(pair.tensor) or [numpy_helper.to_array(survey.constants[pair.tensor])]
        readers = [survey.nodes[use.node].op_type for name in pair.results for use in survey.uses.get(name, ())]
        is_result = not survey.results.keys().isdisjoint(pair.results)
        if set(readers) == {"Relu"} and not is_result:  # what is clipped below 0 is lost there anyway
            arrays = [np.maximum(each, 0) for each in arrays]
        uses[pair.name] = use_of(arrays, grid, _channel_axes(survey, pair.results))
    return uses


def grid_of(survey: Survey, node: onnx.NodeProto) -> Grid | None:
    """Return the grid of a QuantizeLinear or DequantizeLinear; None where it is no constant, or not of integers."""
    names = [name for name in node.input[1:] if name]
    if not all(name in survey.constants for name in names):
        return None
    scale, *zero = (numpy_helper.to_array(survey.constants[name]) for name in names)
    quantized = names[1] if zero else node.input[0] if node.op_type == "DequantizeLinear" else ""
    ends = _ENDS.get(survey.constants[quantized].data_type if quantized in survey.constants else TensorProto.UINT8)
    steps = np.asarray(scale, np.float64).ravel()
    if ends is None or not (np.isfinite(steps) & (steps > 0)).all():
        return None
    points = np.asarray(zero[0], np.float64).ravel() if zero else np.zeros(1)
    axis = integer(node, "axis")
    return Grid(steps, points, *ends, 1 if axis is None else axis)


@dataclass(frozen=True, slots=True)
class UnpairedNode:
    """A node where pairs are wrongly placed, and how: a product whose operands are not all dequantized, for one."""

    node: str
    why: str


def unpaired_nodes(model: CheckedModel) -> list[UnpairedNode]:
    """Return the products of the main graph that lack a pair others have: first those with one on an operand alone."""
    products = [node for node in model.nodes if node.op in PRODUCTS and not node.holder]
    whole = [place for place, node in enumerate(products) if all(quantised(model, x) for x in node.proto.input[:2])]
    half, bare = [], []
    for place, node in enumerate(products):
        paired = halved(model, node) if whole else None
        if paired is not None:
            half.append(UnpairedNode(node.label, f"{node.proto.input[1 - paired]} has no pair, its other operand has"))
        elif whole and whole[0] < place < whole[-1] and not any(quantised(model, x) for x in node.proto.input[:2]):
            bare.append(UnpairedNode(node.label, "its operands have no pairs, products before and behind it have"))
    return half + bare


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _half(names: list[str], without: Mapping[str, float], whole: float, error: Errors) -> tuple[str, ...]:
    """Search the pairs as a repair is searched: left out is what is kept in FP32 there."""
    least = min((error for error in without.values() if error), default=1.0)
    items = [PrecisionItem((name,), frozenset({name}), whole / max(without[name], least), "") for name in names]
    search = RepairSearch(items, {name: frozenset({name}) for name in names}, "integers", every=False)
    limit = _SHARE * whole
    repairs = solve(search, lambda left_out: error(left_out) <= limit)
    return tuple(name for name in names if repairs and name in repairs[0].nodes)


def _error(reference: list[Outputs], outputs: list[Outputs]) -> float:
    worst = 0.0
    for wanted, got in zip(reference, outputs, strict=True):
        for name, values in wanted.items():
            scores = scores_of(np.asarray(values), np.asarray(got[name]), masked=True)
            measure = "rel-l2" if is_floating(np.asarray(values)) else "mismatch"
            worst = max(worst, np.inf if scores is None else scores[measure])
    return worst


def _channel_axes(survey: Survey, tensors: Sequence[str]) -> tuple[int, ...]:
    """Return the axes that channels may lie along, as the next product reads them; none: by the rank."""
    ahead = list(tensors)
    for name in ahead:
        for use in survey.uses.get(name, ()):
            node = survey.nodes[use.node]
            if node.op_type in PRODUCTS:
                return (1,) if node.op_type.startswith("Conv") else (-1, -2)[: use.slot + 1]
            if node.op_type in _PLACEWISE:
                ahead += [each for each in node.output if each not in ahead]
    return ()


_HEADER = re.compile(r"TRT-(\d+)-(\w+)")
_LINE = re.compile(r"(.+): *([0-9a-fA-F]{1,8})")
_LARGEST = 127.0
_MOST = 0.5
"""Of fewer names than half, the cache is of another network."""


def read_cache(path: str) -> tuple[str, str, dict[str, float]]:
    """Read a cache: TensorRT's version, the calibrator, the scale of each tensor; a SourceError where it is none."""
    next_step = "Give the calibration.cache that a calibrator wrote"
    try:
        first, *lines = Path(path).read_text(encoding="utf-8").splitlines() or [""]
    except OSError as error:
        raise SourceError(path, f"cannot be read: {(error.strerror or str(error)).lower()}", next_step) from error
    except UnicodeDecodeError as error:
        raise SourceError(path, "is no calibration cache: it is no text", next_step) from error
    header = _HEADER.fullmatch(first.strip())
    if header is None:
        raise SourceError(path, "is no calibration cache: it does not begin with TRT-VERSION-CALIBRATOR", next_step)
    scales = {}
    for number, line in enumerate(lines, 2):
        entry = _LINE.fullmatch(line.strip())
        if entry is not None:
            scales[entry[1]] = struct.unpack(">f", bytes.fromhex(entry[2].zfill(8)))[0]
        elif line.strip():
            raise SourceError(f"{path}:{number}", "is no line `TENSOR: SCALE` of a calibration cache", next_step)
    return header[1], header[2], scales


@dataclass(frozen=True, slots=True)
class CachedRange:
    """A tensor of a cache and of the model, and how its range suits the samples."""

    tensor: str
    scale: float
    use: RangeUse


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """A cache beside the model: its tensors, the worst first; names that the model lacks; tensors that it lacks."""

    path: str
    version: str
    calibrator: str
    ranges: tuple[CachedRange, ...]
    unknown: tuple[str, ...]
    missing: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the report as text."""
        total = len(self.ranges) + len(self.unknown)
        wrong, at_fault = [each for each in self.ranges if each.use.reason], sum(r.use.is_at_fault for r in self.ranges)
        of, known = f"{self.path}, {self.calibrator} of TensorRT {self.version}", len(self.ranges)
        verdict = f"{of}: {at_fault} of {counted(known, 'range')} do not suit the samples"
        if known < _MOST * total:
            verdict = f"{of}, is of another network: the model has {known} of its {total} names"
        lines = [f"Calibration: {verdict}."]
        lines += head_lines([f"  {each.tensor} {each.use.reason}" for each in wrong], _SHOWN)
        if self.missing:
            lines.append(f"  Without a range ({len(self.missing)}): {listed(self.missing, _SHOWN)}.")
        if self.unknown:
            lines.append(f"  Not in the model ({len(self.unknown)}): {listed(self.unknown, _SHOWN)}.")
        return lines


def held_against(path: str, oracle: Oracle) -> CalibrationReport:
    """Hold a cache against the tensors that depend on inputs, on the samples; else a RunError or SourceError."""
    version, calibrator, scales = read_cache(path)
    survey, ranges = oracle.caster.survey, []
    moving = oracle.caster.candidates.keys() | survey.sources
    known = {name: None for name in oracle.tensors if survey.producers.get(name, name) in moving}
    for name, arrays in oracle.values_of([name for name in known if name in scales]):
        scale = scales[name]
        step = np.asarray([scale if np.isfinite(scale) and scale > 0.0 else 1e-30], np.float64)
        use = use_of(arrays, Grid(step, np.zeros(1), -_LARGEST, _LARGEST), _channel_axes(survey, [name]))
        ranges.append(CachedRange(name, scale, use))
    ranges.sort(key=lambda each: -each.use.excess_db)
    unknown = tuple(name for name in scales if name not in known)
    missing = tuple(name for name in known if name not in scales) if ranges else ()
    return CalibrationReport(path, version, calibrator, tuple(ranges), unknown, missing)
