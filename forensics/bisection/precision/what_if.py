"""What if the products of a model computed in 8 bits: which ranges suit it, which products cost most, and a proposal.

Every product of the main graph gets a pair of QuantizeLinear and DequantizeLinear at both operands, and all kinds of
ranges are tried. Under the best, a curve shows the error against the products that stay FP32.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trtforensics.bisection.precision.answer.operators import built
from trtforensics.bisection.precision.answer.precision_answer import curve_lines, scores_text
from trtforensics.bisection.precision.answer.quantization import pairs_of
from trtforensics.bisection.precision.casting.caster import Caster, save
from trtforensics.bisection.precision.emulation.judging import OutputJudge, tolerance_of
from trtforensics.bisection.precision.quantized import MOST_GROUPS, TYPES, Pairs, products_of, ranges_of, scorer
from trtforensics.bisection.precision.repair.curve import excess, rounding_curve
from trtforensics.bisection.precision.repair.holding import HeldBeside
from trtforensics.bisection.precision.running import builds_of, lever_of
from trtforensics.bisection.session.answer import document_of, write_result
from trtforensics.bisection.session.artifacts import FIXED, RESULT
from trtforensics.bisection.session.lock import NAME as LOCK
from trtforensics.bisection.session.lock import locked
from trtforensics.console.counting import counted, listed
from trtforensics.console.output import explained
from trtforensics.console.own_files import owned
from trtforensics.console.terminal import visible
from trtforensics.errors import SourceError, UsageError
from trtforensics.onnx_models.reading import rewritten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import onnx

    from trtforensics.bisection.precision.repair.curve import RoundingCurve
    from trtforensics.bisection.precision.running import PrecisionRequest
    from trtforensics.bisection.runner.options import RunOptions

_SHOWN = 8
_BUILD = "build"
_OURS = frozenset({LOCK, RESULT, FIXED, _BUILD})


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

    ``best`` is the number of the trial whose ranges the curve and the proposal have. ``judged`` gives the tolerances of
    each output by metric. ``built`` is None where no build was wanted.
    """

    precision: str
    samples_are: str
    products: tuple[str, ...]
    ranges: tuple[RangeTrial, ...]
    best: int
    curve: RoundingCurve
    left_out: tuple[str, ...]
    held_out: HeldBeside | None
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
        return {"schema": 1, "kind": "quantization", **document_of(self)}

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
        lines += curve_lines(self.curve, self.samples_are)
        for name, limits in self.judged.items():
            lines.append(f"{name} passes by {' and '.join(f'{metric} {limit:g}' for metric, limit in limits.items())}.")
        if self.held_out is not None:
            held = self.held_out
            verdict = f"passes ({scores_text(held.scores)})" if held.passes else f"fails: {held.why}"
            lines.append(f"On the held-out samples, of which no range was taken, it {verdict}.")
        lines += [f"Note: {note}." for note in self.notes]
        if self.built is not None:
            lines.append("TensorRT builds it." if self.built else f"It was not built: {self.why_not_built}.")
        elif not wants_builds:
            lines.append("Nothing was built (--build none).")
        lines.append("Emulated: each operand is rounded to its scale, sums are FP32. No engine was run.")
        return "".join(f"{visible(line)}\n" for line in (*lines, *(f"{directory}/fixed/{line}" for line in fixed)))


class QuantizationRun:
    """What ``bisect precision --precision int8`` does, ready to run in a directory."""

    def __init__(self, request: PrecisionRequest, options: RunOptions, directory: Path) -> None:
        """Read the model and run it in FP32. ``options.build`` is one of :data:`BUILDS`.

        Raises:
            SourceError: the model or its samples cannot be read, or nothing in it can be quantized.
            UsageError: the options make no sense together or for this model.
        """
        asked, self._options, self._directory = request.precision, options, directory
        self._kind = TYPES[asked.precision]
        unused = {
            "--check": options.check,
            "--against": asked.against,
            "--calibration": asked.calibration,
            "--by constraints": asked.by == "constraints",
            "--accumulate fp16": asked.accumulate == "fp16",
        }
        for flag, given in unused.items():
            if given:
                raise UsageError(flag, f"has no use with --precision {self._kind.name}", "Leave it out")
        self._builds = builds_of(options)
        self.lever = lever_of(request, directory.absolute())
        caster, path = self.lever.caster, request.model
        if pairs_of(caster.survey):
            raise SourceError(path, "has pairs of Q and DQ already", "Give the FP32 model that it was made of")
        if caster.prepared.streamed:
            raise SourceError(
                path, "has more than 1.9 GB of weights, which are not quantized here", "Give a part of it"
            )
        self._products = products_of(caster.survey)
        if not self._products:
            raise SourceError(path, "has no MatMul, Gemm or Conv in FP32 to quantize", "Give a model with products")
        storage = replace(caster.storage, name=self._kind.name)
        peaks = self.lever.oracle.peaks
        self._judge = OutputJudge(
            {
                name: tuple(tolerance_of(each, rule.tolerance, None, peaks[name], storage) for each in rule.metrics)
                for name, rule in self.lever.rules.items()
            }
        )

    @property
    def wants_builds(self) -> bool:
        """Whether the proposal is built."""
        return self._builds != "none" and self.lever.target is not None

    def run(self, show: Callable[[str], None]) -> tuple[WhatIf, Sequence[str]]:
        """Try the ranges, measure the curve, write and build the proposal; return it and a line about its file.

        Raises:
            UsageError: the directory is another job's, or in use.
            OutputError: the directory cannot be written to.
        """
        directory = self._directory
        with explained(str(directory)):
            directory.mkdir(parents=True, exist_ok=True)
        owned(directory)
        if any(path.name not in _OURS for path in directory.iterdir()):
            raise UsageError(str(directory), "holds other files", "Name an empty or a new directory")
        with locked(directory):
            return self._run(show)

    def _run(self, show: Callable[[str], None]) -> tuple[WhatIf, Sequence[str]]:
        lever, judge, kind = self.lever, self._judge, self._kind
        survey, source = lever.caster.survey, lever.caster.prepared.proto
        operands = {name: None for pair in self._products.values() for name in pair if name not in survey.constants}
        show("ranges of activations")
        ranges = ranges_of(lever.oracle, operands, kind.methods)
        trials, costs, forms = [], [], [(each, method) for each in (True, False) for method in kind.methods]
        for by_channel, method in forms:
            show(f"scales by {method}")
            every = Pairs(survey, ranges[method], kind, by_channel).model(source, self._products)
            scores = scorer(lever.oracle, every)(())
            judgement = judge.judge(scores)
            costs.append(excess(judge, scores))
            weights = "channel" if by_channel else "tensor"
            trials.append(RangeTrial(weights, method, judgement.worst, judgement.passed))
        best = costs.index(min(costs))
        pairs = Pairs(survey, ranges[forms[best][1]], kind, forms[best][0])
        score = scorer(lever.oracle, pairs.model(source, self._products))
        atoms = {name: frozenset({name}) for name in self._products}
        show("the curve")
        curve = rounding_curve(lever.oracle, judge, atoms, frozenset(), score=score, most=MOST_GROUPS)
        proposed = pairs.model(source, self._products.keys() - curve.kept)
        problem, fixed = self._write(proposed)
        answer = WhatIf(
            precision=kind.name,
            samples_are=lever.samples_are,
            products=tuple(self._products),
            ranges=tuple(trials),
            best=best,
            curve=curve,
            left_out=tuple(name for name in self._products if name in curve.kept),
            held_out=self._held(proposed),
            judged={
                name: {each.metric.name: each.value for each in limits} for name, limits in judge.tolerances.items()
            },
            built=None if problem is None else not problem,
            why_not_built=problem or "",
            notes=tuple(lever.notes),
        )
        write_result(self._directory, answer.document())
        return answer, fixed

    def _write(self, model: onnx.ModelProto) -> tuple[str | None, Sequence[str]]:
        """Write the proposal and build it; return why it was not built (None: not tried), and a line about the file."""
        folder = self._directory / FIXED
        with explained(str(folder)):
            folder.mkdir(exist_ok=True)
            caster = Caster(rewritten(self.lever.caster.prepared, model, ""), self.lever.caster.storage)
            save(caster, caster.prepared.proto, folder / "model.onnx")
            problem = None
            if self.wants_builds:
                work = self._directory / _BUILD
                work.mkdir(exist_ok=True)
                problem = built(self.lever, (folder / "model.onnx").absolute(), work.absolute(), self._options.timeout)
        return problem, ("model.onnx: the model with Q and DQ, for a strongly typed build",)

    def _held(self, model: onnx.ModelProto) -> HeldBeside | None:
        held = self.lever.held
        if held is None:
            return None
        judgement = self._judge.judge(scorer(held, model)(()))
        return HeldBeside(judgement.passed, judgement.worst, judgement.why)
