"""The end of a precision search: its answer is put together, and written into ``fixed/`` and ``result.json``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from trtforensics.bisection.precision.answer.kernels import KernelNotes, kernel_notes
from trtforensics.bisection.precision.answer.operators import NAME, OperatorFix, operator_fix
from trtforensics.bisection.precision.answer.original_layers import OriginalReport
from trtforensics.bisection.precision.answer.precision_answer import (
    JudgedOutput,
    PrecisionAnswer,
    RepairNode,
    RepairSummary,
    ScoredProbe,
    TensorReason,
    WorstScores,
)
from trtforensics.bisection.precision.answer.quantization import CalibrationReport, cost_of
from trtforensics.bisection.precision.emulation.judging import OutputJudge
from trtforensics.bisection.precision.emulation.oracle import RunError, TopRows, top_rows
from trtforensics.bisection.precision.items import PrecisionItem
from trtforensics.bisection.precision.nodes import PrecisionLever, failure_of, read_scores, was_built
from trtforensics.bisection.precision.repair.certificate import Certificate
from trtforensics.bisection.precision.repair.smallest import Nodes
from trtforensics.bisection.search import Verdict
from trtforensics.bisection.session.answer import JudgedProbe, SearchAnswer, write_result
from trtforensics.bisection.session.artifacts import FIXED
from trtforensics.bisection.session.history import indexes_text
from trtforensics.console.counting import listed
from trtforensics.console.output import explained
from trtforensics.onnx_models.normalisations import other_axes

_Part = TypeVar("_Part")
_SHOWN = 20
_CHAIN = 8
"""Nodes from a normalisation's division back to its source."""


@dataclass(slots=True)
class Conclusion:
    """What a search was about; ``builds`` has the model with operators built, within ``timeout`` seconds."""

    lever: PrecisionLever
    plan: Certificate
    items: Sequence[PrecisionItem]
    directory: Path
    builds: bool
    timeout: float | None
    calibration: CalibrationReport | None = None
    original: OriginalReport | None = None

    def write(self, search: SearchAnswer) -> tuple[PrecisionAnswer, Sequence[str]]:
        """Return the answer and a line about each file of ``fixed/``; write all of it."""
        folder, safe = self.directory / FIXED, self.plan.safe
        nodes = (self.plan.minimal or frozenset()) if safe is None else safe.nodes
        lines = [*self.lever.write_repair(nodes, folder)] if nodes else []
        operators = self._operators(folder, lines)
        answer = self._answer(search, operators)
        write_result(self.directory, answer.document())
        return answer, lines

    def _operators(self, folder: Path, lines: list[str]) -> OperatorFix | None:
        if self.plan.safe is None or self.plan.curve is not None:
            return None
        work = self.directory / "operators" if self.builds else None
        safe = self.plan.safe.nodes
        with explained(str(self.directory)):
            fix = _if_run(lambda: operator_fix(self.lever, safe, folder, work, self.timeout))
        if fix is not None:
            lines.insert(0, f"{NAME}: normalisations as operators, with Casts, for a strongly typed build")
        return fix

    def _answer(self, search: SearchAnswer, operators: OperatorFix | None) -> PrecisionAnswer:
        lever, plan = self.lever, self.plan
        oracle, safe, minimal = lever.oracle, plan.safe, plan.minimal
        purposes = {indexes_text(plan.active(keep)): purpose for keep, purpose in reversed(plan.proof())}
        probes = tuple(self._probe(probe, purposes.get(probe.active, probe.purpose)) for probe in search.probes)
        folders = {probe.folder for probe in probes if probe.built is not None}
        unresolved = any(p.built is not None and p.verdict == Verdict.UNRESOLVED.value for p in probes)
        kernels = kernel_notes(lever, minimal)
        return PrecisionAnswer(
            search=search,
            builds=len(folders),
            oracle_probes=len({probe.active for probe in probes if probe.scores}),
            precision=lever.narrow,
            accumulate=oracle.accumulator,
            converted=lever.converted,
            builder=None if lever.target is None else lever.target.module,
            evidence={
                "emulated": any(probe.scores for probe in probes),
                "built": bool(folders) and not unresolved,
                "executed": False,
            },
            judged={} if lever.needs_files else judged_outputs(lever.judge),
            samples=len(oracle.samples),
            samples_are=lever.samples_are,
            masked=oracle.masked_values,
            minimal=None if safe is None else self._repair(minimal or frozenset(), probes),
            safe=None if safe is None else self._repair(safe.nodes, probes),
            inside=safe.inside if safe else (),
            left=safe.left if safe else (),
            unseen=safe.unseen if safe else (),
            reasons=safe.reasons if safe else (),
            curve=plan.curve,
            holding=plan.holding,
            kernels=kernels,
            top_rows=_if_run(self._top_rows) or {},
            quantization=_if_run(lambda: cost_of(oracle)),
            calibration=self.calibration,
            original=self.original,
            tensors=self._tensors(kernels),
            nodes=self._nodes(probes),
            constants=tuple(lever.caster.constants.altered.values()),
            notes=(*lever.notes, *self._without_operator()),
            probes=probes,
            operators=operators,
        )

    def _probe(self, probe: JudgedProbe, purpose: str) -> ScoredProbe:
        """Return a probe with scores, whether it is near the tolerance, and the outcome of its build."""
        folder = self.directory / probe.folder
        scores = read_scores(folder, self.lever.basis)
        judgement = self.lever.judge.judge(scores) if scores else None
        return ScoredProbe(
            **{**asdict(probe), "purpose": purpose},
            scores=judgement.scores if judgement else {},
            near=bool(judgement and judgement.near),
            built=was_built(folder),
            log_tail=tuple(failure_of(folder)),
        )

    def _repair(self, nodes: Nodes, probes: Sequence[ScoredProbe]) -> RepairSummary:
        active = indexes_text(self.plan.active(nodes))
        kept = tuple(name for name in self.lever.nodes if name in nodes)
        for probe in probes:
            if probe.active == active:
                return RepairSummary(kept, probe.verdict, probe.scores, probe.folder)
        return RepairSummary(kept, None, {}, None)

    def _tensors(self, kernels: KernelNotes) -> tuple[TensorReason, ...]:
        known = {item.name: item for item in self.items}
        sums = self._sums_on_the_way(kernels)
        return tuple(
            TensorReason(
                tensor=name,
                moved_as=known[name].tensors[1:],
                why=known[name].why if known[name].beyond else sums.get(name, known[name].why),
                nodes=tuple(sorted(known[name].nodes & repair.nodes)),
                set=number,
            )
            for number, repair in enumerate(self.plan.repairs)
            for name in repair.tensors
        )

    def _sums_on_the_way(self, kernels: KernelNotes) -> Mapping[str, str]:
        """Return by tensor why a product must stay FP32 whose sum leaves the type before its result does."""
        end, reasons = self.lever.caster.storage.largest, {}
        for each in kernels.wide_sums.nodes if kernels.wide_sums else ():
            if each.partial is not None and each.partial > end:
                (tensor,) = self.lever.caster.survey.nodes[each.node].output
                reached = f"reaches {each.partial:.3g} on the way"
                reasons[tensor] = f"is a sum that {reached}, {self.lever.narrow} ends at {end:.5g}"
        return reasons

    def _nodes(self, probes: Sequence[ScoredProbe]) -> tuple[RepairNode, ...]:
        scores: dict[str, WorstScores] = {probe.active: probe.scores for probe in probes}
        search, nodes = self.plan, []
        for number, repair in enumerate(search.repairs):
            for node in sorted(repair.nodes, key=self.lever.nodes.index):
                alone, without = search.neighbours(repair, node)
                nodes.append(
                    RepairNode(
                        node=node,
                        op=self.lever.caster.candidates[node].op,
                        set=number,
                        needed=search.needed.get(node),
                        alone_in_16_bits=scores.get(indexes_text(alone)),
                        dropped=scores.get(indexes_text(without)),
                    )
                )
        return tuple(nodes)

    def _top_rows(self) -> dict[str, TopRows]:
        nodes = self.plan.safe.nodes if self.plan.safe else self.plan.minimal
        return {} if nodes is None else top_rows(self.lever.oracle, self.lever.caster.kept(nodes))

    def _without_operator(self) -> list[str]:
        """Say which kept normalisations have no operator."""
        kept, survey = self.plan.safe.nodes if self.plan.safe else frozenset[str](), self.lever.caster.survey
        names = other_axes(self.lever.caster.prepared.proto, survey) if kept else []
        touched = [name for name in names if kept.intersection(islice(survey.behind(name), _CHAIN))]
        if not touched:
            return []
        what = "whose axes are not the last ones, or of no fixed size and no groups of channels"
        return [f"no operator is proposed for normalisations {what}: {listed(touched, _SHOWN)}"]


def _if_run(part: Callable[[], _Part]) -> _Part | None:
    """Return a part of the answer; None, and the answer does without it, where ONNX Runtime does not run its models."""
    try:
        return part()
    except RunError:
        return None


def judged_outputs(judge: OutputJudge) -> dict[str, JudgedOutput]:
    """Return how each output is judged."""
    outputs = judge.tolerances.items()
    return {name: JudgedOutput(**asdict(first), also=tuple(others)) for name, (first, *others) in outputs}
