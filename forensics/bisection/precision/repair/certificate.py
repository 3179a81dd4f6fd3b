"""The plan of a precision search: the search, the safe repair, then real builds of the probes that prove the answer.

What was found on some samples by one rounding may be luck. So the answer is judged on held-out samples and by other
roundings too: what holds there is no proof, what does not is no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from trtforensics.bisection.precision.emulation.judging import (
    METRICS,
    Judged,
    Judgement,
    OutputJudge,
    Scores,
    Tolerance,
    tolerance_of,
)
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError
from trtforensics.bisection.precision.repair.curve import RoundingCurve
from trtforensics.bisection.precision.repair.losses import SafeRepair, losses
from trtforensics.bisection.precision.repair.smallest import REPAIRED, Nodes, RepairProbe, RepairSearch
from trtforensics.bisection.search import Ask, Outlook, Result, Status, Verdict
from trtforensics.bisection.search.ledger import Steps, Wish, Wishes, mask_of
from trtforensics.console.counting import duration
from trtforensics.errors import UsageError
from trtforensics.onnx_models.samples import Sample

SAFE = "the safe repair"


class Certificate(RepairSearch):
    """The search; then the safe repair; then, with ``builds``, real builds of the probes that prove the answer.

    The caller may set these: ``safer`` makes the safe repair of a minimal one. ``curve_from`` measures what rounding
    costs beyond it, where no set is searched for. ``on_building`` is called once, before the builds. ``beside`` judges
    the repairs where the search did not look. ``outcome`` is the search's own result; ``given`` has all verdicts.
    """

    builds = False
    safer: Callable[[Nodes], SafeRepair] = staticmethod(partial(SafeRepair, inside=(), left=()))
    curve_from: Callable[[Nodes], RoundingCurve] | None = None
    on_building: Callable[[], object] = bool
    beside: Callable[[Sequence[Nodes], Mapping[str, Nodes]], Holding] | None = None
    given: tuple[tuple[Ask, Verdict], ...] = ()
    outcome: Result | None = None
    safe: SafeRepair | None = None
    curve: RoundingCurve | None = None
    holding: Holding | None = None
    wanted: tuple[Wish, ...] | None = None
    """The builds of the certificate, once the search is over."""
    _safety: tuple[Wish, ...] = ()

    @property
    def minimal(self) -> Nodes | None:
        """The first repair; no nodes if the model passes without, or none was found; None while there is no answer."""
        if self.outcome is None or (self.outcome.status is Status.NOT_REPRODUCED and not self.passes_narrow):
            return None
        return self.repairs[0].nodes if self.repairs else frozenset()

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        self.given += ((ask, verdict),)
        super().tell(ask, verdict)

    def proof(self) -> list[RepairProbe]:
        """Return the probes that prove the answer, and the safe repair."""
        safe = self.safe
        return [*super().proof(), *([(safe.nodes, SAFE)] if safe and safe.nodes != self.minimal else [])]

    def outlook(self) -> Outlook:
        """Return what is known; the builds left include those of the certificate."""
        outlook = super().outlook()
        if self.outcome is None:
            return outlook
        left = sum(self._ledger.told(wish) is None for wish in self._later)
        return replace(outlook, expected=float(left), worst=left)

    def result(self) -> Result:
        """Return the answer; it is not certified if the repaired model does not build."""
        result, verdicts = self.outcome or super().result(), {wish: self._ledger.told(wish) for wish in self._later}
        evidence = (*result.evidence, *(wish.ask() for wish, verdict in verdicts.items() if verdict is not None))
        unbuilt = any(wish.purpose == REPAIRED and v is Verdict.UNRESOLVED for wish, v in verdicts.items())
        if result.status is Status.CERTIFIED and unbuilt:
            result = replace(result, status=Status.NAMED, why="the repaired model does not build as asked")
        why = "" if self.holding is None else self.holding.why  # what does not hold beside the search is taken back
        if why and result.status is Status.CERTIFIED:
            result = replace(result, status=Status.NAMED, why=why)
        elif why and result.status is Status.NOT_REPRODUCED:
            result = replace(result, status=Status.INCONCLUSIVE, why=f"{result.why}, but {why}")
        if result.status is Status.NOT_REPRODUCED and self.safe is not None and self.safe.inside:
            lost = sum(loss.lost for loss in self.safe.inside)
            what = f"{lost} values lost inside" if lost else f"{len(self.safe.inside)} tensors flushed to zero inside"
            result = replace(result, why=f"{result.why}, with {what}")
        return replace(result, evidence=evidence)

    @property
    def _later(self) -> tuple[Wish, ...]:
        """The probes after the search, as far as they are known."""
        return (*self._safety, *(self.wanted or ()))

    def _advance(self) -> Wishes:
        wishes = super()._advance()
        if self.answer is None or self.outcome is not None:
            return wishes
        self.outcome, self.answer, self._limit = self.answer, None, None  # what proves it is asked for beyond any limit
        self._steps = self._proven(self.outcome)
        return super()._advance()

    def _proven(self, outcome: Result) -> Steps[Result]:
        self._safety = self._made_safe(outcome)
        yield from self._ledger.whole(self._safety)
        self.on_building()
        proof = (*outcome.evidence, *(wish.ask() for wish in self._safety)) if self.builds else ()
        self.wanted = tuple(Wish(mask_of(ask.active), ask.purpose, build=1) for ask in proof)
        yield from self._ledger.whole(self.wanted)
        return outcome

    def _made_safe(self, outcome: Result) -> tuple[Wish, ...]:
        """Make the safe repair of the answer; return its probe, if it is not the minimal one and there is an answer."""
        minimal = self.minimal
        if minimal is None:
            return ()
        try:
            self.safe = self.safer(minimal)
            if self.curve_from is not None and outcome.status is Status.INCONCLUSIVE:
                self.curve = self.curve_from(self.safe.nodes)
                safe, more = self.safe, self.safer(self.safe.nodes | self.curve.kept)
                reasons = tuple(dict.fromkeys((*safe.reasons, *more.reasons)))
                self.safe = replace(more, inside=safe.inside, reasons=reasons)
        except RunError:  # ONNX Runtime does not return every tensor of every model
            return ()
        self._hold(minimal, self.safe.nodes, certified=outcome.status is Status.CERTIFIED)
        return () if self.safe.nodes == minimal else (Wish(mask_of(self.active(self.safe.nodes)), SAFE),)

    def _hold(self, minimal: Nodes, safe: Nodes, *, certified: bool) -> None:
        repairs = [repair.nodes for repair in self.repairs] if certified else [minimal] if self.passes_narrow else []
        atoms = {node: self.atoms[node] for node in minimal} if certified else {}
        if self.beside is not None:
            self.holding = self.beside(list(dict.fromkeys((*repairs, safe))), atoms)


def progress_text(plan: Certificate, seconds: float, *, every: bool) -> str:
    """Return the line; ``seconds`` is the time since the run began, ``every`` says that each probe is built."""
    given = plan.given
    builds = [verdict for ask, verdict in given if ask.build or every]
    probes = sum(not ask.build for ask, _ in given)
    left = "" if plan.outcome else f", about {max(1, round(plan.outlook().expected))} left"
    planned = None if plan.wanted is None else len(plan.wanted)
    line = f"probes done {probes}{left}; builds done {len(builds)}"
    line += f" of {planned}" if planned is not None and not every else ""
    culprits = len(plan.outlook().culprits)
    line += f"; {culprits} repair{'s' if culprits != 1 else ''} found" if culprits else ""
    last = f"last {given[-1][1]}" if given else "nothing known yet"
    return f"{line}; {last}; {duration(seconds)}"


_PART = 4
"""Every fourth sample is held out."""


def parted(samples: Sequence[Sample], most: int | None) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    """Return the samples to search on, else a UsageError, and those held out: every fourth, or the ``most`` last."""
    if most is not None:
        if not 0 <= most < len(samples):
            what = f"{most} of {len(samples)} samples cannot be held out: one is left for the search at least"
            raise UsageError("--held-out", what, "Give more samples, or hold out fewer")
        return tuple(samples[: len(samples) - most]), tuple(samples[len(samples) - most :])
    held = tuple(samples[_PART - 1 :: _PART])
    return tuple(each for number, each in enumerate(samples, 1) if number % _PART), held


@dataclass(frozen=True, slots=True)
class Holding:
    """What was seen beside the search, on ``held_out`` samples and by other roundings; None where that did not run.

    Scores are of the repair in ``fixed/``; ``lost`` names tensors that it loses on held-out samples before any other.
    ``needless`` names nodes of the first repair without which the model passes by another rounding. ``expected`` has
    the least and the largest worst score of each output by all roundings, None where one is not finite.
    """

    held_out: int
    on_held_out: Judged | None
    other_roundings: Judged | None
    lost: tuple[str, ...] = ()
    needless: tuple[str, ...] = ()
    expected: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)

    @property
    def why(self) -> str:
        """Why the answer is not certified, or ""."""
        reasons = []
        if self.on_held_out is not None and not self.on_held_out.passes:
            reasons.append(f"it fails on samples that were held out ({self.on_held_out.why})")
        if self.other_roundings is not None and not self.other_roundings.passes:
            reasons.append(f"it fails by another rounding ({self.other_roundings.why})")
        if self.lost:
            reasons.append(f"fixed/ loses values inside on samples that were held out (in {', '.join(self.lost)})")
        if self.needless:
            names = ", ".join(self.needless)
            reasons.append(f"by another rounding it passes without {names} too, so that rounding decided")
        return "; ".join(reasons)


def holding_of(  # noqa: PLR0913, PLR0917 - the last two come with each answer
    oracle: Oracle,
    held: Oracle | None,
    judge: OutputJudge,
    masked: Collection[str],
    repairs: Sequence[Nodes],
    atoms: Mapping[str, Nodes],
) -> Holding:
    """Judge repairs, the minimal one of ``atoms`` first, ``fixed/`` last, on ``held`` samples and by other rounding."""

    def judged(where: Oracle, keep: Nodes, by: OutputJudge = judge) -> Judgement:
        return by.judge(where.score_mixture(where.caster.kept(keep)))

    def beside(places: Sequence[Oracle], by: OutputJudge = judge) -> tuple[Judged | None, list[Scores]]:
        scores = [where.score_mixture(where.caster.kept(nodes)) for where in places for nodes in repairs]
        judgements = [by.judge(each) for each in scores]
        why = next((each.why for each in judgements if not each.passes), "")
        fixed = scores[len(repairs) - 1 :: len(repairs)]
        worst = {name: ends and ends[1] for name, ends in _ends(fixed, by).items()}
        return Judged(not why, worst, why) if places else None, fixed

    others = oracle.in_other_roundings()
    known = [oracle.score_mixture(oracle.caster.kept(repairs[-1]))] + ([] if repairs[-1] else [oracle.floor])
    try:
        other_roundings, rounded = beside(others, _doubled(judge))
    except RunError:  # what ONNX Runtime does not run so is judged by one rounding
        others, other_roundings, rounded = (), None, []
    # a set that failed near the tolerance and passes by another rounding failed by luck
    without = {node: repairs[0] - atoms[node] for node in sorted(atoms)} if others else {}
    near = {node: keep for node, keep in without.items() if judged(oracle, keep).near}
    needless = tuple(node for node, keep in near.items() if any(judged(other, keep).passes for other in others))
    known += rounded
    if held is None:
        return Holding(0, None, other_roundings, (), needless, _ends(known, judge))
    report = losses(held, held.caster.kept(repairs[-1]), masked)
    lost = tuple(loss.tensor for loss in report.tensors if loss.tensor in report.first)
    on_held_out, there = beside([held])
    if on_held_out is not None and not on_held_out.passes:  # rounding alone may cost more there
        on_held_out, _ = beside([held], _allowing(judge, held))
    return Holding(len(held.samples), on_held_out, other_roundings, lost, needless, _ends([*known, *there], judge))


def _ends(scores: Sequence[Scores], judge: OutputJudge) -> dict[str, tuple[float, float] | None]:
    """Return the best and the worst of the worst scores of each output by its first metric; None: not finite."""
    ends: dict[str, tuple[float, float] | None] = {}
    for name, (first, *_) in judge.tolerances.items():
        metric = METRICS[first.metric]
        worst = [each.worst(name, metric) for each in scores]
        finite = sorted((each for each in worst if each is not None), reverse=metric.higher)
        ends[name] = (finite[0], finite[-1]) if finite and len(finite) == len(worst) else None
    return ends


def _doubled(judge: OutputJudge) -> OutputJudge:
    """Return a judge whose default tolerances are twice as loose, up to the cap: they are of one rounding."""

    def looser(known: Tolerance) -> Tolerance:
        metric = METRICS[known.metric]
        if known.cap is None:
            return known
        error = min(metric.error_of(known.cap), 2.0 * metric.error_of(known.tolerance))
        return replace(known, tolerance=metric.score_of(error))

    return OutputJudge({name: tuple(map(looser, known)) for name, known in judge.tolerances.items()})


def _allowing(judge: OutputJudge, held: Oracle) -> OutputJudge:
    """Return a judge whose default tolerances allow for the rounding floor of other samples, up to the same cap."""

    def looser(name: str, known: Tolerance) -> Tolerance:
        metric = METRICS[known.metric]
        allowed = tolerance_of(metric, None, held.floor.worst(name, metric), held.peaks[name], held.caster.storage)
        return allowed if known.default and metric.passes(known.tolerance, allowed.tolerance) else known

    return OutputJudge({name: tuple(looser(name, each) for each in known) for name, known in judge.tolerances.items()})
