"""The answer of a bisection, or as much of it as there is: ``result.json``, and its text."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from trtforensics.bisection.search import ProbeSearch, Verdict
from trtforensics.bisection.session.artifacts import FIXED, PROBES, RESULT
from trtforensics.bisection.session.history import indexes_text
from trtforensics.bisection.session.job import Document, json_bytes
from trtforensics.bisection.session.lever import SIDES, DescribedItem, Lever, side_text
from trtforensics.bisection.session.session import Answer
from trtforensics.console.counting import counted
from trtforensics.console.output import write_bytes
from trtforensics.console.terminal import visible

_SHOWN = 20
_REASONS = 3
_REMEDY = "Certified: with these from good the build is good, and without any one of them it is bad."
_SINGLE_REMEDY = "Certified: with this one from good the build is good, and without it the build is bad."
_SENTENCES = {"named": "Named, not certified", "inconclusive": "Inconclusive", "not-reproduced": "Not reproduced"}


@dataclass(frozen=True, slots=True)
class JudgedProbe:
    """A verdict that the search took; ``active`` are the items from bad. ``evidence``: it proves the answer."""

    probe: int
    folder: str
    active: str
    build: int
    check: int
    purpose: str
    verdict: str
    reason: str
    seconds: float
    evidence: bool


@dataclass(frozen=True, slots=True)
class JudgedAgain:
    """How many verdicts of earlier runs do not stand, and why."""

    why: str
    verdicts: int


@dataclass(frozen=True, slots=True)
class Reuse:
    """What became of the verdicts of earlier runs: how many stand, and which were judged again."""

    reused: int = 0
    again: tuple[JudgedAgain, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The reuse in one sentence; none where nothing is of an earlier run."""
        if not self.again:
            return [f"{counted(self.reused, 'verdict')} of earlier runs reused."] if self.reused else []
        count = sum(each.verdicts for each in self.again)
        several = len(self.again) > 1
        why = "; ".join(f"{each.why} ({each.verdicts})" if several else each.why for each in self.again)
        return [f"{counted(self.reused, 'verdict')} of earlier runs reused, {count} judged again: {why}."]


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answer of a search for sets of items; its fields are those of ``result.json``.

    ``remedy``: the sets are the fewest items to take from good. ``minimal``: of each set, none can be left out.
    ``builds_left``, ``expected`` and at ``worst``, is None after the end; ``reused`` are builds of earlier runs.
    """

    schema: int = field(default=1, init=False)
    mode: str
    remedy: bool
    status: str
    why: str
    culprits: tuple[tuple[DescribedItem, ...], ...]
    items: int
    atoms: int
    builds: int
    reused: int
    verdicts: Reuse
    builds_left: Mapping[str, float] | None
    unresolved: tuple[str, ...]
    minimal: tuple[bool, ...]
    suspects: tuple[str, ...]
    unsearched: tuple[str, ...]
    confidence: float
    lower_bound: int
    probes: tuple[JudgedProbe, ...]

    @property
    def certified(self) -> bool:
        """Whether the sets were seen to fail alone, and everything else to pass."""
        return self.status == "certified"

    def not_judged(self, besides: str = "\n") -> list[str]:
        """Say why probes could not be judged, the most frequent reasons first, but for those that begin so."""
        reasons = (probe.reason for probe in self.probes if probe.verdict == Verdict.UNRESOLVED)
        counts = Counter(reason for reason in reasons if not reason.startswith(besides)).most_common(_REASONS)
        return [f"{counted(count, 'probe')} could not be judged: {reason}." for reason, count in counts]

    def document(self) -> Document:
        """Return ``result.json``."""
        document: Document = asdict(self)
        document["culprits"] = [[member.document() for member in members] for members in self.culprits]
        if not self.remedy:
            del document["remedy"]
        return document

    def text(self, directory: Path, fixed: Sequence[str]) -> str:
        """Return the answer as text: the culprits, the evidence, the files of the repair."""
        lines = [self._certificate() if self.certified else f"{_SENTENCES[self.status]}: {self.why}."]
        lines += self._sets()
        lines += self._suspects()
        lines += self._evidence()
        reused = f", {self.reused} of them by an earlier run" if self.reused else ""
        bound = f"information theory asks for {self.lower_bound} plus endpoints and certificate"
        lines.append(f"{counted(self.builds, 'build')}{reused}, over {counted(self.items, 'item')}; {bound}.")
        return answer_text([*lines, *self.not_judged(), *self.verdicts.lines], directory, fixed)

    def _certificate(self) -> str:
        if self.remedy:
            return _SINGLE_REMEDY if [len(members) for members in self.culprits] == [1] else _REMEDY
        each = "each set below" if len(self.culprits) > 1 else "the set below"
        return f"Certified: {each} is bad alone, and everything else together is good."

    def _sets(self) -> list[str]:
        lines = []
        for number, members in enumerate(self.culprits):
            together = ""
            if len(members) > 1 and not self.remedy:
                minimal = self.minimal[number : number + 1] == (True,)
                together = ", bad only together: good without any one" if minimal else ", perhaps more than are needed"
            title = "Remedy" if self.remedy else f"Culprit set {number + 1}"
            lines.append(f"{title} ({len(members)} of {counted(self.items, 'item')}{together}):")
            for member in members:
                lines.append(f"  {member.item}")
                lines += [
                    f"    {name}: {side_text(side)}" for name in SIDES if (side := member.sides.get(name)) is not None
                ]
            costs = [member.cost_ms for member in members if member.cost_ms is not None]
            if len(costs) == len(members):
                lines.append(f"  taking them from good costs {sum(costs):+.4g} ms, by the logs' times")
        return lines

    def _suspects(self) -> list[str]:
        lines = []
        if self.suspects:
            lines = [f"Suspects left: {len(self.suspects):,}", *first_lines(self.suspects)]
        if self.unsearched:
            lines.append(f"Not seen to be good together: {len(self.unsearched):,} other items, listed in result.json")
        return lines

    def _evidence(self) -> list[str]:
        """Return a line for each build that proves the answer, with all its verdicts."""
        folders: dict[str, list[JudgedProbe]] = {}
        for probe in self.probes:
            if probe.evidence:
                folders.setdefault(probe.folder, []).append(probe)
        lines = [
            f"  {folder}: {_verdicts(probes)} ({probes[-1].reason}), {probes[-1].purpose}"
            for folder, probes in folders.items()
        ]
        return ["Evidence:", *lines] if lines else []


def answer_text(lines: Sequence[str], directory: Path, fixed: Sequence[str]) -> str:
    """Return the lines of an answer as text; ``fixed`` has a line about each file of ``fixed/`` in the directory."""
    return "".join(f"{visible(line)}\n" for line in (*lines, *(f"{directory}/{FIXED}/{line}" for line in fixed)))


def _verdicts(probes: Sequence[JudgedProbe]) -> str:
    counts = Counter(probe.verdict for probe in probes)
    times = {1: "", 2: " twice"} if len(counts) == 1 else {1: " once", 2: " twice"}
    return ", ".join(f"{verdict}{times.get(count, f' {count} times')}" for verdict, count in counts.items())


def answer_of(lever: Lever, search: ProbeSearch, answers: Sequence[Answer]) -> SearchAnswer:
    """Return what a search knows after the verdicts of ``answers``."""
    result, outlook = search.result(), search.outlook()
    evidence = {ask: ask.purpose for ask in result.evidence}
    suspects = result.suspects if search.done else result.suspects | outlook.suspects
    builds, reused = counts_of(answers)
    return SearchAnswer(
        mode=lever.mode,
        remedy=lever.wants_fewest,
        status=result.status.value,
        why=result.why,
        culprits=tuple(tuple(lever.describe(index) for index in sorted(members)) for members in result.culprits),
        items=len(lever.items),
        atoms=len(outlook.atoms),
        builds=builds,
        reused=reused,
        verdicts=reuse_of(answers),
        builds_left=None if search.done else {"expected": outlook.expected, "worst": outlook.worst},
        unresolved=tuple(each.probe.folder for each in answers if each.finished.verdict is Verdict.UNRESOLVED),
        minimal=tuple(result.minimal),
        suspects=tuple(lever.items[index].name for index in sorted(suspects)),
        unsearched=tuple(lever.items[index].name for index in sorted(result.unsearched - suspects)),
        confidence=result.confidence,
        lower_bound=result.lower_bound,
        probes=tuple(judged_probe(answer, evidence.get(answer.ask)) for answer in answers),
    )


def counts_of(answers: Iterable[Answer]) -> tuple[int, int]:
    """Count builds, those for further checks too, and how many of them are of earlier runs on the directory."""
    reused = {}
    for answer in answers:
        again = answer.ask.check if answer.finished.built else 0
        reused[answer.probe.number, again] = answer.reused
    return len(reused), sum(reused.values())


def first_lines(texts: Sequence[str]) -> list[str]:
    """Return the first of some texts as lines, and one that says how many more there are."""
    more = [f"  … {len(texts) - _SHOWN:,} more in result.json"] if len(texts) > _SHOWN else []
    return [*(f"  {text}" for text in texts[:_SHOWN]), *more]


def reuse_of(answers: Iterable[Answer]) -> Reuse:
    """Count the verdicts of earlier runs that stand, and those that were judged again, by their reason."""
    answers = tuple(answers)
    why = Counter(answer.again for answer in answers if answer.again)
    return Reuse(sum(answer.is_old for answer in answers), tuple(JudgedAgain(*each) for each in why.most_common()))


def judged_probe(answer: Answer, shows: str | None) -> JudgedProbe:
    """Return a probe; ``shows`` is what it shows as evidence, None: it is none."""
    return JudgedProbe(
        probe=answer.probe.number,
        folder=f"{PROBES}/{answer.probe.folder}",
        active=indexes_text(answer.ask.active),
        build=answer.ask.build,
        check=answer.ask.check,
        purpose=shows or answer.ask.purpose,
        verdict=answer.finished.verdict.value,
        reason=answer.finished.reason,
        seconds=answer.finished.seconds,
        evidence=shows is not None,
    )


def write_result(directory: Path, document: Document) -> None:
    """Replace ``result.json``."""
    write_bytes(directory / RESULT, json_bytes(document))
