"""The plan of a precision search: the search, the safe repair, then real builds of the probes that prove the answer.

The answer is judged where the search did not look too: on samples that were held out, and by other roundings.
What the search found on some samples by one rounding may be luck. What holds beside it is no proof, what does not is
no answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trtforensics.bisection.precision.emulation.judging import METRICS, Judged, OutputJudge, Scores, tolerance_of
from trtforensics.bisection.precision.emulation.losses import losses
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError
from trtforensics.bisection.precision.repair.smallest import REPAIRED, Nodes, RepairProbe, RepairSearch
from trtforensics.bisection.search import Ask, Outlook, Result, Status, Verdict
from trtforensics.console.counting import duration
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from trtforensics.bisection.precision.emulation.judging import Judgement, Tolerance
    from trtforensics.bisection.precision.repair.curve import RoundingCurve
    from trtforensics.bisection.precision.repair.safe import SafeRepair
    from trtforensics.onnx_models.samples import Sample

SAFE = "the safe repair"

_BUILD = 1
"""The search's own probes have build number 0."""


class Certificate:
    """The search; then the safe repair; then, with ``builds``, real builds of the probes that prove the answer.

    ``safer`` makes the safe repair of a minimal one. ``curve`` measures what rounding costs beyond a safe repair, where
    no set is searched for. ``on_building`` is called once, before the builds.
    ``beside``, which the caller may set, judges the repairs where the search did not look.
    """

    def __init__(
        self,
        search: RepairSearch,
        safer: Callable[[Nodes], SafeRepair],
        on_building: Callable[[], None],
        *,
        builds: bool,
        curve: Callable[[Nodes], RoundingCurve] | None = None,
    ) -> None:
        self.search = search
        self.safe: SafeRepair | None = None
        self.curve: RoundingCurve | None = None
        self.holding: Holding | None = None
        self._curve = curve
        self.beside: Callable[[Sequence[Nodes], Mapping[str, Nodes]], Holding] | None = None
        self.verdicts: dict[Ask, Verdict] = {}
        self.given: list[tuple[Ask, Verdict]] = []
        self._safer = safer
        self._on_building = on_building
        self._builds = builds
        self._turns = self._in_turn()
        self._later: tuple[Ask, ...] = ()
        self.wanted: tuple[Ask, ...] | None = None  # the builds of the certificate, once the search is over
        self._asked: set[Ask] = set()

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask."""
        return self.search.done and all(ask in self.verdicts for ask in self._after_the_search())

    @property
    def minimal(self) -> Nodes | None:
        """The first repair; no nodes if the model passes without, or none was found; None while there is no answer."""
        answer, repairs = self.search.answer, self.search.repairs
        if answer is None or (answer.status is Status.NOT_REPRODUCED and not self.search.passes_narrow):
            return None
        return repairs[0].nodes if repairs else frozenset()

    def asks(self, room: int = 1) -> Sequence[Ask]:
        """Return the next probes."""
        if not self.search.done:
            return self.search.asks(room)
        fresh = [ask for ask in self._after_the_search() if ask not in self._asked][:room]
        self._asked.update(fresh)
        return fresh

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        self.given.append((ask, verdict))
        if ask in self._asked:
            self.verdicts[ask] = verdict
        else:
            self.search.tell(ask, verdict)

    def stop(self) -> None:
        """Compute nothing any more."""
        self.search.stop()

    def proof(self) -> list[RepairProbe]:
        """Return the probes that prove the answer, and the safe repair."""
        safe = self.safe
        return [*self.search.proof(), *([(safe.nodes, SAFE)] if safe and safe.nodes != self.minimal else [])]

    def outlook(self) -> Outlook:
        """Return what is known; the builds left include those of the certificate."""
        outlook = self.search.outlook()
        if not self.search.done:
            return outlook
        left = sum(ask not in self.verdicts for ask in self._after_the_search())
        return replace(outlook, expected=float(left), worst=left)

    def result(self) -> Result:
        """Return the answer; it is not certified if the repaired model does not build."""
        result = self.search.result()
        evidence = (*result.evidence, *self.verdicts)
        unbuilt = any(a.purpose == REPAIRED and v is Verdict.UNRESOLVED for a, v in self.verdicts.items())
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

    def _hold(self, minimal: Nodes) -> None:
        safe = self.safe.nodes if self.safe else minimal
        certified = self.search.result().status is Status.CERTIFIED
        repairs = [repair.nodes for repair in self.search.repairs] if certified else []
        if self.search.passes_narrow:
            repairs = [minimal]
        atoms = {node: self.search.atoms[node] for node in minimal} if certified else {}
        if self.beside is not None:
            self.holding = self.beside(list(dict.fromkeys((*repairs, safe))), atoms)

    def _after_the_search(self) -> tuple[Ask, ...]:
        """Return the probe of the safe repair; once it has a verdict, also the builds."""
        while all(ask in self.verdicts for ask in self._later):
            more = next(self._turns, None)
            if more is None:
                break
            self._later += more
        return self._later

    def _in_turn(self) -> Iterator[tuple[Ask, ...]]:
        safety = self._ask_for_safety()
        yield () if safety is None else (safety,)
        self._on_building()
        proof = (*self.search.result().evidence, *self._later) if self._builds else ()
        self.wanted = tuple(Ask(ask.active, _BUILD, purpose=ask.purpose) for ask in proof)
        yield self.wanted

    def _ask_for_safety(self) -> Ask | None:
        """Make the safe repair of the answer; its probe is None if it is the minimal one or there is no answer."""
        minimal = self.minimal
        if minimal is None:
            return None
        try:
            self.safe = self._safer(minimal)
            if self._curve is not None and self.search.result().status is Status.INCONCLUSIVE:
                self.curve = self._curve(self.safe.nodes)
                safe, more = self.safe, self._safer(self.safe.nodes | self.curve.kept)
                reasons = tuple(dict.fromkeys((*safe.reasons, *more.reasons)))
                self.safe = replace(more, inside=safe.inside, reasons=reasons)
        except RunError:  # ONNX Runtime does not return every tensor of every model
            return None
        self._hold(minimal)
        return None if self.safe.nodes == minimal else Ask(self.search.active(self.safe.nodes), purpose=SAFE)


def progress_text(plan: Certificate, seconds: float, *, every: bool) -> str:
    """Return the line; ``seconds`` is the time since the run began, ``every`` says that each probe is built."""
    given = plan.given
    builds = [verdict for ask, verdict in given if ask.build or every]
    probes = sum(not ask.build for ask, _ in given)
    left = "" if plan.search.done else f", about {max(1, round(plan.outlook().expected))} left"
    planned = None if plan.wanted is None else len(plan.wanted)
    line = f"probes done {probes}{left}; builds done {len(builds)}"
    line += f" of {planned}" if planned is not None and not every else ""
    culprits = len(plan.search.outlook().culprits)
    line += f"; {culprits} repair{'s' if culprits != 1 else ''} found" if culprits else ""
    last = f"last {given[-1][1]}" if given else "nothing known yet"
    return f"{line}; {last}; {duration(seconds)}"


_PART = 4
"""Every fourth sample is held out."""


def parted(samples: Sequence[Sample], most: int | None) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    """Return the samples of the search, and those that are held out: every fourth, or the last ``most``.

    Raises:
        UsageError: no sample is left for the search.
    """
    if most is not None:
        if not 0 <= most < len(samples):
            what = f"{most} of {len(samples)} samples cannot be held out: one is left for the search at least"
            raise UsageError("--held-out", what, "Give more samples, or hold out fewer")
        return tuple(samples[: len(samples) - most]), tuple(samples[len(samples) - most :])
    held = tuple(samples[_PART - 1 :: _PART])
    return tuple(each for number, each in enumerate(samples, 1) if number % _PART), held


@dataclass(frozen=True, slots=True)
class Holding:
    """What was seen beside the search.

    ``held_out`` counts samples. ``on_held_out`` is None where there are none, ``other_roundings`` where ONNX Runtime
    does not run those; both have the scores of the last repair. ``lost`` names tensors that the repair in ``fixed/``
    loses on held-out samples before any other.
    ``needless`` names nodes of the first repair without which the model passes by another rounding. ``expected`` has
    for each output the least and the largest worst score of the repair in ``fixed/`` by all roundings, None where one
    is not finite.
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
    """Judge repairs on the held-out samples of ``held``, and on the searched ones by other roundings.

    The first repair is minimal, node by node of ``atoms``, the last is the one in ``fixed/``.
    """

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
        own = tolerance_of(metric, None, held.floor.worst(name, metric), held.peaks[name], held.caster.storage)
        return own if known.default and metric.passes(known.tolerance, own.tolerance) else known

    return OutputJudge({name: tuple(looser(name, each) for each in known) for name, known in judge.tolerances.items()})
