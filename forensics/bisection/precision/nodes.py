"""The lever over precision: a probe is the model with some nodes in FP32 and all others in 16 bits.

Items are the nodes that compute; active ones are in 16 bits. The emulated twin judges a probe, in this process; a build
only shows that TensorRT accepts the model and reads the types that were asked for.
"""

import hashlib
import json
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path

from trtforensics.bisection.levers.recipe import FAILURE, JOB, LOG, REPORT, first_of, keep_failure, write_job
from trtforensics.bisection.precision.casting.caster import CandidateNode, Caster, save
from trtforensics.bisection.precision.emulation.converted import ConvertedModel
from trtforensics.bisection.precision.emulation.judging import METRICS, OutputJudge, OutputRule, Scores, spelled
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError, judge_for
from trtforensics.bisection.precision.items import atoms_of
from trtforensics.bisection.precision.repair.fixes import write_fixes, write_gpu_check
from trtforensics.bisection.runner.probe import ProbeOutcome, ProbeSpec, describe
from trtforensics.bisection.search import Item, Verdict
from trtforensics.bisection.session.job import sealed, unsealed
from trtforensics.bisection.session.lever import DescribedItem, Lever
from trtforensics.console.counting import counted
from trtforensics.console.output import write_bytes, write_text
from trtforensics.console.own_files import is_there
from trtforensics.engines.onnx_nodes import foreign_members
from trtforensics.errors import SourceError
from trtforensics.model.log import Build, OnnxNode
from trtforensics.onnx_models import samples, streaming
from trtforensics.onnx_models.samples import Sample, write_npz
from trtforensics.sources.build_log import load_build_log
from trtforensics.trt.build import BUILD_MODULE
from trtforensics.trt.installed import child_line

SCORES = "scores.json"
_WIDE = "FLOAT"
"""FP32 as the ONNX parser's lines spell it."""


@dataclass(frozen=True, slots=True)
class Target:
    """The builder's module, shapes and compute capability; ``constraints``: layer precisions instead of Casts."""

    module: str
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    compute_capability: str | None = None
    constraints: bool = False

    def write_job(self, folder: Path, model: Path, **more: object) -> None:
        """Write the job of a strongly typed build, or one with ``more`` fields."""
        fields = {"shapes": self.shapes, "compute_capability": self.compute_capability, **more}
        write_job(folder, self.module, model, **fields)


class PrecisionLever(Lever):
    """Nodes of a model; active ones compute in 16 bits.

    ``converted`` is a model in 16 bits that was judged besides. ``samples_are`` and ``notes`` are for the answer.
    ``needs_files`` has every probe's models written, for a check command. Probes are built only while ``builds`` is
    set, also during a run. ``before_scoring`` is called before the first probe is scored.
    """

    mode = "precision"
    placeholder = "model"
    more_placeholders = ("twin",)
    judged = "{twin} --inputs {dir}/../../samples"
    """The arguments of a built-in check."""
    judges = True
    file = "fp32-nodes.txt"

    def __init__(
        self, caster: Caster, oracle: Oracle, rules: Mapping[str, OutputRule], target: Target | None, models: Path
    ) -> None:
        """``models`` is the folder for models that share a data file; without a target nothing is built."""
        self.caster = caster
        self.oracle = oracle
        self.rules = rules
        self.target = target
        command = f"exec {shlex.join(child_line(BUILD_MODULE))} {{dir}}/{JOB} > {{log}} 2>&1"
        self.build = None if target is None else command
        self.held_samples: Sequence[Sample] = ()
        self.before_scoring: Callable[[], object] = bool
        self.samples_are = counted(len(oracle.samples), "sample")
        self.converted: ConvertedModel | None = None
        self.notes = list(caster.prepared.notes)
        self.needs_files = False
        self.builds = False
        self.nodes = tuple(atoms_of(caster))
        self.items = tuple(Item(name) for name in self.nodes)
        self.settings = spelled(rules)
        self._models = models
        self._keeps: dict[str, frozenset[str]] = {}
        self._scores: dict[frozenset[str], Scores] = {}

    def content(self) -> object:
        """Return what decides the scores and the build of a probe: model, type, samples, builder."""
        oracle, prepared = self.oracle, self.caster.prepared
        return {
            "model": streaming.digest_of(prepared.proto, prepared.streamed),
            "precision": self.narrow,
            "samples": samples.digest_of(oracle.samples),
            "masked": oracle.masked,
            "accumulate": oracle.accumulator,
            "libraries": [hashlib.sha256(Path(library).read_bytes()).hexdigest() for library in oracle.libraries],
            "measures": list(METRICS),
            "target": None if self.target is None else asdict(self.target),
        }

    def describe(self, index: int) -> DescribedItem:
        """Return a node; FP32 is good."""
        name = self.nodes[index]
        sides = {"good": {"precision": "fp32"}, "bad": {"precision": self.narrow}}
        return DescribedItem(name, {"op": self.caster.candidates[name].op}, sides)

    @property
    def narrow(self) -> str:
        """The 16-bit type's name."""
        return self.caster.storage.name

    def keep_of(self, active: Collection[int]) -> frozenset[str]:
        """Return the nodes that stay FP32, including those that only move FP32 data."""
        return self.caster.kept([name for index, name in enumerate(self.nodes) if index not in active])

    def prepare(self, active: frozenset[int], folder: Path) -> Mapping[str, Path]:
        """Write the nodes that stay FP32, and the models if a build or a check command reads them."""
        keep = self.keep_of(active)
        self._keeps[str(folder)] = keep
        write_text(folder / self.file, "".join(f"{n}\n" for n in self.caster.candidates if n in keep))
        if not (self.builds or self.needs_files):
            return {}
        place, stem = folder, ""
        if self.caster.prepared.external:
            self._models.mkdir(exist_ok=True)
            place, stem = self._models, f"{folder.name}."
        self._save_samples(folder.parent.parent / "samples")
        paths = {"model": place / f"{stem}model.onnx", "twin": place / f"{stem}twin.onnx"}
        typed = self.caster.cast(keep)
        save(self.caster, self.oracle.twin_of(typed), paths["twin"])
        save(self.caster, typed, paths["model"])
        if self.target is not None:
            if not self.target.constraints:
                self.target.write_job(folder, paths["model"])
                return paths
            plain = place / f"fp32.{stem}model.onnx"
            save(self.caster, self.caster.cast(self.caster.candidates), plain)
            self.target.write_job(folder, plain, fp32_layers=sorted(keep), precision=self.narrow.upper())
        return paths

    def _save_samples(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for number, sample in enumerate(self.oracle.samples):
            path = folder / f"{number:03d}.npz"
            if not is_there(path):
                write_npz(sample, path)

    def verify(self, active: frozenset[int], folder: Path) -> str:
        """Compare the types in the build's log with those asked for; for layer precisions, only their reach."""
        if self.target is None:
            return ""
        try:
            log = load_build_log([str(folder / LOG)])
        except SourceError as error:
            return f"the build's log cannot be read: {error.what}"
        keep, build = self.keep_of(active), log.builds[-1]
        if self.target.constraints:
            return first_of(unreached(keep, build))
        difference = first_of(differences(self.caster, keep, build))
        return f"the build did not read what was asked: {difference}" if difference else ""

    def score(self, folder: Path) -> tuple[Verdict, str]:
        """Run a prepared probe's twin, store its scores, and judge it."""
        keep = self._keeps[str(folder)]
        if not self._scores:
            self.before_scoring()
        try:
            if keep not in self._scores:
                self._scores[keep] = self.oracle.score_mixture(keep)
        except RunError as error:
            return Verdict.UNRESOLVED, error.what
        write_scores(folder, self._scores[keep], self.basis)
        return verdict_of(self._scores[keep], self.judge, self.rules)

    @cached_property
    def judge(self) -> OutputJudge:
        """The judge of all probes; what rounding costs is measured on first access."""
        return judge_for(self.oracle, self.rules)

    @cached_property
    def held(self) -> Oracle | None:
        """The oracle of the samples that are held out, run on first access; None without any."""
        return self.oracle.on(self.held_samples) if self.held_samples else None

    def rejudge(self, folder: Path) -> tuple[Verdict, str] | None:
        """Judge a stored probe by the present rules; None if it has no scores."""
        if self.builds and was_built(folder) is None:
            return None
        scores = read_scores(folder, self.basis)
        return None if scores is None else verdict_of(scores, self.judge, self.rules)

    def run(self, spec: ProbeSpec, commands: Callable[[ProbeSpec], ProbeOutcome]) -> ProbeOutcome:
        """Build if that is wanted, then judge: by the check command if there is one, else by the twin."""
        folder = Path(spec.folder)
        build = None
        if spec.build is not None and self.builds:
            outcome = commands(replace(spec, check=None))
            build = outcome.build
            if outcome.verdict is not Verdict.GOOD:
                return _failed(outcome, folder, spec)
        if spec.check is not None:
            return replace(commands(replace(spec, build=None)), build=build)
        return ProbeOutcome(*self.score(folder), build=build)

    def write_repair(self, nodes: Collection[str], folder: Path) -> Sequence[str]:
        """Write the files of the repair into ``fixed/``."""
        folder.mkdir(exist_ok=True)
        self._save_samples(folder / "samples")
        judged = {
            name: [{"metric": each.metric, "tolerance": each.tolerance} for each in tolerances]
            for name, tolerances in self.judge.tolerances.items()
        }
        check = write_gpu_check(self.caster.prepared.path, judged, self.oracle.masks, folder)
        return [*write_fixes(self.caster, nodes, folder), check]


def verdict_of(scores: Scores, judge: OutputJudge, rules: Mapping[str, OutputRule]) -> tuple[Verdict, str]:
    """Return whether scores pass, and why not, or else the score of each output's first metric."""
    judgement = judge.judge(scores)
    finite = [(name, score) for name, score in judgement.scores.items() if score is not None]
    shown = ", ".join(f"{name}: {rules[name].metric.name} {score:.3g}" for name, score in finite)
    near = ", near the tolerance" if judgement.near else ""
    return (Verdict.GOOD if judgement.passes else Verdict.BAD), f"emulated: {judgement.why or shown}{near}"


def _failed(outcome: ProbeOutcome, folder: Path, spec: ProbeSpec) -> ProbeOutcome:
    """Keep the last lines of a failed build's log; the verdict is unresolved unless the user wants bad."""
    if outcome.verdict is None or outcome.build is None:
        return outcome
    keep_failure(folder)
    verdict = Verdict.BAD if spec.build_failure_is_bad else Verdict.UNRESOLVED
    reason = f"build: {describe(outcome.build)}{_parser_error(folder)}; see {FAILURE}"
    return replace(outcome, verdict=verdict, reason=reason)


def _parser_error(folder: Path) -> str:
    path = folder / REPORT
    errors = json.loads(path.read_text(encoding="utf-8"))["errors"] if is_there(path) else []
    return f", {' '.join(errors[0].split())[:200]}" if errors else ""


def read_scores(folder: Path, basis: str) -> Scores | None:
    """Read a probe's scores; None if there are none of the same measures, or other ones than were written."""
    try:
        record = unsealed(folder / SCORES, basis)
    except SourceError:
        return None
    outputs = None if record is None else record["outputs"]
    return Scores({name: tuple(each) for name, each in outputs.items()}) if isinstance(outputs, dict) else None


def write_scores(folder: Path, scores: Scores, basis: str) -> None:
    """Write a probe's scores."""
    write_bytes(folder / SCORES, sealed(basis, {"outputs": scores.outputs}))


def was_built(folder: Path) -> bool | None:
    """Return whether a probe's build succeeded; None if there was none."""
    if not is_there(folder / LOG):
        return None
    return not is_there(folder / FAILURE)


def failure_of(folder: Path) -> list[str]:
    """Return the last log lines of a probe's failed build, or none."""
    path = folder / FAILURE
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if is_there(path) else []


def differences(caster: Caster, keep: Collection[str], build: Build) -> list[str]:
    """Return a sentence for each tensor to which the ONNX parser's lines give another type than the typed model."""
    parsed = {node.name: node for node in build.onnx_nodes}
    sentences = []
    for name, candidate in caster.candidates.items():
        if name not in parsed:
            if candidate.scope == 0:
                sentences.append(f"{name} is not in the log")
            continue
        word = _WIDE if name in keep else caster.storage.log_word
        for tensor, kind in _shown(candidate, parsed[name], caster):
            if kind != word:
                sentences.append(f"{name} was to be {word}, and {tensor} is {kind} (line {parsed[name].span.line})")
    return sentences


def unreached(keep: Collection[str], build: Build) -> list[str]:
    """Return a sentence for each node inside a ForeignNode, which layer precisions do not reach (TF201)."""
    held = ((name, foreign) for name, foreign in foreign_members(build).items() if name in keep)
    places = ((name, f"{foreign.name} (line {foreign.span.line})") for name, foreign in held)
    return [f"a layer precision does not reach {name} inside {place}" for name, place in places]


def _shown(candidate: CandidateNode, node: OnnxNode, caster: Caster) -> Iterator[tuple[str, str]]:
    """Yield the candidate's tensors that change with its precision, and their types in the log."""
    original = caster.survey.nodes[candidate.name]
    changing = {original.output[slot] for slot in candidate.outputs}
    shown = zip(node.outputs, node.output_types, strict=True)
    if not changing:
        changing = {original.input[slot] for slot in candidate.inputs}
        shown = zip(node.inputs, node.input_types, strict=True)
    for tensor, kind in shown:
        if tensor.partition(caster.suffix)[0] in changing:
            yield tensor, kind
