"""A precision search from a model to its answer, for the command, the API and tests."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, log2
from os import PathLike, fspath
from pathlib import Path
from textwrap import shorten

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto

from trtforensics.bisection.precision.answer.concluding import Conclusion
from trtforensics.bisection.precision.answer.original_layers import held_to_original
from trtforensics.bisection.precision.answer.precision_answer import PrecisionAnswer
from trtforensics.bisection.precision.answer.quantization import held_against
from trtforensics.bisection.precision.casting.caster import Caster, operators_that
from trtforensics.bisection.precision.casting.storage import FP16, STORAGES
from trtforensics.bisection.precision.emulation.accumulation import FIRST_OPERATOR_SET
from trtforensics.bisection.precision.emulation.converted import ConvertedModel, judged, raised_for, require_equal
from trtforensics.bisection.precision.emulation.judging import OutputRule, rules_for
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError, floating_outputs, judge_for
from trtforensics.bisection.precision.emulation.ranges import mask_notes, tensor_ranges
from trtforensics.bisection.precision.items import PrecisionItem, atoms_of, items_of
from trtforensics.bisection.precision.nodes import PrecisionLever, Target, verdict_of
from trtforensics.bisection.precision.repair.certificate import Certificate, holding_of, parted, progress_text
from trtforensics.bisection.precision.repair.curve import rounding_curve
from trtforensics.bisection.precision.repair.losses import safe_repair
from trtforensics.bisection.precision.sentences import lines_about
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search import Verdict
from trtforensics.bisection.search_options import ModelRequest, PrecisionOptions, SampleOptions, with_commands
from trtforensics.bisection.session.bisection import bisect
from trtforensics.console.counting import counted, listed
from trtforensics.errors import SourceError, UsageError
from trtforensics.model.data_types import Accumulator
from trtforensics.onnx_models.checked_graph import Survey
from trtforensics.onnx_models.drawing import how_to_give, inputs_behind
from trtforensics.onnx_models.graphs import STANDARD, holds_graphs, operator_set
from trtforensics.onnx_models.reading import PreparedModel, prepare
from trtforensics.onnx_models.running import typed_by_running
from trtforensics.onnx_models.samples import Sample, SampleSet, fitted, read_samples
from trtforensics.onnx_models.shapes import is_dynamic
from trtforensics.trt.installed import installed_modules, look, require

BUILDS = ("certificate", "every", "none")
"""Which probes are really built: those that prove the answer, every one, or none."""

_HALVES: Mapping[int, str] = {TensorProto.FLOAT16: "FP16", TensorProto.BFLOAT16: "BF16"}
_NO_ARITHMETIC = operators_that("no-arithmetic")
_SHOWN = 5
_QUOTED = 160
_BEYOND_HALVING = 9
"""Probes that a search for two nodes takes beside those that halve the items."""
_BUILDS = {"none": "no build", "every": "as many builds", "certificate": "4 or more real builds at the end"}


@dataclass(frozen=True, slots=True)
class PrecisionForecast:
    """The cost of a search: ``probes`` for a set of two nodes, which are built, and by what (None: not installed)."""

    schema: int = field(default=1, init=False)
    kind: str = field(default="precision-forecast", init=False)
    mode: str
    nodes: int
    items: tuple[str, ...]
    probes: int
    builds: str
    builder: str | None

    def text(self) -> str:
        """Return the forecast as text."""
        builder = f"with {self.builder}" if self.builder else "(no TensorRT is installed: none will run)"
        if self.mode == "quantization":
            return f"{self.nodes} products; {self.probes} probes on the CPU, one real build {builder}.\n"
        return (
            f"{self.nodes} nodes in {len(self.items)} items (tensors, and readers of clamped constants).\n"
            f"One set of two nodes: up to {self.probes} probes on the CPU, {_BUILDS[self.builds]} {builder}.\n"
        )


def search(
    request: ModelRequest[PrecisionOptions],
    options: RunOptions,
    directory: Path,
    show: Callable[[str], None],
    tell: Callable[[str], None] | None = None,
) -> tuple[PrecisionAnswer, Sequence[str]]:
    """Search, build what proves the answer, write the repairs; return it and a line about each file of ``fixed/``.

    The directory keeps everything. ``options.build`` is one of :data:`BUILDS`. ``show`` gets lines of progress,
    ``tell`` what the first look shows, before the search.

    Raises:
        KeyboardInterrupt: the user stopped it; the directory holds everything up to now.
        SourceError: the model or its samples cannot be read, or the model has no node that could change its type.
        UsageError: the options make no sense together or for this model, or the directory is another job's, or in use.
        OutputError: the directory cannot be written to.
    """
    builds, asked, subject = builds_of(options), request.asked, subject_of(request)
    refusable = (options.check, asked.calibration, asked.reference, asked.against)
    at_once = not (directory.exists() or any(refusable))

    def look() -> None:
        if tell is not None:
            tell(_first_look(request, subject))

    if at_once:
        look()
    lever = lever_of(request, subject, directory.absolute())
    calibration = None if asked.calibration is None else held_against(asked.calibration, lever.oracle)
    original = None if asked.reference is None else held_to_original(asked.reference, lever.oracle)
    options = with_commands(replace(options, build=None), lever)
    if options.check is not None:
        lever.needs_files, lever.settings, lever.held_samples = True, "", ()
    elif builds == "every":
        lever.settings += "; every probe is built"
    _ = lever.held  # a sample that the model refuses ends the search at once
    if not at_once:
        lever.before_scoring = look
    ranges = tensor_ranges(lever.oracle)
    lever.notes += mask_notes(ranges.masked, ranges.empty_rows, lever.narrow)
    items = items_of(lever.caster, ranges.by_tensor)
    every = lever.builds = builds == "every"
    plan = _plan(lever, items, ranges.masked, options, builds=builds == "certificate")
    begun = time.monotonic()

    def standing() -> str:
        return progress_text(plan, time.monotonic() - begun, every=every)

    search_answer, _ = bisect(directory, lever, plan, options, show, standing=standing)
    conclusion = Conclusion(lever, plan, items, directory, builds != "none", options.timeout, calibration, original)
    return conclusion.write(search_answer)


def _first_look(request: ModelRequest[PrecisionOptions], subject: Subject) -> str:
    """Say whether the outputs pass with every node in 16 bits, and how many tensors leave their range in FP32."""
    # of the first sample; with --mask-nonfinite of all, since one may be NaN throughout
    samples = subject.sampled.samples if request.asked.mask_nonfinite else subject.sampled.samples[:1]
    oracle = _oracle(request, subject.caster, replace(subject.sampled, samples=samples))
    part = f"{len(samples)} of " * (len(samples) < len(subject.sampled.samples))
    (verdict, why), largest = _first_verdict(oracle, subject.rules), tensor_ranges(oracle).by_tensor
    storage, outputs = oracle.caster.storage, "pass" if verdict is Verdict.GOOD else "fail"
    beyond = sum(value > storage.largest for value in largest.values())
    name = max(largest, key=lambda each: largest[each], default="")
    reach = f" ({name} reaches {largest[name]:.3g})" if name else ""
    counts = {"beyond": beyond, "count": len(largest), "end": storage.largest, "reach": reach}
    seen = {"outputs": outputs, "narrow": storage.name.upper(), "why": shorten(why, _QUOTED, placeholder=" …")}
    (line,) = lines_about("first look", part=part, samples=_samples_text(request, subject, oracle), **seen, **counts)
    return line


def _first_verdict(oracle: Oracle, rules: Mapping[str, OutputRule]) -> tuple[Verdict, str]:
    """Judge the twin with every node in 16 bits; what rounding costs is measured where the verdict hangs on it."""
    try:
        scores = oracle.score_mixture(oracle.caster.kept(()))
        strictest = judge_for(oracle, rules, strictest=True)
        judgement = strictest.judge(scores)
        decided = judgement.passes or set(judgement.scores.values()) == {None}
        return verdict_of(scores, strictest if decided else judge_for(oracle, rules), rules)
    except RunError as error:
        return Verdict.UNRESOLVED, error.what


def _plan(
    lever: PrecisionLever, items: Sequence[PrecisionItem], masked: Collection[str], options: RunOptions, *, builds: bool
) -> Certificate:
    """Return the plan of a search; with ``builds`` the probes that prove its answer are built."""
    atoms, above = atoms_of(lever.caster), [] if lever.needs_files else lever.judge.floors_above

    def switch_to_building() -> None:
        lever.builds = True

    plan = Certificate(items, atoms, lever.narrow.upper(), every=options.find == "all", limit=options.max_builds)
    plan.builds = builds and lever.target is not None
    plan.safer = partial(safe_repair, lever.oracle, items, masked)
    plan.on_building = switch_to_building
    if above:
        costs = f"rounding alone costs {' and '.join(above)} more than the cap"
        plan.futile = f"{costs}; a curve takes the place of a search"
        plan.curve_from = partial(rounding_curve, lever.oracle, lever.judge, atoms)
    if not lever.needs_files:
        plan.beside = lambda repairs, atoms: holding_of(lever.oracle, lever.held, lever.judge, masked, repairs, atoms)
    return plan


def builds_of(options: RunOptions) -> str:
    """Return which of :data:`BUILDS` are built; a UsageError where it is none, or outcomes are said to be noisy."""
    builds = options.build or BUILDS[0]
    if builds not in BUILDS:
        next_step = f"Give one of {', '.join(BUILDS)}; a command of yours can build in `--check`, from {{model}}"
        raise UsageError("--build", f"{builds!r} does not say which probes to build", next_step)
    if options.confidence is not None:
        raise UsageError("--confidence", "has no use here: emulation gives the same numbers each time", "Leave it out")
    return builds


@dataclass(frozen=True, slots=True)
class Subject:
    """What is searched, before any run: the model as it was read, its caster, rules, samples, and the builder."""

    original: PreparedModel
    caster: Caster
    rules: Mapping[str, OutputRule]
    sampled: SampleSet
    held: tuple[Sample, ...]
    target: Target | None


def subject_of(request: ModelRequest[PrecisionOptions]) -> Subject:
    """Read a model and its samples; a SourceError or UsageError where they cannot be used, or options make no sense."""
    options = request.asked
    searched = options.against or request.model
    original = typed_by_running(prepare(searched), options.custom_ops)
    caster = Caster(raised_for(original, options.precision), STORAGES.get(options.precision, FP16))
    if not caster.candidates:
        raise SourceError(searched, *no_candidates(caster))
    others = [value.name for value in original.proto.graph.output if not value.type.HasField("tensor_type")]
    if others:
        what = f"has outputs that are no tensors, which cannot be compared: {listed(others)}"
        raise SourceError(searched, what, "Export it without them (skl2onnx: zipmap=False)")
    proto = caster.prepared.proto
    rules = rules_for(floating_outputs(proto), options.metric, options.tolerance)
    sampled = request.samples_of(proto)
    part, held = parted(sampled.samples, options.held_out)
    target = _target(request, caster, part)
    return Subject(original, caster, rules, replace(sampled, samples=part), held, target)


def forecast_of(request: ModelRequest[PrecisionOptions], options: RunOptions) -> PrecisionForecast:
    """Return what a search would cost, without a run of the model."""
    subject = subject_of(request)
    names, nodes = tuple(item.name for item in items_of(subject.caster, {})), len(atoms_of(subject.caster))
    probes = ceil(log2(max(1, len(names)))) + _BEYOND_HALVING
    builder = subject.target.module if subject.target else None
    return PrecisionForecast("precision", nodes, names, probes, builds_of(options), builder)


def lever_of(request: ModelRequest[PrecisionOptions], subject: Subject, directory: Path) -> PrecisionLever:
    """Run a model in FP32, return the lever over its nodes, which writes below the directory; else a ForensicsError."""
    options, caster, sampled = request.asked, subject.caster, subject.sampled
    oracle = _oracle(request, caster, sampled)
    if caster.prepared is not subject.original:
        require_equal(oracle, subject.original, options.precision)
    lever = PrecisionLever(caster, oracle, subject.rules, subject.target, directory / "models")
    lever.samples_are = _samples_text(request, subject, oracle)
    lever.held_samples = subject.held
    lever.notes += [*(model_notes(caster) if options.precision in STORAGES else ()), *sampled.notes]
    lever.converted = _converted(request, lever) if options.against else None
    return lever


def _samples_text(request: ModelRequest[PrecisionOptions], subject: Subject, oracle: Oracle) -> str:
    """Return what the samples are, and what takes from them."""
    few = few_candidates(subject.caster) if request.asked.precision in STORAGES else ""
    word = "random sample" if subject.sampled.drawn else "sample"
    return f"{counted(len(subject.sampled.samples), word)}{few}{_levelled(oracle)}"


def _oracle(request: ModelRequest[PrecisionOptions], caster: Caster, sampled: SampleSet) -> Oracle:
    """Run the model in FP32; where it does not run on random samples, the error names the inputs that lead to it."""
    # a model may be right to refuse them: indices, lengths and rates are no random numbers
    options = request.asked
    accumulator = _accumulator(request, caster)
    try:
        return Oracle(caster, sampled.samples, options.mask_nonfinite, accumulator, options.custom_ops)
    except RunError as error:
        if not sampled.drawn:
            raise
        names = inputs_behind(caster.prepared.proto, error.what)
        what = f"on random values of {', '.join(names)}: {error.what}"
        raise RunError(error.where, what, how_to_give(caster.prepared.proto, names)) from None


def _accumulator(request: ModelRequest[PrecisionOptions], caster: Caster) -> Accumulator:
    """Return the type in which products sum, which a kernel must have, and the operator set what it needs."""
    accumulator = Accumulator(request.asked.accumulate)
    if accumulator is Accumulator.FP16:
        if request.asked.precision != "fp16":
            raise UsageError("--accumulate fp16", "is for FP16: BF16 products sum in FP32", "Leave it out")
        version = operator_set(caster.prepared.proto)
        if version < FIRST_OPERATOR_SET:
            what = f"needs operator set {FIRST_OPERATOR_SET} or later, and {request.model} uses {version}"
            raise UsageError("--accumulate fp16", what, "Convert it by onnx.version_converter")
    return accumulator


def _target(request: ModelRequest[PrecisionOptions], caster: Caster, samples: tuple[Sample, ...]) -> Target | None:
    build, modules = request.build, installed_modules()
    if build.builder is not None and build.builder not in modules:
        raise UsageError("--builder", f"{build.builder} is not installed", f"Run `pip install {build.builder}`")
    if not modules:
        return None
    module = build.builder or modules[0]
    constraints = request.asked.by == "constraints"
    if constraints:
        installed, precision = look(module), request.asked.precision.upper()
        require("constraints", installed)
        if precision not in installed.flags:
            next_step = "Leave out `--by constraints`, or ask for fp16"
            raise UsageError(installed.name, f"has no builder flag {precision}", next_step)
    shapes = {name: array.shape for name, array in samples[0].items()} if is_dynamic(caster.prepared.proto) else {}
    return Target(module, shapes, build.compute_capability if module == "tensorrt_rtx" else None, constraints)


def _converted(request: ModelRequest[PrecisionOptions], lever: PrecisionLever) -> ConvertedModel:
    """Judge the 16-bit model whose original is searched."""
    model = request.model
    prepared = prepare(model)
    halves = computing_in_halves(Survey(prepared.proto))
    if not halves:
        raise UsageError("--against", f"{model} has no node that computes in 16 bits", "Leave it out")
    if request.asked.precision.upper() not in halves:
        word = next(iter(halves))
        raise UsageError("--precision", f"{model} computes in {word}", f"Give `--precision {word.lower()}`")
    return judged(prepared, lever.oracle, lever.judge)


def no_candidates(caster: Caster) -> tuple[str, str]:
    """Return why no node may change its type, and the next step."""
    narrow = caster.storage.name.upper()
    halves = computing_in_halves(caster.survey)
    if halves:
        word, count = halves.most_common(1)[0]
        what, next_step = lines_about("in halves", article="an" if word == "FP16" else "a", word=word, count=count)
        return what, next_step
    return f"has no node that computes in FP32 and could in {narrow}", "Give a model with nodes that compute in FP32"


def model_notes(caster: Caster) -> list[str]:
    """Return notes on the nodes that stay as they are, whatever the answer is."""
    notes = []
    for word, count in computing_in_halves(caster.survey).items():
        notes.append(f"{count} nodes compute in {word} in the model itself; they stay so in every mixture")
    foreign, untyped = _without_narrow_form(caster)
    if foreign:
        notes += lines_about("foreign operators", shown=_counted(foreign))
    if untyped:
        version = operator_set(caster.prepared.proto)
        notes += lines_about("untyped operators", narrow=caster.storage.name, version=version, shown=_counted(untyped))
    return notes


def few_candidates(caster: Caster) -> str:
    """Say how many nodes take part, in brackets, where they are fewer than half, or some are in 16 bits already."""
    foreign, untyped = _without_narrow_form(caster)
    able = sum(node.moves is None for node in caster.candidates.values())
    every, halves = able + foreign.total() + untyped.total(), computing_in_halves(caster.survey).total()
    if halves:
        return f" ({halves} of {every + halves} nodes are in 16 bits in the model itself; what they cost is not seen)"
    return f" (only {able} of {every} nodes can be in {caster.storage.name})" if able < every / 2 else ""


def _levelled(oracle: Oracle) -> str:
    """Name the outputs all of whose values are equal in FP32: equal errors, as filler weights make, cancel in them."""
    level = [name for name in oracle.peaks if all(np.asarray(run[name]).size > 1 for run in oracle.reference)]
    level = [name for name in level if not any(np.ptp(np.asarray(run[name], float)) for run in oracle.reference)]
    return f" (all values of {listed(level, _SHOWN)} are equal in FP32, which tells little)" if level else ""


def computing_in_halves(survey: Survey) -> Counter[str]:
    """Count the nodes of a model that compute in 16 bits, by ``FP16`` and ``BF16``."""
    types = survey.types
    counts: Counter[str] = Counter()
    for node in survey.nodes.values():
        words = {_HALVES[kind] for name in node.output if (kind := types.get(name, 0)) in _HALVES}
        if node.op_type not in _NO_ARITHMETIC:
            counts.update(sorted(words)[:1])
    return counts


def _without_narrow_form(caster: Caster) -> tuple[Counter[str], Counter[str]]:
    foreign: Counter[str] = Counter()
    untyped: Counter[str] = Counter()
    for name, node in caster.survey.nodes.items():
        wide = any(caster.survey.types.get(tensor) == TensorProto.FLOAT for tensor in node.output)
        if node.domain not in STANDARD:
            foreign[f"{node.domain}.{node.op_type}"] += 1
        elif (
            wide
            and name not in caster.candidates
            and node.op_type not in _NO_ARITHMETIC
            and not holds_graphs(node)
            and not caster.survey.small.issuperset(node.output)
        ):
            untyped[node.op_type] += 1
    return foreign, untyped


def _counted(counts: Counter[str]) -> str:
    return listed([f"{name} ({count})" for name, count in counts.most_common()], _SHOWN, "more kinds")


def reached(path: str, samples: Sequence[str]) -> dict[str, tuple[float, int]]:
    """Return the largest magnitude of each FP32 tensor on samples, masks aside, with the number of its sample."""
    caster = Caster(typed_by_running(prepare(path), ()), FP16)
    largest: dict[str, tuple[float, int]] = {}
    for number, sample in enumerate(read_samples(caster.prepared.proto, samples), 1):
        for name, magnitude in tensor_ranges(Oracle(caster, (sample,), masked=True)).by_tensor.items():
            largest[name] = max(largest.get(name, (0.0, 0)), (magnitude, number), key=lambda each: each[0])
    return largest


def given_samples(
    samples: Sequence[Mapping[str, npt.ArrayLike] | str | PathLike[str]],
) -> Callable[[onnx.ModelProto], SampleSet]:
    """Return what makes samples of arrays and of files of arrays; of none, the default random ones."""

    def samples_of(model: onnx.ModelProto) -> SampleSet:
        fitting: list[Sample] = []
        for sample in samples:
            if isinstance(sample, (str, PathLike)):
                fitting += read_samples(model, [fspath(sample)])
            else:
                fitting.append(fitted(model, sample, f"sample {len(fitting)}"))
        return SampleSet(tuple(fitting))

    return samples_of if samples else SampleOptions().samples_of
