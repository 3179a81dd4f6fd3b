"""A bisection from its directory to its answer, and the forecast of ``--dry-run``: its cost before any probe runs."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean

from trtforensics.bisection.runner.command import free_bytes
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.runner.surroundings import surroundings_of
from trtforensics.bisection.search import Outlook, ProbeSearch, Status
from trtforensics.bisection.session.answer import SearchAnswer, answer_of, write_result
from trtforensics.bisection.session.artifacts import FIXED, PROBES
from trtforensics.bisection.session.job import Job, check_directory, tool_versions
from trtforensics.bisection.session.journal import read_journal
from trtforensics.bisection.session.lever import Lever
from trtforensics.bisection.session.session import Answer, open_session
from trtforensics.console.counting import duration, listed
from trtforensics.console.output import explained
from trtforensics.console.own_files import size_of
from trtforensics.console.terminal import visible

_SHOWN = 20

_REST_S = 1.0
"""The least time between two writes of ``result.json``: quick probes would otherwise take less time than the writes."""


def bisect(  # noqa: PLR0913 - a job, how it runs, and what is said of it
    directory: Path,
    lever: Lever,
    search: ProbeSearch,
    options: RunOptions,
    show: Callable[[str], None],
    *,
    standing: Callable[[], str] | None = None,
) -> tuple[SearchAnswer, Sequence[str]]:
    """Run a bisection to its end; return its answer and a line about each file of ``fixed/``.

    ``show`` gets a line of progress after each turn: what ``standing`` says, else :func:`progress_text`.
    """
    with open_session(directory, job_of(lever, options, directory), search, lever, options) as session:
        due, known = 0.0, -1

        def write() -> SearchAnswer:
            answer = answer_of(lever, search, session.answers)
            if answer.certified and (edited := session.edited()):
                why = f"{listed(edited)} changed, or could not be read, while probes ran; run it again"
                answer = replace(answer, status=Status.NAMED.value, why=why)
            write_result(directory, answer.document())
            return answer

        def turn() -> str:
            nonlocal due, known
            now, answers = time.monotonic(), session.answers
            if len(answers) != known and now >= due:
                known = len(answers)
                write()
                due = time.monotonic() + _REST_S
            if standing is not None:
                return standing()
            outlook = session.computed(search.outlook)
            return progress_text(outlook, answers, session.running, session.seconds)

        session.run(turn, write, show)
        return write(), _fix(directory, lever, search)


def job_of(lever: Lever, options: RunOptions, directory: Path) -> Job:
    """Return the job that a directory must belong to."""
    items = [lever.describe(index) for index in range(len(lever.items))]
    ours = options.build is None or options.build == lever.build
    where = None if ours else surroundings_of(options.build or "", directory)
    return Job(lever.mode, items, lever.content(), options.build, tool_versions(), where)


def _fix(directory: Path, lever: Lever, search: ProbeSearch) -> Sequence[str]:
    culprits = search.result().culprits
    if not culprits:
        return ()
    with explained(str(directory)):
        (directory / FIXED).mkdir(exist_ok=True)
        return lever.fix(culprits, directory / FIXED)


def progress_text(outlook: Outlook, answers: Sequence[Answer], running: int, seconds: float) -> str:
    """Return the line of progress; ``seconds`` is the time since the run began."""
    builds = len({answer.probe.number for answer in answers})
    last = f"last {answers[-1].finished.verdict}" if answers else "nothing known yet"
    known = f", {len(outlook.culprits)} found" if outlook.culprits else ""
    suspects = f"suspects {len(outlook.suspects):,}{known}"
    return f"builds done {builds}, running {running}, {_left(outlook)}; {suspects}; {last}; {duration(seconds)}"


def _left(outlook: Outlook) -> str:
    if not outlook.worst:
        return "none left"
    about = round(outlook.expected)
    return f"{about} to {outlook.worst} left" if about < outlook.worst else f"{outlook.worst} left"


@dataclass(frozen=True, slots=True)
class Forecast:
    """The items to search, and the cost of the search.

    ``expected_builds`` and ``worst_builds`` are those left until one culprit is certified, where probes run one at a
    time; ``second_checks`` of them build again what decides. ``done`` probes are there already. Times are in seconds,
    sizes in bytes; those of a probe are means, None until one has run (``measured``), ``worst_seconds`` without
    ``--timeout``.
    """

    schema: int = field(default=1, init=False)
    kind: str = field(default="forecast", init=False)
    mode: str
    items: tuple[str, ...]
    atoms: int
    edges: int
    expected_builds: float
    worst_builds: int
    second_checks: int
    done: int
    measured: bool
    probe_seconds: float | None
    expected_seconds: float | None
    worst_seconds: float | None
    probe_bytes: int
    expected_bytes: int
    free_bytes: int

    def text(self) -> str:
        """Return the forecast as text."""
        more = [f"  … {len(self.items) - _SHOWN:,} more"] if len(self.items) > _SHOWN else []
        done = f"; {self.done} done in this directory" if self.done else ""
        builds = f"about {self.expected_builds:.0f}, at most {self.worst_builds}"
        second = f", {self.second_checks} of them to see the same twice" if self.second_checks else ""
        disk = f"about {self.expected_bytes:,} bytes ({self.probe_bytes:,} a probe), {self.free_bytes:,} free"
        lines = [
            f"items: {len(self.items):,}, in atoms: {self.atoms:,}, edges: {self.edges:,}",
            *(f"  {name}" for name in self.items[:_SHOWN]),
            *more,
            f"builds: {builds}{second}, if one item is the culprit and probes run one at a time{done}",
            f"time: {self._time()}",
            f"disk: {disk}{'' if self.measured else '; engines and logs not counted'}",
        ]
        return "".join(f"{visible(line)}\n" for line in lines)

    def _time(self) -> str:
        bound = "without --timeout there is no bound"
        if self.worst_seconds is not None:
            bound = f"at most {duration(self.worst_seconds)} by --timeout"
        if self.expected_seconds is None:
            return f"not known before a probe has run; {bound}"
        return f"about {duration(self.expected_seconds)} ({self.probe_seconds:.1f} s a probe so far); {bound}"


def forecast(lever: Lever, outlook: Outlook, options: RunOptions, directory: Path) -> Forecast:
    """Work out what a bisection would cost; the directory stays as it is."""
    job = job_of(lever, options, directory)
    history = read_journal(directory, job.key(check_directory(directory, job)))
    probes = [probe for probe in history.probes.values() if probe.finished]
    seconds = mean(finished.seconds for probe in probes for finished in probe.finished) if probes else None
    sizes = [size_of(directory / PROBES / probe.folder) or 0 for probe in probes]
    existing = next(path for path in (directory.absolute(), *directory.absolute().parents) if path.exists())
    size = round(mean(sizes)) if sizes else _inputs_size(lever)
    commands = (options.build is not None) + (options.check is not None) * options.repeat
    return Forecast(
        mode=lever.mode,
        items=tuple(item.name for item in lever.items),
        atoms=len(outlook.atoms),
        edges=len(lever.edges),
        expected_builds=outlook.expected,
        worst_builds=outlook.worst,
        second_checks=outlook.second,
        done=len(probes),
        measured=bool(probes),
        probe_seconds=seconds,
        expected_seconds=None if seconds is None else seconds * outlook.expected / options.probes_at_once,
        worst_seconds=None if options.timeout is None else outlook.worst * commands * options.timeout,
        probe_bytes=size,
        expected_bytes=round(size * outlook.expected),
        free_bytes=free_bytes(existing),
    )


def _inputs_size(lever: Lever) -> int:
    """Return the size of the input files of a probe with every item from bad, written to a temporary folder."""
    with tempfile.TemporaryDirectory() as scratch, explained(scratch):
        lever.prepare(frozenset(range(len(lever.items))), Path(scratch))
        return size_of(Path(scratch)) or 0
