"""``collect``: the same build again and again, each sorted by its verdict into good, bad or unresolved."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from trtforensics.bisection.runner.placeholders import INPUTS
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.runner.surroundings import surroundings_of
from trtforensics.bisection.search import Result, Status, SubsetSearch, Verdict
from trtforensics.bisection.search.ledger import Steps, Wish
from trtforensics.bisection.session.answer import JudgedProbe, Reuse, counts_of, judged_probe, reuse_of, write_result
from trtforensics.bisection.session.job import Job, tool_versions
from trtforensics.bisection.session.lever import ProbeLever
from trtforensics.bisection.session.session import open_session
from trtforensics.console.counting import duration
from trtforensics.console.terminal import visible

MODE = "collect"
_FILES = {name: f"{name}.json" if name == "replay" else name for name in INPUTS}


class RepeatedBuilds(SubsetSearch):
    """A plan of equal builds: ``count`` of them, or as many as it takes to get the verdict ``wanted``."""

    def __init__(self, count: int | None, wanted: Verdict | None = None) -> None:
        super().__init__(0, None)
        self._count = count
        self._wanted = wanted

    def _suspected(self) -> int:
        return 0

    def _ended(self, status: Status, why: str) -> Result:
        return Result(status, why, (), frozenset(), 1.0, 0, ())

    def _run(self) -> Steps[Result]:
        ledger, numbers = self._ledger, range(self._count or sys.maxsize)
        while True:
            verdicts = [ledger.told(wish) for wish in ledger.asked.values()]
            fresh = numbers[len(verdicts) :][: ledger.room]
            if not fresh or (self._wanted is not None and self._wanted in verdicts):
                break
            yield tuple(Wish(0, f"build {number + 1}", number) for number in fresh)
        while ledger.pending:
            yield ()
        return self._ended(Status.CERTIFIED, "")


class CollectionLever(ProbeLever):
    """The lever of a collection: its build writes the file that a bisection's build would read."""

    def __init__(self, placeholder: str) -> None:
        self.placeholder = placeholder
        self.file = _FILES.get(placeholder, placeholder)

    def prepare(self, active: frozenset[int], folder: Path) -> Mapping[str, Path]:  # noqa: ARG002 - nothing varies
        """Return the paths that the build may write to."""
        return {name: folder / file for name, file in _FILES.items()}


def collect(
    directory: Path, plan: RepeatedBuilds, lever: CollectionLever, options: RunOptions, show: Callable[[str], None]
) -> CollectionAnswer:
    """Run a collection to its end, and return its answer."""
    job = Job(MODE, [], lever.file, options.build, tool_versions(), surroundings_of(options.build or "", directory))
    with open_session(directory, job, plan, lever, options) as session:

        def turn() -> str:
            verdicts = Counter(answer.finished.verdict for answer in session.answers)
            counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in Verdict)
            return f"{counts}; {session.running} running; {duration(session.seconds)}"

        def write() -> CollectionAnswer:
            answers = session.answers
            good, bad, unresolved = (
                tuple(each.probe.folder for each in answers if each.finished.verdict is verdict) for verdict in Verdict
            )
            builds, reused = counts_of(answers)
            answer = CollectionAnswer(
                status="collected" if plan.done else "inconclusive",
                good=good,
                bad=bad,
                unresolved=unresolved,
                builds=builds,
                reused=reused,
                verdicts=reuse_of(answers),
                probes=tuple(judged_probe(answer, None) for answer in answers),
            )
            write_result(directory, answer.document())
            return answer

        session.run(turn, write, show)
        return write()


@dataclass(frozen=True, slots=True)
class CollectionAnswer:
    """The answer of a collection: folders of probes by verdict; its fields are those of ``result.json``."""

    schema: int = field(default=1, init=False)
    mode: str = field(default=MODE, init=False)
    status: str
    good: tuple[str, ...]
    bad: tuple[str, ...]
    unresolved: tuple[str, ...]
    builds: int
    reused: int
    verdicts: Reuse
    probes: tuple[JudgedProbe, ...]

    def document(self) -> dict[str, object]:
        """Return ``result.json``."""
        return asdict(self)

    def text(self, directory: Path) -> str:
        """Return the answer as text."""
        sides = (("good", self.good), ("bad", self.bad), ("unresolved", self.unresolved))
        lines = [f"{len(folders)} {verdict}: {' '.join(folders)}" for verdict, folders in sides if folders]
        lines.append(f"{self.builds} builds, {self.reused} of them by an earlier run; sorted in {directory}")
        lines += self.verdicts.lines
        return "".join(f"{visible(line)}\n" for line in lines)
