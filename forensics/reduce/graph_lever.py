"""The lever over the graph: a probe is a model of some nodes of the original, judged by whether it fails as that does.

Items are nodes, then simplifications, then what the rewriting of the file changes; active ones are as in the original.
The first probe is the user's file as it is, whose failure the others are held to: a probe that fails otherwise is
unresolved.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from trtforensics.bisection.checks import builtin_of
from trtforensics.bisection.levers.recipe import Recipe, build_command
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import STORAGES, Storage
from trtforensics.bisection.precision.emulation.judging import rules_for
from trtforensics.bisection.precision.emulation.oracle import Oracle, floating_outputs, judge_for
from trtforensics.bisection.runner.placeholders import mentions
from trtforensics.bisection.runner.probe import ProbeOutcome, ProbeSpec, check_log_name
from trtforensics.bisection.search import Item, Verdict
from trtforensics.bisection.session.lever import DescribedItem, Lever
from trtforensics.console.output import explained
from trtforensics.console.own_files import is_there, require_no_link
from trtforensics.errors import ForensicsError, SourceError
from trtforensics.onnx_models import samples, streaming
from trtforensics.onnx_models.cutting import Original, UnknownValueError
from trtforensics.onnx_models.reading import prepare
from trtforensics.onnx_models.running import run_model
from trtforensics.onnx_models.samples import Values, write_feeds, write_npz
from trtforensics.onnx_models.shapes import is_dynamic
from trtforensics.onnx_models.streaming import data_file, write_model
from trtforensics.reduce.deriving import Control, Derived, Deriver, Recording, identity_of
from trtforensics.reduce.failure import (
    NUMBERS,
    Failure,
    Names,
    Sameness,
    failure_of,
    paths_of,
    read_failure,
    write_failure,
    wrong_numbers,
)

OTHERWISE = "fails otherwise"
"""How the reason of a probe begins that fails in another way than the original."""

_PASSED = Failure("", "passed")
_NAMED = 3
_LARGE = 16 << 20
"""Bytes of a model that goes when its probe did not fail: hundreds of them would fill a disk."""


class ReductionLever(Lever):
    """Nodes and simplifications of a model; ``directory`` keeps the failure of the original.

    ``recipe`` is our own build; ``storage`` has the twin judge in 16 bits, and then nothing is run. ``commands`` are
    the user's build and check; stored failures of another check do not count. ``control`` is the user's model that must
    pass.
    """

    mode = "reduce"
    placeholder = "model"
    more_placeholders = ("inputs",)
    file = "model.onnx"

    def __init__(  # noqa: PLR0913 - all but the first two say how probes are judged
        self,
        deriver: Deriver,
        directory: Path,
        *,
        same: Sameness = Sameness.STRICT,
        recipe: Recipe | None = None,
        storage: Storage | None = None,
        commands: tuple[str | None, str | None] = (None, None),
        control: Control | None = None,
    ) -> None:
        self.deriver = deriver
        self.original = deriver.original
        self.same, self.recipe, self.storage, self.commands = same, recipe, storage, commands
        self.control = control or identity_of(self.original, deriver.recording.values)
        self.build = None if self.recipe is None else build_command()
        self.judges = self.storage is not None
        simpler = (each.text for each in deriver.simplifications)
        self.items = tuple(Item(name) for name in (*(node.name for node in self.original.nodes), *simpler))
        self.settings = f"the same failure: {self.same}"
        self._check = self.commands[-1]
        self._builtin = builtin_of(self._check or "")
        self._feeds = any(mentions(command or "", "inputs") for command in self.commands)
        self._directory = directory
        self._names = _names(deriver)
        self._actives: dict[str, frozenset[int]] = {}
        self._outputs: dict[str, Mapping[str, str]] = {}
        self._problems: dict[str, str] = {}

    def content(self) -> object:
        """Return what decides a probe: model, sample, builder, precision."""
        values = self.deriver.recording.values
        sample = {name: values[name] for name in self.original.sources if name in values}
        recipe = None
        if self.recipe is not None:
            recipe = {name: value for name, value in self.recipe.content().items() if name != "model"}
        return {
            "model": streaming.digest_of(self.original.model, self.original.streamed),
            "sample": samples.digest_of([sample]),
            "recipe": recipe,
            "precision": self.storage and self.storage.name,
            **({"control": self.control.digest} if self.control.digest else {}),
        }

    def describe(self, index: int) -> DescribedItem:
        """Return a node with its operator, or a simplification."""
        if index < len(self.original.nodes):
            node = self.original.nodes[index]
            return DescribedItem(node.name, {"op": node.proto.op_type})
        return DescribedItem(self.items[index].name)

    def derive(self, active: frozenset[int]) -> Derived:
        """Return the model of a probe, of no items the control; an UnknownValueError where a cut would not be exact."""
        return self.deriver.derive(active) if active else self.control.derived

    def prepare(self, active: frozenset[int], folder: Path) -> Mapping[str, Path]:
        """Write the model, and its inputs where a command reads them."""
        path, inputs = folder / self.file, folder / "inputs"
        self._actives[str(folder)] = active
        self._problems.pop(str(folder), None)
        try:
            derived = self.derive(active)
        except UnknownValueError as error:
            self._problems[str(folder)] = str(error)
            return {self.placeholder: path, "inputs": inputs}
        problem = (self._spoilt(derived) or self._does_not_run(active, derived)) if active else ""
        self._problems |= {str(folder): problem} if problem else {}
        self._outputs[str(folder)] = self._originals_of(derived)
        path = self._placed(derived, path, as_it_is=self._is_whole(folder))
        if self._feeds:
            inputs.mkdir(exist_ok=True)
            write_npz(derived.inputs, inputs / "000.npz")
            write_feeds(derived.inputs, inputs / "inputs.json")
        if self.recipe is not None:
            shapes = {name: list(value.shape) for name, value in derived.inputs.items()}
            given = {"shapes": shapes} if is_dynamic(derived.model) else {"shapes": {}}
            self.recipe.write(folder, {"model": str(path.absolute()), **given})
        return {self.placeholder: path, "inputs": inputs}

    def _placed(self, derived: Derived, path: Path, *, as_it_is: bool) -> Path:
        """Write a probe's model; return its path. A file with its data beside it is the user's own, in its place."""
        # any other file as it is gets copied, byte for byte: a command may write to the model that it is given
        if not as_it_is or self.deriver.file is None:
            write_model(derived.model, derived.streamed, path)
            return path
        if not self.deriver.file.is_single:
            return Path(self.original.path)
        require_no_link(path)
        with explained(str(path)):
            shutil.copyfile(self.original.path, path)
        return path

    def _originals_of(self, derived: Derived) -> Mapping[str, str]:
        """Return the original's output for each output of a model, "" for the result of a cut."""
        declared = [value.name for value in self.original.model.graph.output]
        known = {self.deriver.renames.get(name, name): name for name in declared} | {name: name for name in declared}
        return {value.name: known.get(value.name, "") for value in derived.model.graph.output}

    def _spoilt(self, derived: Derived) -> str:
        """Return why a check of numbers would fail before the first node: a recorded value is wrong, or too large."""
        # a build by a command may be in FP16; what it does to too large an input would hide which node overflows
        if not self._feeds:
            return ""
        finite = self._builtin == "finite"
        halves = bool(self._builtin) and (self.recipe is None or "FP16" in self.recipe.flags)
        for name in sorted(derived.inputs.keys() - self.original.sources.keys()):
            value = derived.inputs[name]
            if value.dtype.kind == "f" and bool(np.isnan(value).any() or (finite and not np.isfinite(value).all())):
                return f"the recorded values of {name} are not finite before any node runs"
            if halves and exceeds(value, STORAGES["fp16"]):
                return f"the recorded values of {name} do not fit fp16, in which the build may read them"
        return ""

    def _does_not_run(self, active: frozenset[int], derived: Derived) -> str:
        """Return why a simplified model is none: ONNX Runtime ran the original, and does not run this."""
        first = len(self.original.nodes)
        simpler = self.deriver.relevant(frozenset(index for index in active if index < first)) - active
        if not simpler or self.deriver.recording.why:
            return ""
        ran = run_model(derived.model, derived.inputs, derived.streamed)
        return f"ONNX Runtime does not run it so: {ran}" if isinstance(ran, str) else ""

    def rejudge(self, folder: Path) -> tuple[Verdict, str] | None:
        """Hold a stored failure against the original's anew; None where the probe must run again."""
        try:
            failure = read_failure(folder, self.basis)
        except SourceError:
            return None
        if failure is None:
            return None
        return self._compared(failure) if failure != _PASSED else (Verdict.GOOD, failure.ended)

    def remembers(self, active: frozenset[int]) -> bool:
        """Whether the original's failure is there, if this is the original: the others are held to it."""
        return len(active) < len(self.items) or self.reference() is not None

    def run(self, spec: ProbeSpec, commands: Callable[[ProbeSpec], ProbeOutcome]) -> ProbeOutcome:
        """Run a probe that has a model, and compare its failure with the original's."""
        problem = self._problems.get(spec.folder)
        if problem is not None:
            return ProbeOutcome(Verdict.UNRESOLVED, problem)
        return self._judged(spec, commands(spec)) if self.storage is None else self._emulated(spec, self.storage)

    def _judged(self, spec: ProbeSpec, outcome: ProbeOutcome) -> ProbeOutcome:
        """Return the outcome of a probe's commands, its failure compared with the original's."""
        folder = Path(spec.folder)
        if outcome.verdict not in {Verdict.GOOD, Verdict.BAD} or outcome.not_run:
            return outcome
        ended = tuple(each for each in (outcome.build, *outcome.checks) if each)
        checked = replace(outcome, build=None, checks=ended)
        if outcome.verdict is Verdict.GOOD:
            write_failure(folder, _PASSED, self.basis)
            self._tidy(folder)
            return checked
        if outcome.checks and self._builtin:
            failure = wrong_numbers(self._builtin, folder / check_log_name(len(outcome.checks) - 1))
        else:
            failure = failure_of(folder, outcome, replace(self._names_of(folder), paths=paths_of(spec)))
        verdict, reason = self._kept(folder, failure, outcome.reason)
        return replace(checked, verdict=verdict, reason=reason)

    def _emulated(self, spec: ProbeSpec, storage: Storage) -> ProbeOutcome:
        folder = Path(spec.folder)
        derived = self.derive(self._actives[spec.folder])
        cut = frozenset(derived.inputs.keys() - self.original.sources.keys())
        path = Path(spec.values[self.placeholder])
        verdict, reason, failure = judge_numbers(path, derived.inputs, cut, storage)
        if failure is None:
            write_failure(folder, _PASSED, self.basis) if verdict is Verdict.GOOD else None
            self._tidy(folder)
            return ProbeOutcome(verdict, reason)
        if self._is_whole(folder):
            failure = replace(failure, named=first_beyond(self.original, self.deriver.recording, storage))
        return ProbeOutcome(*self._kept(folder, failure, reason))

    def _kept(self, folder: Path, failure: Failure, reason: str) -> tuple[Verdict, str]:
        """Keep a failure, and compare it with the original's."""
        if self._is_whole(folder):
            before = self.reference()  # an earlier look at the original, from which this one may differ
            reference = failure if before is None else before.seen_again(failure)
            write_failure(self._directory, reference, self.basis)
        write_failure(folder, failure, self.basis)
        verdict, difference = self._compared(failure)
        if verdict is not Verdict.BAD or is_there(data_file(folder / self.file)):
            self._tidy(folder)
        return verdict, difference or f"{reason}, {failure.sentence}"

    def _names_of(self, folder: Path) -> Names:
        """Return the names of a probe's model, as they were and as they may be replaced."""
        kept = {
            self.original.nodes[index].name for index in self._actives[str(folder)] if index < len(self.original.nodes)
        }
        renames, reference = self.deriver.renames, self.reference()
        names = self._names.among(kept | {renames[name] for name in kept if name in renames})
        expected = () if reference is None else reference.outputs
        return replace(names, outputs=self._outputs[str(folder)], expected=expected)

    def _is_whole(self, folder: Path) -> bool:
        return len(self._actives[str(folder)]) == len(self.items)

    def _compared(self, failure: Failure) -> tuple[Verdict, str]:
        reference = self.reference()
        difference = "" if reference is None else reference.difference(failure, self.same)
        if difference:
            return Verdict.UNRESOLVED, f"{OTHERWISE}: {failure.sentence} ({difference})"
        return Verdict.BAD, ""

    def reference(self) -> Failure | None:
        """Return the original's failure; None before it was seen."""
        return read_failure(self._directory, self.basis)

    def hints(self) -> list[int]:
        """Return the nodes that the original's failure names, the likeliest first."""
        failure = self.reference()
        named = failure.named if failure is not None else ()
        return [self.original.by_name[name] for name in named if name in self.original.by_name]

    def _tidy(self, folder: Path) -> None:
        path = folder / self.file
        if is_there(data_file(path)) or (is_there(path) and path.stat().st_size > _LARGE):
            path.unlink(missing_ok=True)
            data_file(path).unlink(missing_ok=True)


def _names(deriver: Deriver) -> Names:
    original = deriver.original
    makers = {name: original.nodes[index].name for name, index in original.makers.items()}
    operators = {node.name: node.proto.op_type for node in original.nodes}
    others = deriver.renames
    makers |= {others[name]: others[node] for name, node in makers.items() if name in others}
    operators |= {others[name]: op for name, op in operators.items() if name in others}
    known = {*original.sources, *original.constants, *others.values()}
    if deriver.file is not None:
        operators = {**deriver.file.operators, **operators}
        known |= deriver.file.tensors
    return Names(operators, makers, frozenset(known))


def judge_numbers(
    path: Path, inputs: Mapping[str, Values], cut: frozenset[str], storage: Storage
) -> tuple[Verdict, str, Failure | None]:
    """Judge a model file on its inputs; ``cut`` are those that stand for cut tensors.

    A model is not judged where a recorded value does not fit the 16-bit type: it would go wrong before its first node.
    """
    beyond = next((name for name in sorted(cut) if exceeds(inputs[name], storage)), "")
    if beyond:
        return Verdict.UNRESOLVED, f"the recorded values of {beyond} do not fit {storage.name}", None
    try:
        caster = Caster(prepare(str(path)), storage)
        if not caster.candidates:
            return Verdict.GOOD, f"no node computes in {storage.name}", None
        oracle = Oracle(caster, [inputs])
        rules = rules_for(floating_outputs(caster.prepared.proto), (), ())
        judgement = judge_for(oracle, rules).judge(oracle.score_mixture(caster.kept([])))
    except ForensicsError as error:
        return Verdict.UNRESOLVED, f"the twin says nothing: {error.what}", None
    if judgement.passes:
        return Verdict.GOOD, f"the twin agrees in {storage.name}", None
    overflow = any(worst is None for worst in judgement.scores.values())
    failure = Failure(
        NUMBERS,
        "are not finite" if overflow else "differ beyond the tolerance",
        title=f"{storage.name}: {judgement.why}",
        lines=(judgement.why,),
    )
    return Verdict.BAD, judgement.why, failure


def first_beyond(original: Original, recording: Recording, storage: Storage) -> tuple[str, ...]:
    """Return the first nodes whose recorded results exceed the type's range while what they read does not."""
    names = []
    for node in original.nodes:
        results = [recording.values[name] for name in node.makes if name in recording.values]
        reads = [recording.values[name] for name in node.proto.input if name in recording.values]
        if any(exceeds(each, storage) for each in results) and not any(exceeds(each, storage) for each in reads):
            names.append(node.name)
    return tuple(names[:_NAMED])


def exceeds(values: Values, storage: Storage) -> bool:
    """Whether a finite value is beyond a type's range."""
    if values.dtype.kind != "f" or not values.size:
        return False
    finite = np.asarray(values, np.float64)[np.isfinite(values)]
    return bool(finite.size) and float(np.abs(finite).max()) > storage.largest
