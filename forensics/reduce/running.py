"""A reduction from its directory to its answer and to what the user takes away, as a session of ``bisect``."""

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import onnx

from trtforensics.bisection.checks import builtin_of
from trtforensics.bisection.levers.recipe import Recipe
from trtforensics.bisection.precision.casting.storage import STORAGES
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search_options import ModelRequest
from trtforensics.bisection.session.answer import SearchAnswer, answer_text, first_lines, write_result
from trtforensics.bisection.session.artifacts import FIXED, reads_build
from trtforensics.bisection.session.bisection import bisect
from trtforensics.bisection.session.lever import DescribedItem
from trtforensics.console.counting import counted
from trtforensics.console.output import explained, write_bytes, write_text
from trtforensics.console.own_files import is_there
from trtforensics.errors import UsageError
from trtforensics.onnx_models.cutting import take_apart
from trtforensics.onnx_models.running import run_model
from trtforensics.onnx_models.samples import Values, write_feeds, write_golden, write_npz
from trtforensics.onnx_models.shapes import is_dynamic
from trtforensics.onnx_models.streaming import references_as_inputs, write_model
from trtforensics.reduce.deriving import Derived, Deriver, control_of, file_of, record
from trtforensics.reduce.failure import FILE, Failure, Sameness, read_failure
from trtforensics.reduce.graph_lever import OTHERWISE, ReductionLever
from trtforensics.reduce.reproduction import Reproduction, any_one, notes_text, raw_input, script_text
from trtforensics.reduce.shrinking import ReductionSearch
from trtforensics.reduce.simplifying import Aspect, kept_texts, simplifications_of


@dataclass(frozen=True, slots=True)
class OtherFailure:
    """A failure that is not the original's, and how many probes ended at it."""

    failure: str
    probes: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """Whether ONNX Runtime runs the whole model, so that every tensor's value is recorded; ``why`` it does not."""

    whole: bool
    why: str


@dataclass(frozen=True, slots=True)
class ControlSeen:
    """What was seen of the control: which ``model`` it is, its verdicts, the folders of its probes."""

    model: str
    verdicts: tuple[str, ...]
    folders: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether it passed each time."""
        return set(self.verdicts) == {"good"}


@dataclass(frozen=True, slots=True)
class Reduction:
    """What is left of a model; ``nodes`` is how many there were.

    ``as_they_were`` says what the failure needs unchanged, ``not_judged_without`` names items that no probe showed to
    be needed. ``otherwise`` has the most frequent first. ``missed`` is how often models that fail were seen to pass.
    """

    nodes: int
    left: tuple[DescribedItem, ...]
    as_they_were: tuple[str, ...]
    not_judged_without: tuple[str, ...]
    failure: Failure | None
    otherwise: tuple[OtherFailure, ...]
    recorded: Recorded
    control: ControlSeen
    missed: int = 0


@dataclass(frozen=True, slots=True)
class ReductionAnswer:
    """The answer of a reduction."""

    search: SearchAnswer
    reduction: Reduction

    def document(self) -> dict[str, object]:
        """Return ``result.json``."""
        left = [node.document() for node in self.reduction.left]
        return {**self.search.document(), "reduction": {**asdict(self.reduction), "left": left}}

    def text(self, directory: Path, fixed: Sequence[str]) -> str:
        """Return the answer as text: what is left, how it fails, what else was seen, the files."""
        search, reduction = self.search, self.reduction
        lines = [_certificate(reduction) if search.certified else f"{_SENTENCES[search.status]}: {search.why}."]
        if reduction.failure is not None:
            failure = reduction.failure
            what = f"{failure.code} {failure.title}".strip() or failure.form or "no message"
            lines.append(f"The {failure.stage} {failure.ended}: {what}")
            lines += [f"  {line}" for line in failure.lines[:_SHOWN]]
            lines += _left(reduction)
        lines += _control(reduction)
        lines += _otherwise(reduction.otherwise)
        if not reduction.recorded.whole:
            lines.append(f"ONNX Runtime does not run the whole model ({reduction.recorded.why}).")
        reused = f", {search.reused} of them by an earlier run" if search.reused else ""
        lines.append(f"{counted(search.builds, 'probe')}{reused}.")
        return answer_text([*lines, *search.not_judged(besides=OTHERWISE), *search.verdicts.lines], directory, fixed)


@dataclass(frozen=True, slots=True)
class ReductionOptions:
    """What stays of a model, which failures are the same, the 16-bit type of a twin that judges, the user's control."""

    same: str = Sameness.STRICT
    precision: str | None = None
    control: str | None = None
    keep_values: bool = False
    keep_functions: bool = False
    anonymous: bool = False


def lever_of(request: ModelRequest[ReductionOptions], options: RunOptions, directory: Path) -> ReductionLever:
    """Return the lever over a model's nodes, with one sample's values; a UsageError where names stay and go."""
    asked = request.asked
    if asked.keep_functions and asked.anonymous:
        raise UsageError("--keep-functions", "keeps the names in functions, which --anonymous replaces", "Leave one")
    original = take_apart(request.model, inline=not asked.keep_functions)
    file, recipe = file_of(original), _recipe(request, options)
    recording = record(original, request.samples_of(original.model).samples[0])  # cut tensors get its values
    values = recording.values
    simpler = () if asked.keep_values else simplifications_of(original, anonymous=asked.anonymous, sample=values)
    return ReductionLever(
        Deriver(original, recording, (*simpler, *file.simplifications), file),
        directory,
        same=Sameness(asked.same),
        recipe=recipe,
        storage=STORAGES[asked.precision] if asked.precision else None,
        commands=(options.build, options.check),
        control=control_of(asked.control) if asked.control is not None else None,
    )


def _recipe(request: ModelRequest[ReductionOptions], options: RunOptions) -> Recipe | None:
    """Return how the installed TensorRT builds; None where nothing, or a command of the user's, builds."""
    build = request.build
    needed = build.builder or options.check is None or reads_build(options.check)
    if request.asked.precision or options.build is not None or not needed:
        return None
    return build.recipe(build.installed(), request.model)


def reduce_model(
    directory: Path, lever: ReductionLever, options: RunOptions, show: Callable[[str], None]
) -> tuple[ReductionAnswer, Sequence[str]]:
    """Reduce a model; return the answer and a line about each file in ``fixed/``."""
    deriver = lever.deriver
    file = deriver.file
    search = ReductionSearch(
        lever.original.reads(),
        simplifications=len(deriver.simplifications),
        relevant=deriver.relevant,
        hints=lever.hints,
        rewritings=0 if file is None else len(file.simplifications),
        rewriting="" if file is None else file.changes,
        limit=options.max_builds,
    )
    search_answer, _ = bisect(directory, lever, search, options, show)
    failure = lever.reference()
    first = len(lever.original.nodes)
    is_whole = len(search.smallest) == len(lever.items)
    smallest = frozenset() if failure is None or is_whole else search.smallest
    nodes = [index for index in sorted(smallest) if index < first]
    simpler = [each for index, each in enumerate(deriver.simplifications, first) if index in smallest]
    recording = deriver.recording
    controls = [probe for probe in search_answer.probes if not probe.active]
    reduction = Reduction(
        nodes=first,
        left=tuple(map(lever.describe, nodes)),
        as_they_were=tuple(kept_texts(simpler)),
        not_judged_without=tuple(lever.items[index].name for index in sorted(search.undecided)),
        failure=failure,
        otherwise=_other_failures(search_answer),
        recorded=Recorded(not recording.why, recording.why),
        control=ControlSeen(lever.control.name, tuple(p.verdict for p in controls), tuple(p.folder for p in controls)),
        missed=search.misses[0],
    )
    answer = ReductionAnswer(search_answer, reduction)
    fixed = _write_files(lever, smallest, search_answer, directory) if nodes else ()
    write_result(directory, answer.document())
    return answer, fixed


def _other_failures(answer: SearchAnswer) -> tuple[OtherFailure, ...]:
    reasons = (probe.reason for probe in answer.probes if probe.reason.startswith(OTHERWISE))
    counts = Counter(reason.removeprefix(f"{OTHERWISE}: ") for reason in reasons)
    return tuple(OtherFailure(reason, count) for reason, count in counts.most_common())


_SHOWN = 20
_SENTENCES = {"named": "Reduced, not certified", "inconclusive": "Inconclusive", "not-reproduced": "Not reproduced"}


def _certificate(reduction: Reduction) -> str:
    """Return what was seen of a certified answer; what is left without a single node is the control."""
    same = "fails as the original does"
    if len(reduction.left) == 1:
        passing = "the control" if reduction.control.passed else "another model"
        return f"Certified: the single node below {same}, and {passing} passes; both were seen twice."
    return f"Certified: the model below {same}, and without {any_one(len(reduction.left))} of its nodes it does not."


def _control(reduction: Reduction) -> list[str]:
    control = reduction.control
    words = {"good": "passes", "bad": "fails in the same way"}
    outcomes = sorted({words.get(verdict, "could not be judged") for verdict in control.verdicts})
    what = f"The control, {control.model}, {' and '.join(outcomes)}: {', '.join(control.folders)}."
    missed = f"The check passed {counted(reduction.missed, 'time')} on models that fail: passes were looked at again. "
    missed += "More than one miss in five is beyond what a certificate stands for."
    return [*([what] if outcomes else []), *([missed] if reduction.missed else [])]


def _left(reduction: Reduction) -> list[str]:
    if not reduction.left:
        return []
    lines = [f"{len(reduction.left):,} of {counted(reduction.nodes, 'node')} left:"]
    lines += first_lines([f"{node.item} [{node.facts['op']}]" for node in reduction.left])
    if reduction.not_judged_without:
        lines.append(f"Not seen to pass without: {', '.join(reduction.not_judged_without[:_SHOWN])}")
    if reduction.as_they_were:
        lines += ["What the failure needs as it was:", *first_lines(reduction.as_they_were)]
    return lines


def _otherwise(failures: Sequence[OtherFailure]) -> list[str]:
    if not failures:
        return []
    total = sum(each.probes for each in failures)
    times = {1: "once", 2: "twice"}
    return [
        f"{counted(total, 'probe')} failed with another error:",
        *(f"  {times.get(each.probes, f'{each.probes} times')}: {each.failure}" for each in failures[:5]),
    ]


MODEL = "reduced.onnx"


def _write_files(lever: ReductionLever, active: frozenset[int], answer: SearchAnswer, directory: Path) -> list[str]:
    """Write the files of ``fixed/`` and return a line about each; ``active`` is the smallest failing set of items."""
    folder = directory / FIXED
    derived = lever.derive(active)
    inputs = _shared_inputs(lever, active, derived)
    with explained(str(folder)):
        folder.mkdir(exist_ok=True)
        data = write_model(derived.model, derived.streamed, folder / MODEL)
        write_npz(inputs, folder / "inputs.npz")
    write_feeds(inputs, folder / "inputs.json")
    size = derived.model.ByteSize() + sum(array.nbytes for array in derived.streamed.values())
    count = len(derived.model.graph.node)
    what = f"the smallest model that fails, {count} {'node' if count == 1 else 'nodes'}, {size:,} bytes"
    lines = [f"{MODEL}: {what}; {_validity(references_as_inputs(derived.model))}"]
    lines += [f"{data.name}: its large weights, which must lie beside it"] if data else []
    finite = all(np.isfinite(value).all() for value in inputs.values() if value.dtype.kind == "f")
    cut = "" if finite else "; it holds values that are not finite: what made them was cut off"
    lines.append(f"inputs.npz, inputs.json: a sample, for NumPy and for `polygraphy run --load-inputs`{cut}")
    golden = run_model(derived.model, inputs, derived.streamed)
    if isinstance(golden, str):
        lines.append(f"outputs.npz is not written: ONNX Runtime does not run the model ({golden})")
    else:
        write_npz(golden, folder / "outputs.npz")
        write_golden(golden, folder / "outputs.json")
        lines.append("outputs.npz, outputs.json: what ONNX Runtime computes from it (`--load-outputs`)")
    failure = _failure_of_answer(lever, answer, directory)
    reproduction = _reproduction(lever, active, derived, failure)
    reproduction = replace(reproduction, has_golden=not isinstance(golden, str))
    if reproduction.is_run:
        for place, value in enumerate(inputs.values()):
            write_bytes(folder / raw_input(place), value.tobytes())
        lines.append(f"{raw_input(0)} …: the sample as trtexec loads it")
    write_text(folder / "repro.sh", script_text(reproduction))
    (folder / "repro.sh").chmod(0o755)
    nodes = (len(lever.original.nodes), sum(index < len(lever.original.nodes) for index in active))
    model = onnx.printer.to_text(derived.model) if derived.model.ByteSize() < _PRINTED else ""
    write_text(folder / "repro.md", notes_text(reproduction, answer, nodes, model))
    ways = " or ".join(reproduction.ways)
    return [*lines, f"repro.sh: shows the failure, by {ways}", "repro.md: a report, ready to paste"]


def _reproduction(
    lever: ReductionLever, active: frozenset[int], derived: Derived, failure: Failure | None
) -> Reproduction:
    build, judged = lever.commands
    builtin = builtin_of(judged or "")
    if judged and builtin:
        judged = judged.replace(shlex.quote(sys.executable), "python3")
    return Reproduction(
        failure=failure,
        recipe=lever.recipe,
        shapes={name: value.shape for name, value in derived.inputs.items()},
        precision="" if lever.storage is None else lever.storage.name,
        commands=(build, judged),
        builtin=builtin,
        is_dynamic=is_dynamic(derived.model),
        is_silent=_is_renamed(lever, active) and bool(build or (judged and builtin in {"", "against"})),
    )


_PRINTED = 4096
"""Bytes of a model that is small enough to stand in a report."""


def _shared_inputs(lever: ReductionLever, active: frozenset[int], derived: Derived) -> Mapping[str, Values]:
    """Return the inputs that go with the model; random ones of the same range where they must not tell anything."""
    # a failed build does not read them; wrong numbers come from them, so that they stay
    failure = lever.reference()
    if not _is_renamed(lever, active) or failure is None or failure.stage != "build":
        return derived.inputs
    random = np.random.default_rng(1)
    return {name: _of_range(random, value) for name, value in derived.inputs.items()}


def _of_range(random: np.random.Generator, value: Values) -> Values:
    if value.dtype.kind != "f" or not value.size:
        return value
    return np.asarray(random.uniform(np.nanmin(value), np.nanmax(value), value.shape)).astype(value.dtype)


def _is_renamed(lever: ReductionLever, active: frozenset[int]) -> bool:
    first = len(lever.original.nodes)
    simpler = lever.deriver.simplifications
    return any(s.aspect is Aspect.NAMES and index not in active for index, s in enumerate(simpler, first))


def _failure_of_answer(lever: ReductionLever, answer: SearchAnswer, directory: Path) -> Failure | None:
    """Return the failure of the reduced model, as a probe saw it; the original's where that is gone."""
    for probe in answer.probes:
        folder = directory / probe.folder
        if probe.verdict == "bad" and probe.purpose == "the answer" and is_there(folder / FILE):
            return read_failure(folder, lever.basis)
    return lever.reference()


def _validity(model: onnx.ModelProto) -> str:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return f"onnx says that it is not valid: {' '.join(str(error).split())[:160]}"
    return "valid ONNX"
