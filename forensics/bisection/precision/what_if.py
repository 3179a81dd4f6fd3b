"""What if the products of a model computed in 8 bits: which ranges suit it, which products cost most, and a proposal.

Every product of the main graph gets a pair of QuantizeLinear and DequantizeLinear at both operands, and all kinds of
ranges are tried. Under the best, a curve shows the error against the products that stay FP32.

Ranges are symmetric: the largest magnitude divided by the end of the type is the scale. Activations have one scale a
tensor, as TensorRT wants it; weights one a tensor or one for each channel of the output.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisection.precision.answer.kernels import PRODUCTS
from trtforensics.bisection.precision.answer.operators import built
from trtforensics.bisection.precision.answer.quantization import QUANTIZED, pairs_of, switched
from trtforensics.bisection.precision.casting.caster import Caster, save
from trtforensics.bisection.precision.emulation.judging import Judged, Scores, scores_text
from trtforensics.bisection.precision.emulation.oracle import Oracle, judge_for
from trtforensics.bisection.precision.nodes import PrecisionLever
from trtforensics.bisection.precision.repair.curve import RoundingCurve, excess, rounding_curve
from trtforensics.bisection.precision.running import PrecisionForecast, builds_of, lever_of, subject_of
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search_options import ModelRequest, PrecisionOptions
from trtforensics.bisection.session.answer import answer_text, write_result
from trtforensics.bisection.session.artifacts import FIXED, LOCK, RESULT, locked
from trtforensics.console.counting import counted, listed
from trtforensics.console.output import explained
from trtforensics.console.own_files import owned
from trtforensics.errors import SourceError, UsageError
from trtforensics.findings.models.quantization import channel_axis
from trtforensics.onnx_models.checked_graph import Survey
from trtforensics.onnx_models.graphs import copied
from trtforensics.onnx_models.reading import rewritten
from trtforensics.onnx_models.samples import Values

_SHOWN = 8
_BUILD = "build"
_OURS = frozenset({LOCK, RESULT, FIXED, _BUILD})
_OPERANDS = 2
_PERCENTILE = 99.99
_BINS = 2048
_LEVELS = 128
_STEP = 16
"""How many bins each range of the search by entropy has more than the one before."""
_GROUPS = 24
"""How many groups of products the curve has."""


@dataclass(frozen=True, slots=True)
class QuantizedType:
    """A type of 8 bits, its largest value, and how ranges may be chosen: by entropy only for 128 equal steps."""

    name: str
    elem_type: int
    largest: float
    methods: tuple[str, ...]


TYPES = {
    "int8": QuantizedType("int8", TensorProto.INT8, 127.0, ("max", "percentile", "entropy")),
    "fp8": QuantizedType("fp8", TensorProto.FLOAT8E4M3FN, 448.0, ("max", "percentile")),
}


def products_of(survey: Survey) -> dict[str, tuple[str, ...]]:
    """Return the products of the main graph that can be quantized, with their two operands in FP32."""
    products = {}
    for name, node in survey.nodes.items():
        if node.op_type in PRODUCTS and survey.scopes[node.output[0]] == 0:
            operands = tuple(node.input[:_OPERANDS])
            if all(survey.types.get(each) == TensorProto.FLOAT for each in operands):
                products[name] = operands
    return products


def ranges_of(oracle: Oracle, tensors: Collection[str], methods: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the largest magnitude to keep of each tensor that depends on the samples, by method and name."""
    ranges: dict[str, dict[str, float]] = {method: {} for method in methods}
    for name, arrays in oracle.values_of(tensors):
        magnitudes = np.abs(np.concatenate([np.ravel(each) for each in arrays]))
        magnitudes = magnitudes[np.isfinite(magnitudes)]
        for method in methods:
            ranges[method][name] = float(_METHODS[method](magnitudes)) if magnitudes.size else 0.0
    return ranges


def _by_entropy(magnitudes: Values) -> float:
    """Return the range whose 128 steps lose the least information of the histogram (Migacz, GTC 2017)."""
    # the bin of zero counts as its neighbour: a ReLU makes many zeros, and they cost nothing
    counts, edges = np.histogram(magnitudes, _BINS, range=(0.0, float(magnitudes.max()) or 1.0))
    counts[0] = counts[1]
    best, least = float(edges[-1]), np.inf
    for end in range(_LEVELS, _BINS + 1, _STEP):
        inside = counts[:end].astype(np.float64)
        if not inside.any():
            continue
        clipped = inside.copy()
        clipped[np.flatnonzero(inside)[-1]] += counts[end:].sum()
        steps = np.arange(end) * _LEVELS // end
        filled = np.bincount(steps, inside > 0, _LEVELS)
        means = np.bincount(steps, inside, _LEVELS) / np.maximum(filled, 1.0)
        seen = inside > 0
        kept, share = means[steps][seen], clipped[seen] / clipped.sum()
        lost = float(np.sum(share * np.log(share * kept.sum() / kept)))
        if lost < least:
            best, least = float(edges[end]), lost
    return best


_METHODS: Mapping[str, Callable[[Values], float]] = {
    "max": np.max,
    "percentile": lambda magnitudes: np.percentile(magnitudes, _PERCENTILE),
    "entropy": _by_entropy,
}


def quantized(
    caster: Caster, products: Collection[str], kind: QuantizedType, ranges: Mapping[str, float], *, by_channel: bool
) -> onnx.ModelProto:
    """Return an FP32 model, of an operator set that knows the type, with a pair at each operand of some products.

    ``ranges`` has the largest magnitude of each activation; constants have their own, ``by_channel`` one for each
    channel of the output. Pairs are named ``LAYER__0_Q`` and so on.
    """
    model = copied(caster.prepared.proto)
    graph, constants, nodes = model.graph, caster.survey.constants, list(model.graph.node)
    graph.ClearField("node")
    for node in nodes:
        for slot in range(_OPERANDS) if node.name in products else ():
            tensor, stem, axis = node.input[slot], f"{node.name}__{slot}", None
            if tensor in constants:
                values = np.abs(numpy_helper.to_array(constants[tensor]).astype(np.float64))
                axis = channel_axis(node) if by_channel and slot and values.ndim >= _OPERANDS else None
                axis = None if axis is None else axis % values.ndim
                reach = values.max(axis=tuple(each for each in range(values.ndim) if each != axis), initial=0.0)
            else:
                reach = np.asarray(ranges[tensor], np.float64)
            steps = np.where(reach > 0.0, reach / kind.largest, 1.0).astype(np.float32)
            scale = numpy_helper.from_array(steps, f"{stem}_scale")
            zero = helper.make_tensor(f"{stem}_zero", kind.elem_type, steps.shape, bytes(steps.size), raw=True)
            graph.initializer.extend([scale, zero])
            more: dict[str, Any] = {} if axis is None else {"axis": axis}
            for op, name in (("QuantizeLinear", f"{stem}_Q"), ("DequantizeLinear", f"{stem}_DQ")):
                graph.node.append(helper.make_node(op, [tensor, scale.name, zero.name], [name], name=name, **more))
                tensor = name
            node.input[slot] = tensor
        graph.node.append(node)
    return model


def scorer(oracle: Oracle, model: onnx.ModelProto) -> Callable[[Collection[str]], Scores]:
    """Return what scores a model of :func:`quantized` with some of its products in FP32, in one session."""
    caster = _caster_of(oracle.caster, model)
    pairs = pairs_of(caster.survey)
    run = oracle.runner(switched(caster, pairs))
    owners = [pair.name.rpartition("__")[0] for pair in pairs]
    return lambda kept: oracle.compared(run({QUANTIZED: np.asarray([owner not in kept for owner in owners])}))


def _caster_of(caster: Caster, model: onnx.ModelProto) -> Caster:
    return Caster(rewritten(caster.prepared, model, ""), caster.storage)


@dataclass(frozen=True, slots=True)
class RangeTrial:
    """Every product in 8 bits: weights with a scale for each ``channel`` or ``tensor``, activations by a method."""

    weights: str
    activations: str
    scores: Mapping[str, float | None]
    passes: bool


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What the products of a model cost in 8 bits. ``left_out`` are those that the proposal keeps in FP32.

    ``best`` is the number of the trial that the curve and the proposal are of; ``built`` is None without a build.
    """

    precision: str
    samples_are: str
    products: tuple[str, ...]
    ranges: tuple[RangeTrial, ...]
    best: int
    curve: RoundingCurve
    left_out: tuple[str, ...]
    held_out: Judged | None
    judged: Mapping[str, Mapping[str, float]]
    built: bool | None
    why_not_built: str
    notes: tuple[str, ...]

    @property
    def certified(self) -> bool:
        """Whether the proposal passes, and builds if that was tried."""
        held = self.held_out is None or self.held_out.passes
        return self.curve.points[self.curve.chosen].passes and held and self.built is not False

    def document(self) -> dict[str, object]:
        """Return ``result.json``."""
        return {"schema": 1, "kind": "quantization", **asdict(self)}

    def text(self, directory: Path, fixed: Sequence[str] = (), *, wants_builds: bool = True) -> str:
        """Return the answer as text; ``fixed`` has a line about each file of ``fixed/`` in the directory."""
        best, point = self.ranges[self.best], self.curve.points[self.curve.chosen]
        done = f"{len(self.products) - len(self.left_out)} of {counted(len(self.products), 'product')}"
        verdict = "passes" if point.passes else "does not pass"
        lines = [f"What if {self.precision}, on {self.samples_are}: the model with {done} quantized {verdict}."]
        if not point.passes:
            lines.append("No point of the curve passes that keeps at most 90 % of the work in FP32.")
        lines += [f"Stay FP32: {listed(self.left_out, _SHOWN)}."] if self.left_out else []
        lines.append("All products quantized, by the scales of weights and the ranges of activations:")
        for trial in self.ranges:
            marks = (" passes" if trial.passes else "") + (" (used below)" if trial is best else "")
            scales = f"{trial.weights}, {trial.activations}"
            lines.append(f"  {scales:20}  {scores_text(trial.scores)}{marks}")
        lines += self.curve.lines(self.samples_are)
        for name, limits in self.judged.items():
            lines.append(f"{name} passes by {' and '.join(f'{metric} {limit:g}' for metric, limit in limits.items())}.")
        if self.held_out is not None:
            lines.append(f"On the held-out samples, of which no range was taken, it {self.held_out}.")
        lines += [f"Note: {note}." for note in self.notes]
        if self.built is not None:
            lines.append("TensorRT builds it." if self.built else f"It was not built: {self.why_not_built}.")
        elif wants_builds:
            lines.append("No TensorRT is installed here, so nothing was built.")
        else:
            lines.append("Nothing was built (--build none).")
        lines.append("Emulated: each operand is rounded to its scale, sums are FP32. No engine was run.")
        return answer_text(lines, directory, fixed)


def forecast_what_if(request: ModelRequest[PrecisionOptions], options: RunOptions) -> PrecisionForecast:
    """Return what a curve of products in 8 bits would cost, without a run of the model."""
    builds, subject = builds_of(options), subject_of(request)
    names = tuple(products_of(subject.caster.survey))
    probes = 2 * min(_GROUPS, len(names)) + 1 + 2 * len(TYPES[request.asked.precision].methods)
    builder = subject.target.module if subject.target else None
    return PrecisionForecast("quantization", len(names), names, probes, builds, builder)


def what_if(
    request: ModelRequest[PrecisionOptions], options: RunOptions, directory: Path, show: Callable[[str], None]
) -> tuple[WhatIf, Sequence[str]]:
    """Try the ranges, measure the curve, write and build the proposal; return it and a line about its file.

    ``options.build`` is one of :data:`BUILDS`. ``show`` gets lines of progress.

    Raises:
        SourceError: the model or its samples cannot be read, or nothing in it can be quantized.
        UsageError: the options make no sense together or for this model, or the directory is another job's, or in use.
        OutputError: the directory cannot be written to.
    """
    asked, kind = request.asked, TYPES[request.asked.precision]
    unused = {
        "--check": options.check,
        "--against": asked.against,
        "--reference": asked.reference,
        "--calibration": asked.calibration,
        "--by constraints": asked.by == "constraints",
        "--accumulate fp16": asked.accumulate == "fp16",
    }
    for flag, given in unused.items():
        if given:
            raise UsageError(flag, f"has no use with --precision {kind.name}", "Leave it out")
    wants_builds = builds_of(options) != "none"
    lever, path = lever_of(request, subject_of(request), directory.absolute()), request.model
    survey = lever.caster.survey
    if pairs_of(survey):
        raise SourceError(path, "has pairs of Q and DQ already", "Give the FP32 model that it was made of")
    if lever.caster.prepared.streamed:
        raise SourceError(path, "has more than 1.9 GB of weights, which are not quantized here", "Give a part of it")
    products = products_of(survey)
    if not products:
        raise SourceError(path, "has no MatMul, Gemm or Conv in FP32 to quantize", "Give a model with products")
    with explained(str(directory)):
        directory.mkdir(parents=True, exist_ok=True)
    owned(directory)
    if any(each.name not in _OURS for each in directory.iterdir()):
        raise UsageError(str(directory), "holds other files", "Name an empty or a new directory")
    with locked(directory):
        answer, proposed = _measured(lever, kind, products, show)
        problem, fixed = _written(lever, proposed, directory, options.timeout, build=wants_builds)
        answer = replace(answer, built=None if problem is None else not problem, why_not_built=problem or "")
        write_result(directory, answer.document())
    return answer, fixed


def _measured(
    lever: PrecisionLever, kind: QuantizedType, products: Mapping[str, Sequence[str]], show: Callable[[str], None]
) -> tuple[WhatIf, onnx.ModelProto]:
    """Try the ranges and measure the curve; return the answer, without a build, and the proposed model."""
    caster, oracle = lever.caster, lever.oracle
    judge = judge_for(oracle, lever.rules, replace(caster.storage, name=kind.name))
    operands = {name: None for pair in products.values() for name in pair if name not in caster.survey.constants}
    show("ranges of activations")
    ranges = ranges_of(oracle, operands, kind.methods)
    trials, costs, forms = [], [], [(each, method) for each in (True, False) for method in kind.methods]
    for by_channel, method in forms:
        show(f"scales by {method}")
        scores = scorer(oracle, quantized(caster, products, kind, ranges[method], by_channel=by_channel))(())
        judgement = judge.judge(scores)
        costs.append(excess(judge, scores))
        trials.append(RangeTrial("channel" if by_channel else "tensor", method, judgement.scores, judgement.passes))
    best = costs.index(min(costs))
    with_pairs = partial(quantized, caster, kind=kind, ranges=ranges[forms[best][1]], by_channel=forms[best][0])
    show("the curve")
    atoms = {name: frozenset({name}) for name in products}
    score = scorer(oracle, with_pairs(products))
    curve = rounding_curve(oracle, judge, atoms, frozenset(), score=score, most=_GROUPS)
    proposed = with_pairs(products.keys() - curve.kept)
    held_out = None
    if lever.held is not None:
        judgement = judge.judge(scorer(lever.held, proposed)(()))
        held_out = Judged(judgement.passes, judgement.scores, judgement.why)
    answer = WhatIf(
        precision=kind.name,
        samples_are=lever.samples_are,
        products=tuple(products),
        ranges=tuple(trials),
        best=best,
        curve=curve,
        left_out=tuple(name for name in products if name in curve.kept),
        held_out=held_out,
        judged={name: {each.metric: each.tolerance for each in limits} for name, limits in judge.tolerances.items()},
        built=None,
        why_not_built="",
        notes=tuple(lever.notes),
    )
    return answer, proposed


def _written(
    lever: PrecisionLever, model: onnx.ModelProto, directory: Path, timeout: float | None, *, build: bool
) -> tuple[str | None, Sequence[str]]:
    """Write a proposal and build it; return why it was not built (None: not tried), and a line about the file."""
    folder, problem = directory / FIXED, None
    with explained(str(folder)):
        folder.mkdir(exist_ok=True)
        caster = _caster_of(lever.caster, model)
        save(caster, caster.prepared.proto, folder / "model.onnx")
        if build and lever.target is not None:
            work = directory / _BUILD
            work.mkdir(exist_ok=True)
            problem = built(lever, (folder / "model.onnx").absolute(), work.absolute(), timeout)
    return problem, ("model.onnx: the model with Q and DQ, for a strongly typed build",)
