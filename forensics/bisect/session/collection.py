"""``collect``: the same build again and again, each sorted by its verdict into good, bad or unresolved."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trtforensics.bisect.runner.placeholders import INPUTS
from trtforensics.bisect.runner.scripts import surroundings_of
from trtforensics.bisect.runner.stopping import stoppable
from trtforensics.bisect.search import Ask, Verdict
from trtforensics.bisect.session.job import Job, tool_versions
from trtforensics.bisect.session.report import duration
from trtforensics.bisect.session.result import collection_result, write_result
from trtforensics.bisect.session.session import open_session
from trtforensics.console.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from trtforensics.bisect.runner.executors import ProbeExecutor
    from trtforensics.bisect.runner.options import RunOptions

MODE = "collect"
_FILES = {name: f"{name}.json" if name == "replay" else name for name in INPUTS}


@dataclass(slots=True)
class RepeatedBuilds:
    """A plan of equal builds: ``count`` of them, or as many as it takes to get the verdict ``wanted``."""

    count: int | None
    wanted: Verdict | None = None
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    _asked: int = 0

    @property
    def done(self) -> bool:
        """Whether no build is left to ask or to wait for."""
        return self._enough and len(self.verdicts) == self._asked

    @property
    def _enough(self) -> bool:
        has_wanted = self.wanted is not None and self.wanted in self.verdicts.values()
        return has_wanted or (self.count is not None and self._asked >= self.count)

    def suspects(self) -> tuple[int, ...]:
        """Return nothing: a collection has no items."""
        return ()

    def asks(self, room: int = 1) -> Sequence[Ask]:
        """Return the next builds."""
        asks: list[Ask] = []
        while len(asks) < room and not self._enough:
            asks.append(Ask(frozenset(), self._asked, 0, f"build {self._asked + 1}"))
            self._asked += 1
        return asks

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a build."""
        self.verdicts[ask.build] = verdict


class CollectionLever:
    """The lever of a collection: its build writes the file that a bisection's build would read."""

    settings = ""

    def __init__(self, placeholder: str) -> None:
        self.placeholder = placeholder
        self.file = _FILES.get(placeholder, placeholder)

    def prepare(self, active: frozenset[int], folder: Path) -> Mapping[str, Path]:  # noqa: ARG002 - nothing varies
        """Return the paths that the build may write to."""
        return {name: folder / file for name, file in _FILES.items()}

    def verify(self, active: frozenset[int], folder: Path) -> str:  # noqa: ARG002, D102 - any build will do
        return ""

    def rejudge(self, folder: Path) -> tuple[Verdict, str] | None:  # noqa: ARG002, D102 - only the check can
        return None

    def executor(self, commands: ProbeExecutor) -> ProbeExecutor:  # noqa: D102 - all it runs are commands
        return commands


def collect(
    directory: Path, plan: RepeatedBuilds, lever: CollectionLever, options: RunOptions, show: Callable[[str], None]
) -> dict[str, object]:
    """Run a collection to its end, and return ``result.json``.

    Raises:
        KeyboardInterrupt: the user stopped it; the directory holds everything up to now.
        ForensicsError: see :func:`trtforensics.bisect.session.session.open_session` and ``Session.run``.
    """
    job = Job(MODE, [], lever.file, options.build, tool_versions(), surroundings_of(options.build or ""))
    with open_session(directory, job, plan, lever, options) as session:

        def turn() -> str:
            standing = f"{_counts(plan.verdicts.values())}; {session.running} running; {duration(session.seconds)}"
            show(standing)
            return standing

        with stoppable(session) as stopper:
            try:
                session.run(stopper, turn)
            finally:
                document = collection_result(session.answers, complete=plan.done)
                write_result(directory, document)
    return document


def collection_text(document: Mapping[str, object], directory: Path) -> str:
    """Return the answer of a collection as text."""
    lines = []
    for verdict in Verdict:
        folders = document[verdict.value]
        if isinstance(folders, list) and folders:
            lines.append(f"{len(folders)} {verdict}: {' '.join(folders)}")
    lines.append(f"{document['builds']} builds, {document['reused']} of them by an earlier run; sorted in {directory}")
    return "".join(f"{visible(line)}\n" for line in lines)


def _counts(verdicts: Iterable[Verdict]) -> str:
    counts = Counter(verdicts)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict)
