"""The loop of a session: it answers the probes that a plan asks for, from the journal or by running them."""

from __future__ import annotations

import os
import time
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trtforensics.bisect.runner.command import Urgency
from trtforensics.bisect.runner.executors import make_executor
from trtforensics.bisect.runner.placeholders import mentions
from trtforensics.bisect.runner.probe import ENGINE, ProbeOutcome, ProbeSpec
from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session import index_sets
from trtforensics.bisect.session.artifacts import Artifacts, folder_name
from trtforensics.bisect.session.job import check_directory, write_job
from trtforensics.bisect.session.journal import Journal
from trtforensics.bisect.session.lock import locked
from trtforensics.console.output import explained
from trtforensics.errors import ForensicsError, OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from trtforensics.bisect.runner.executors import ProbeExecutor
    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.bisect.search import Ask
    from trtforensics.bisect.session.history import Finished, Probe
    from trtforensics.bisect.session.job import Job
    from trtforensics.bisect.session.lever import ProbeLever
    from trtforensics.bisect.session.plan import Plan
    from trtforensics.bisect.session.stopping import Stopper

_TURN_S = 1.0
_FULL = 1 << 20
"""A disk with fewer free bytes counts as full: a build that fails on it says nothing about its items."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict given to the plan; ``reused`` if it is from an earlier run."""

    ask: Ask
    probe: Probe
    finished: Finished
    reused: bool


@dataclass(frozen=True, slots=True)
class _RunningProbe:
    ask: Ask
    probe: Probe
    gpu: str | None


@dataclass(frozen=True, slots=True)
class Workspace:
    """The directory, journal and executor of a session."""

    artifacts: Artifacts
    journal: Journal
    executor: ProbeExecutor


class Session:
    """A run on a directory whose lock is held. ``answers`` holds the verdicts given to the plan, in order."""

    def __init__(self, plan: Plan, lever: ProbeLever, options: RunOptions, workspace: Workspace) -> None:
        self._plan = plan
        self._artifacts = workspace.artifacts
        self._journal = workspace.journal
        self._executor = workspace.executor
        self._lever = lever
        self._options = options
        self._judge = judge_of(lever, options)
        self._gpus = list(options.gpus)
        self._running: dict[Future[ProbeOutcome], _RunningProbe] = {}
        self._held: list[Ask] = []
        self._fresh: set[int] = set()
        self._begun = time.monotonic()
        self.answers: list[Answer] = []

    def run(self, stopper: Stopper, on_turn: Callable[[], None]) -> None:
        """Answer the plan until it is done.

        Raises:
            KeyboardInterrupt: the user stopped it; every probe's end is in the journal.
            OutputError: the directory cannot be written to, or its disk is full.
            UsageError: the first probe's command cannot be run.
        """
        try:
            while not self._plan.done and not stopper.urgency:
                self._answer()
                on_turn()
                self._collect()
        finally:
            self._wind_up(stopper.urgency)
        if stopper.urgency:
            raise KeyboardInterrupt
        for answer in self.answers:
            self._drop_engine(answer.probe)

    @property
    def seconds(self) -> float:
        """How long the run has lasted, in seconds."""
        return time.monotonic() - self._begun

    @property
    def room(self) -> int:
        """How many more probes may run."""
        return self._executor.room - len(self._running) - len(self._held)

    def halt(self, urgency: Urgency) -> None:
        """Tell the running probes to end."""
        self._executor.halt(urgency)

    @property
    def running(self) -> int:
        """How many probes run."""
        return len(self._running)

    def _answer(self) -> None:
        """Answer the asks of the plan or start their probes, until the plan waits or there is no room."""
        held, self._held = self._held, []
        for ask in held:
            self._consider(ask)
        while self.room > 0 and (asks := self._plan.asks(self.room)):
            for ask in asks:
                self._consider(ask)
        if not self._running and not self._plan.done:
            raise AssertionError("the plan waits for nothing")

    def _consider(self, ask: Ask) -> None:
        """Answer an ask from the journal, start its probe, or hold it while another check of its build runs."""
        history = self._journal.history
        probe = history.of(ask)
        if probe is not None and probe.running:
            self._held.append(ask)
            return
        if history.retried(ask, self._options):
            self._start(ask, anew=True)
            return
        known = history.verdict(ask, self._judge, self._options) or self._rejudged(ask, probe)
        if known is not None and probe is not None:
            self._tell(ask, probe, known)
        else:
            self._start(ask)

    def _tell(self, ask: Ask, probe: Probe, finished: Finished) -> None:
        self.answers.append(Answer(ask, probe, finished, reused=probe.number not in self._fresh))
        self._plan.tell(ask, finished.verdict)

    def _rejudged(self, ask: Ask, probe: Probe | None) -> Finished | None:
        """Judge a probe of an earlier run by the present settings, if its folder holds enough for that."""
        if probe is None or not probe.finished:
            return None
        judged = self._lever.rejudge(self._artifacts.folder(probe.folder))
        if judged is None:
            return None
        self._begin(ask)
        return self._end(ask, probe, ProbeOutcome(*judged))

    def _start(self, ask: Ask, *, anew: bool = False) -> None:
        probe = self._begin(ask)
        build = None if self._can_check(probe) and not anew else self._options.build
        if build is not None or not probe.finished:
            self._fresh.add(probe.number)
        with explained(str(self._artifacts.directory)):
            folder = self._artifacts.make_folder(probe, anew=build is not None or not probe.finished)
            values = self._lever.prepare(ask.active, folder)
        gpu = self._gpus.pop(0) if self._gpus else None
        spec = self._spec(probe, folder, values, build, gpu)
        self._running[self._executor.submit(spec)] = _RunningProbe(ask, probe, gpu)

    def _begin(self, ask: Ask) -> Probe:
        """Journal a probe's start."""
        history = self._journal.history
        probe = history.of(ask)
        number = probe.number if probe else history.next_number
        self._journal.write(
            "start",
            probe=number,
            folder=probe.folder if probe else folder_name(number, ask),
            active=index_sets.to_text(ask.active),
            build=ask.build,
            check=ask.check,
            purpose=ask.purpose,
            suspects=index_sets.to_text(self._plan.suspects()),
        )
        return history.probes[number]

    def _can_check(self, probe: Probe) -> bool:
        """Whether another check can use a probe's build as it is.

        A check that reads the engine needs the engine to exist; any other check must read the probe's folder.
        """
        check = self._options.check
        if not probe.built or check is None:
            return False
        if mentions(check, ENGINE):
            return self._artifacts.engine(probe).exists()
        return mentions(check, "dir")

    def _spec(
        self, probe: Probe, folder: Path, values: Mapping[str, Path], build: str | None, gpu: str | None
    ) -> ProbeSpec:
        own = {ENGINE: folder / ENGINE, "log": folder / "build.log", "dir": folder, "probe": probe.folder}
        options = self._options
        return ProbeSpec(
            folder=str(folder),
            cwd=os.getcwd(),  # noqa: PTH109 - as the shell sees it
            build=build,
            check=options.check,
            values={name: str(value) for name, value in {**values, **own}.items()},
            environment={} if gpu is None else {"CUDA_VISIBLE_DEVICES": gpu},
            timeout=options.timeout,
            checks=options.repeat if options.check else 1,
            first_check=probe.log_checks,
            build_failure_is_bad=options.build_failure_is_bad,
        )

    def _collect(self) -> None:
        """Wait a turn for running probes, and handle those that ended."""
        if self._running:
            ended, _ = wait(self._running, timeout=_TURN_S, return_when=FIRST_COMPLETED)
            for future in ended:
                self._take(future)

    def _take(self, future: Future[ProbeOutcome]) -> None:
        """Handle a probe that ended."""
        running = self._running.pop(future)
        if running.gpu is not None:
            self._gpus.append(running.gpu)
        ask, probe = running.ask, running.probe
        try:
            with explained(str(self._artifacts.folder(probe.folder))):
                outcome = future.result()
            self._refuse(probe, outcome)
        except ForensicsError:
            self._journal.write("stopped", probe=probe.number)
            raise
        if outcome.verdict is None:
            self._journal.write("stopped", probe=probe.number)
            return
        self._tell(ask, probe, self._end(ask, probe, self._verified(ask, probe, outcome)))

    def _refuse(self, probe: Probe, outcome: ProbeOutcome) -> None:
        """Stop the run if an outcome is about this machine and not about the items."""
        if outcome.not_run and not any(probe.finished for probe in self._journal.history.probes.values()):
            command = "--check" if outcome.checks else "--build"
            where = f"`{command}`, in {self._artifacts.folder(probe.folder)}"
            raise UsageError(where, f"ended with {outcome.reason.partition(': ')[2]}", "Correct it and run this again")
        if outcome.verdict is Verdict.UNRESOLVED and self._artifacts.free_bytes() < _FULL:
            next_step = "Free some space and run the same command again"
            raise OutputError(str(self._artifacts.directory), "its disk is full", next_step)

    def _verified(self, ask: Ask, probe: Probe, outcome: ProbeOutcome) -> ProbeOutcome:
        """Make an outcome unresolved if the build is not what was asked for."""
        if outcome.build is None or outcome.verdict is Verdict.UNRESOLVED:
            return outcome
        drift = self._lever.verify(ask.active, self._artifacts.folder(probe.folder))
        return replace(outcome, verdict=Verdict.UNRESOLVED, reason=drift) if drift else outcome

    def _end(self, ask: Ask, probe: Probe, outcome: ProbeOutcome) -> Finished:
        """Journal a probe's end, write its verdict and links, and remove its engine if that is not to stay."""
        self._journal.write(
            "end",
            probe=probe.number,
            check=ask.check,
            judge=self._judge,
            verdict=outcome.verdict,
            reason=outcome.reason,
            seconds=round(outcome.seconds, 6),
            built=outcome.build is not None and outcome.build.status == 0,
            build_failed=outcome.build_failed,
            timed_out=outcome.timed_out,
            timeout=self._options.timeout,
            log_checks=probe.log_checks + len(outcome.checks),
        )
        finished = probe.finished[-1]
        with explained(str(self._artifacts.directory)):
            self._artifacts.note_verdict(probe, finished, outcome)
            self._artifacts.link(probe, finished.verdict, self._lever.file)
        if self._options.confidence is None and finished.verdict is not ask.again:  # else it will be checked again
            self._drop_engine(probe)
        return finished

    def _drop_engine(self, probe: Probe) -> None:
        """Remove an engine unless ``--keep-engines`` keeps it."""
        with explained(str(self._artifacts.directory)):
            self._artifacts.keep_engine(probe, self._options.keep_engines)

    def _wind_up(self, urgency: Urgency) -> None:
        """End the probes that still run, and journal their ends."""
        if self._running:
            self._executor.halt(max(urgency, Urgency.END))
        while self._running:
            self._collect()


@contextmanager
def open_session(directory: Path, job: Job, plan: Plan, lever: ProbeLever, options: RunOptions) -> Iterator[Session]:
    """Lock a directory, check that it is this job's, and yield the session.

    Raises:
        UsageError: the directory is another job's, or in use; or there is no such cluster.
        SourceError: its job or its journal cannot be read.
        OutputError: it cannot be written to.
    """
    check_directory(directory, job)
    with explained(str(directory)):
        directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stack.enter_context(locked(directory))
        check_directory(directory, job)  # another run may have begun another job since
        write_job(directory, job, options)
        journal = stack.enter_context(Journal(directory))
        executor = lever.executor(make_executor(options))
        stack.callback(executor.close)
        journal.write("run", check=options.check)
        yield Session(plan, lever, options, Workspace(Artifacts(directory), journal, executor))


def judge_of(lever: ProbeLever, options: RunOptions) -> str:
    """Return the name of what decides verdicts; probes with another judge must be judged again."""
    times = f" x {options.repeat}" if options.check and options.repeat > 1 else ""
    return f"{options.check or ''}{times}{lever.settings and f' [{lever.settings}]'}"
