"""The lever over the graph: a probe is a model of some nodes of the original, judged by whether it fails as that does.

Items are nodes, then simplifications; active ones are as in the original. The first probe is the original, whose
failure the others are held to: a probe that fails otherwise is unresolved.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.bisect.checks import builtin_of
from trtforensics.bisect.levers.recipe import build_command
from trtforensics.bisect.precision.casting.storage import STORAGES
from trtforensics.bisect.precision.emulation.runtime import run_model
from trtforensics.bisect.runner.executors import RelayExecutor
from trtforensics.bisect.runner.placeholders import mentions
from trtforensics.bisect.runner.probe import ProbeOutcome, check_log_name
from trtforensics.bisect.search import Item, Verdict
from trtforensics.bisect.session.lever import Lever
from trtforensics.reduce.deriving import UnknownValueError
from trtforensics.reduce.emulated import exceeds, first_beyond, judge_numbers
from trtforensics.reduce.failure import Failure, Names, Sameness, failure_of, read_failure, write_failure, wrong_numbers
from trtforensics.reduce.inputs import write_inputs
from trtforensics.reduce.large import data_file, write_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import onnx

    from trtforensics.bisect.levers.recipe import Recipe
    from trtforensics.bisect.precision.casting.storage import Storage
    from trtforensics.bisect.runner.executors import ProbeExecutor
    from trtforensics.bisect.runner.probe import ProbeSpec
    from trtforensics.bisect.session.lever import Described
    from trtforensics.reduce.deriving import Derived, Deriver

OTHERWISE = "fails otherwise"
"""How the reason of a probe begins that fails in another way than the original."""

_PASSED = Failure("", "passed")
_LARGE = 16 << 20
"""Bytes of a model that goes when its probe did not fail: hundreds of them would fill a disk."""


@dataclass(frozen=True, slots=True)
class Judging:
    """How probes are judged.

    ``recipe`` is our own build; ``storage`` has the twin judge in 16 bits, and then nothing is run. ``commands`` are
    the user's build and check; stored failures of another check do not count.
    """

    same: Sameness = Sameness.STRICT
    recipe: Recipe | None = None
    storage: Storage | None = None
    commands: tuple[str | None, str | None] = (None, None)


class ReductionLever(Lever):
    """Nodes and simplifications of a model; ``directory`` keeps the failure of the original."""

    mode = "reduce"
    placeholder = "model"
    more_placeholders = ("inputs",)
    file = "model.onnx"

    def __init__(self, deriver: Deriver, directory: Path, judging: Judging) -> None:
        self.deriver = deriver
        self.original = deriver.original
        self.same = judging.same
        self.recipe = judging.recipe
        self.storage = judging.storage
        self.commands = judging.commands
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
        self._problems: dict[str, str] = {}

    def content(self) -> object:
        """Return what decides a probe: model, sample, builder, precision."""
        sample = hashlib.sha256()
        for name in sorted(self.original.sources):
            value = self.deriver.recording.values.get(name)
            if value is not None:
                sample.update(f"{name} {value.dtype} {value.shape}".encode())
                sample.update(value.tobytes())
        model = hashlib.sha256(self.original.model.SerializeToString(deterministic=True))
        for values in self.original.streamed.values():
            model.update(values.reshape(-1).view(np.uint8).data)
        recipe = None
        if self.recipe is not None:
            recipe = {name: value for name, value in self.recipe.content().items() if name != "model"}
        return {
            "model": model.hexdigest(),
            "sample": sample.hexdigest(),
            "recipe": recipe,
            "precision": self.storage and self.storage.name,
        }

    def describe(self, index: int) -> Described:
        """Return a node with its operator, or a simplification."""
        if index < len(self.original.nodes):
            node = self.original.nodes[index]
            return {"item": node.name, "op": node.proto.op_type}
        return {"item": self.items[index].name}

    def derive(self, active: frozenset[int]) -> Derived:
        """Return the model of a probe.

        Raises:
            UnknownValueError: it would have to cut a tensor that nothing is known of.
        """
        return self.deriver.derive(active)

    def prepare(self, active: frozenset[int], folder: Path) -> Mapping[str, Path]:
        """Write the model, and its inputs where a command reads them."""
        path, inputs = folder / self.file, folder / "inputs"
        self._actives[str(folder)] = active
        self._problems.pop(str(folder), None)
        try:
            derived = self.derive(active)
        except UnknownValueError as error:
            self._problems[str(folder)] = f"the tensor {error} would be cut, of which neither value nor type is known"
            return {self.placeholder: path, "inputs": inputs}
        problem = self._spoilt(derived) or self._does_not_run(active, derived)
        self._problems |= {str(folder): problem} if problem else {}
        write_model(derived.model, derived.streamed, path)
        if self._feeds:
            write_inputs(derived.inputs, inputs)
        if self.recipe is not None:
            shapes = {name: list(value.shape) for name, value in derived.inputs.items()}
            given = {"shapes": shapes} if _is_dynamic(derived.model) else {"shapes": {}}
            self.recipe.write(folder, {"model": str(path.absolute()), **given})
        return {self.placeholder: path, "inputs": inputs}

    def _spoilt(self, derived: Derived) -> str:
        """Return why a check of numbers would fail before the first node: a recorded value is wrong, or too large.

        A build by a command may be in FP16; what it then does to too large an input would hide which node overflows.
        """
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
        if not simpler or not self.deriver.recording.runs_whole:
            return ""
        ran = run_model(derived.model, derived.inputs, derived.streamed)
        return f"ONNX Runtime does not run it so: {ran}" if isinstance(ran, str) else ""

    def rejudge(self, folder: Path) -> tuple[Verdict, str] | None:
        """Hold a stored failure against the original's anew; None where the probe must run again."""
        failure = read_failure(folder, self._check)
        if failure is None:
            return None
        return self._compared(failure) if failure != _PASSED else (Verdict.GOOD, failure.ended)

    def executor(self, commands: ProbeExecutor) -> ProbeExecutor:
        """Return an executor that compares failures."""
        return _ComparingExecutor(self, commands)

    def judged(self, spec: ProbeSpec, outcome: ProbeOutcome) -> ProbeOutcome:
        """Return the outcome of a probe's commands, its failure compared with the original's."""
        folder = Path(spec.folder)
        if outcome.verdict not in {Verdict.GOOD, Verdict.BAD} or outcome.not_run:
            return outcome
        ended = tuple(each for each in (outcome.build, *outcome.checks) if each)
        checked = replace(outcome, build=None, checks=ended)
        if outcome.verdict is Verdict.GOOD:
            write_failure(folder, _PASSED, self._check)
            self._tidy(folder)
            return checked
        wrong = outcome.checks and self._builtin
        failure = self._wrong(folder, outcome) if wrong else failure_of(folder, outcome, self._names_of(folder))
        verdict, reason = self._kept(folder, failure, outcome.reason)
        return replace(checked, verdict=verdict, reason=reason)

    def _wrong(self, folder: Path, outcome: ProbeOutcome) -> Failure:
        return wrong_numbers(self._builtin, folder / check_log_name(len(outcome.checks) - 1))

    def emulated(self, spec: ProbeSpec, storage: Storage) -> ProbeOutcome:
        """Judge a probe by its twin."""
        folder = Path(spec.folder)
        derived = self.derive(self._actives[spec.folder])
        cut = frozenset(derived.inputs.keys() - self.original.sources.keys())
        verdict, reason, failure = judge_numbers(folder / self.file, derived.inputs, cut, storage)
        if failure is None:
            write_failure(folder, _PASSED, self._check) if verdict is Verdict.GOOD else None
            self._tidy(folder)
            return ProbeOutcome(verdict, reason)
        if self._is_whole(folder):
            failure = replace(failure, named=first_beyond(self.original, self.deriver.recording, storage))
        return ProbeOutcome(*self._kept(folder, failure, reason))

    def _kept(self, folder: Path, failure: Failure, reason: str) -> tuple[Verdict, str]:
        """Keep a failure, and compare it with the original's."""
        if self._is_whole(folder):
            write_failure(self._directory, failure, self._check)
        write_failure(folder, failure, self._check)
        verdict, difference = self._compared(failure)
        if verdict is not Verdict.BAD or data_file(folder / self.file).exists():
            self._tidy(folder)
        return verdict, difference or f"{reason}, {failure.sentence}"

    def _names_of(self, folder: Path) -> Names:
        """Return the names of a probe's model, as they were and as they may be replaced."""
        kept = {
            self.original.nodes[index].name for index in self._actives[str(folder)] if index < len(self.original.nodes)
        }
        renames = self.deriver.renames
        return self._names.among(kept | {renames[name] for name in kept if name in renames})

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
        return read_failure(self._directory, self._check)

    def hints(self) -> list[int]:
        """Return the nodes that the original's failure names, the likeliest first."""
        failure = self.reference()
        named = failure.named if failure is not None else ()
        return [self.original.by_name[name] for name in named if name in self.original.by_name]

    def problem(self, spec: ProbeSpec) -> str:
        """Return why a probe has no model, or ""."""
        return self._problems.get(spec.folder, "")

    def _tidy(self, folder: Path) -> None:
        path = folder / self.file
        if data_file(path).exists() or (path.exists() and path.stat().st_size > _LARGE):
            path.unlink(missing_ok=True)
            data_file(path).unlink(missing_ok=True)

    def fix(self, culprits: Sequence[frozenset[int]], folder: Path) -> Sequence[str]:
        """Write nothing: the answer's files need its status too, and are written at the end."""
        del culprits, folder
        return ()


class _ComparingExecutor(RelayExecutor):
    def __init__(self, lever: ReductionLever, commands: ProbeExecutor) -> None:
        super().__init__(commands, "compare")
        self._lever = lever

    def _run(self, spec: ProbeSpec) -> ProbeOutcome:
        problem = self._lever.problem(spec)
        if problem:
            return ProbeOutcome(Verdict.UNRESOLVED, problem)
        if self._lever.storage is not None:
            return self._lever.emulated(spec, self._lever.storage)
        return self._lever.judged(spec, self._commands.submit(spec).result())


def _names(deriver: Deriver) -> Names:
    original = deriver.original
    makers = {name: original.nodes[index].name for name, index in original.makers.items()}
    operators = {node.name: node.proto.op_type for node in original.nodes}
    others = deriver.renames
    makers |= {others[name]: others[node] for name, node in makers.items() if name in others}
    operators |= {others[name]: op for name, op in operators.items() if name in others}
    return Names(operators, makers, frozenset((*original.sources, *original.constants, *others.values())))


def _is_dynamic(model: onnx.ModelProto) -> bool:
    return any(not dim.HasField("dim_value") for value in model.graph.input for dim in value.type.tensor_type.shape.dim)
