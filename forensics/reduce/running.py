"""A reduction from its directory to its answer, as a session of ``bisect``."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from trtforensics.bisection.session.answer import first_lines, write_result
from trtforensics.bisection.session.bisection import bisect
from trtforensics.console.counting import counted
from trtforensics.console.terminal import visible
from trtforensics.reduce.answer import write_answer
from trtforensics.reduce.graph_lever import OTHERWISE
from trtforensics.reduce.reproduction import any_one
from trtforensics.reduce.shrinking import ReductionSearch, Terrain
from trtforensics.reduce.simplifying import kept_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from trtforensics.bisection.runner.options import RunOptions
    from trtforensics.bisection.session.answer import SearchAnswer
    from trtforensics.bisection.session.lever import Described
    from trtforensics.reduce.failure import Failure
    from trtforensics.reduce.graph_lever import ReductionLever


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
    left: tuple[Described, ...]
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
        return {**self.search.document(), "reduction": asdict(self.reduction)}

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
        lines += [*search.not_judged(besides=OTHERWISE), *search.verdicts.lines]
        lines += [f"{directory}/fixed/{line}" for line in fixed]
        return "".join(f"{visible(line)}\n" for line in lines)


def reduce_model(
    directory: Path, lever: ReductionLever, options: RunOptions, show: Callable[[str], None]
) -> tuple[ReductionAnswer, Sequence[str]]:
    """Reduce a model; return the answer and a line about each file in ``fixed/``.

    Raises:
        KeyboardInterrupt: the user stopped it; the directory holds everything up to now.
        ForensicsError: see :func:`trtforensics.bisection.session.bisection.bisect`.
    """
    deriver = lever.deriver
    reads, file = lever.original.reads(), deriver.file
    rewritings, rewriting = (0, "") if file is None else (len(file.simplifications), file.changes)
    terrain = Terrain(reads, len(deriver.simplifications), deriver.relevant, lever.hints, rewritings, rewriting)
    search = ReductionSearch(terrain, limit=options.max_builds)
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
    fixed = write_answer(lever, smallest, search_answer, directory) if nodes else ()
    write_result(directory, answer.document())
    return answer, fixed


def _other_failures(answer: SearchAnswer) -> tuple[OtherFailure, ...]:
    reasons = (probe.reason for probe in answer.probes if probe.reason.startswith(OTHERWISE))
    counts = Counter(reason.removeprefix(f"{OTHERWISE}: ") for reason in reasons)
    return tuple(OtherFailure(reason, count) for reason, count in counts.most_common())


_SHOWN = 20
_SENTENCES = {
    "named": "Reduced, not certified",
    "inconclusive": "Inconclusive",
    "not-reproduced": "Not reproduced",
}


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
    lines += first_lines([f"{node['item']} [{node['op']}]" for node in reduction.left])
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
