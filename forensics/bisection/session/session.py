"""The loop of a session: it answers the probes that a plan asks for, from the journal or by running them."""

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from trtforensics.bisection.runner.command import Urgency, free_bytes, said_bytes
from trtforensics.bisection.runner.executors import ProbeExecutor, make_executor, revoke_ticket
from trtforensics.bisection.runner.leftovers import end_orphans
from trtforensics.bisection.runner.probe import ENGINE, ProbeOutcome, ProbeSpec, describe
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.runner.stopping import Stopper, stoppable
from trtforensics.bisection.runner.surroundings import differing, stamp_of
from trtforensics.bisection.search import Ask, ProbeSearch, Verdict
from trtforensics.bisection.session.artifacts import PAUSED, Artifacts, is_paused, locked, set_paused
from trtforensics.bisection.session.history import Finished, Judge, Made, Probe, ProbeEnd, indexes_text
from trtforensics.bisection.session.job import Job, basis_of, check_directory, judge_of, write_job
from trtforensics.bisection.session.journal import Journal
from trtforensics.bisection.session.lever import ProbeLever
from trtforensics.console import streams
from trtforensics.console.output import explained
from trtforensics.console.terminal import visible
from trtforensics.errors import ForensicsError, OutputError, UsageError

_T = TypeVar("_T")
_TURN_S = 1.0
ALL_VERDICTS = "verdicts"
"""What ``--forget`` calls the verdicts of all probes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict given to the plan, whether its build or itself is of an earlier run, and why it is judged ``again``."""

    ask: Ask
    probe: Probe
    finished: Finished
    reused: bool
    is_old: bool
    again: str


@dataclass(frozen=True, slots=True)
class _RunningProbe:
    ask: Ask
    probe: Probe
    gpu: str | None
    begun: float
    stamps: Mapping[str, object]


@dataclass(slots=True)
class Session:
    """A run on a directory whose lock is held; ``paths`` are the files that the build command names."""

    plan: ProbeSearch
    lever: ProbeLever
    options: RunOptions
    artifacts: Artifacts
    journal: Journal
    executor: ProbeExecutor
    judge: Judge
    paths: Mapping[str, Sequence[Path]]
    answers: list[Answer] = field(default_factory=list)
    _gpus: list[str] = field(init=False)
    _running: dict[Future[ProbeOutcome], _RunningProbe] = field(default_factory=dict)
    _held: list[Ask] = field(default_factory=list)
    _fresh: set[int] = field(default_factory=set)
    _again: dict[Ask, str] = field(default_factory=dict)
    _begun: float = field(default_factory=time.monotonic)
    _stopper: Stopper | None = None

    def __post_init__(self) -> None:
        self._gpus = list(self.options.gpus)

    def run(self, turn: Callable[[], str], write: Callable[[], object], show: Callable[[str], None]) -> None:
        """Answer the plan until it is done, in the main thread; ``turn`` says again and again how it stands.

        ``show`` gets that, and that the directory is paused. ``write`` is called at the end, however that comes.

        Raises:
            KeyboardInterrupt: the user stopped it; every probe's end is in the journal.
            OutputError: the directory cannot be written to, or its disk has too little free space.
            UsageError: the first probe's command cannot be run.
        """
        with stoppable(self.executor) as stopper:
            self._stopper = stopper
            self._tell_pause("this run")
            try:
                self._go_on(stopper, turn, show)
            except KeyboardInterrupt:
                self.plan.stop()
                self._tell_pause("the next run")
                raise
            finally:
                write()

    def _go_on(self, stopper: Stopper, turn: Callable[[], str], show: Callable[[str], None]) -> None:
        try:
            while not stopper.urgency and not self.computed(lambda: self.plan.done):
                pause = self._pause
                if not pause:
                    self._answer()
                standing = f"paused {pause}; {turn()}" if pause else turn()
                show(standing)
                if stopper.asked:
                    stopper.asked = False
                    self._tell_user(standing)
                self._collect()
        finally:
            if self._running:
                self.executor.halt(max(stopper.urgency, Urgency.END))
            while self._running:
                self._collect()
        if stopper.urgency:
            raise KeyboardInterrupt
        with explained(str(self.artifacts.directory)):
            self.artifacts.drop_engines()
        set_paused(self.artifacts.directory, paused=False)

    @property
    def _pause(self) -> str:
        """Until when the run starts no probe, or ""."""
        directory = self.artifacts.directory
        return f"until {os.path.relpath(directory / PAUSED)} is removed" if is_paused(directory) else ""

    def _tell_pause(self, which: str) -> None:
        """Tell a user who may not know of a pause which run waits, and how it goes on."""
        if pause := self._pause:
            streams.tell(f"trtforensics: {which} waits {visible(pause)}, also by P in `trtforensics tui`\n")

    def computed(self, compute: Callable[[], _T]) -> _T:
        """Return what the plan computes; a signal that ends the run ends that at once, by KeyboardInterrupt."""
        with nullcontext() if self._stopper is None else self._stopper.computing():
            return compute()

    def edited(self) -> list[str]:
        """Return what commands name and something else changed in this run: its verdicts are not all of one content."""
        before, now = self.judge.inputs, judge_of(self.lever.settings, self.options, self.artifacts.directory).inputs
        names = {name for name in differing(before, now) if name in before}
        names.update(name for answer in self.answers for name in answer.finished.edited)
        return sorted(names - self.journal.history.written)

    @property
    def seconds(self) -> float:
        """How long the run has lasted, in seconds."""
        return time.monotonic() - self._begun

    @property
    def _room(self) -> int:
        return self.executor.room - len(self._running) - len(self._held)

    @property
    def running(self) -> int:
        """How many probes run."""
        return len(self._running)

    def _answer(self) -> None:
        """Answer the asks of the plan or start their probes, until the plan waits or there is no room."""
        held, self._held = self._held, []
        for ask in held:
            self._consider(ask)
        while self._room > 0 and (asks := self.computed(lambda: self.plan.asks(self._room))):
            for ask in asks:
                self._consider(ask)
        if not self._running and not self.computed(lambda: self.plan.done):
            raise AssertionError("the plan waits for nothing")

    def _consider(self, ask: Ask) -> None:
        """Answer an ask from the journal, start its probe, or hold it while another check of its build runs."""
        history = self.journal.history
        probe = history.of(ask)
        if probe is not None and probe.running:
            self._held.append(ask)
            return
        if history.retried(ask, self.options):
            self._again[ask] = history.why_again(ask, self.judge, self.options)
            self._start(ask, anew=True)
            return
        known = history.verdict(ask, self.judge, self.options)
        is_lost = known is not None and known.verdict is Verdict.BAD and not self.lever.remembers(ask.active)
        if known is None or is_lost:
            self._again[ask] = history.why_again(ask, self.judge, self.options)
            known = None if is_lost else self._rejudged(ask, probe)
        if known is not None and probe is not None:
            self._tell(ask, probe, known)
        else:
            self._start(ask)

    def _tell_user(self, standing: str) -> None:
        now = time.monotonic()
        probes = [
            f"  {each.probe.folder}, for {now - each.begun:,.0f} s: {each.probe.purpose}"
            for each in self._running.values()
        ]
        streams.tell("".join(f"{visible(line)}\n" for line in (f"trtforensics: {standing}", *probes)))

    def _tell(self, ask: Ask, probe: Probe, finished: Finished) -> None:
        is_old = finished.run < self.journal.history.runs
        again = "" if is_old else self._again.get(ask, "")
        self.answers.append(Answer(ask, probe, finished, probe.number not in self._fresh, is_old, again))
        self.artifacts.note(probe, finished.verdict)
        self.plan.tell(ask, finished.verdict)

    def _rejudged(self, ask: Ask, probe: Probe | None) -> Finished | None:
        """Judge a probe of an earlier run by the present settings, if its folder holds enough for that."""
        if probe is None or probe.building or not probe.finished or (probe.made is not None and probe.made.decides):
            return None
        judged = self.lever.rejudge(self.artifacts.folder(probe.folder))
        if judged is None:
            return None
        self._begin(ask, builds=False)
        return self._end(ask, probe, ProbeOutcome(*judged))

    def _start(self, ask: Ask, *, anew: bool = False) -> None:
        """Start a probe: its check alone where that is enough, else its build too."""
        self._require_disk_space()
        known = self.journal.history.of(ask)
        checks_only = known is not None and not anew and self.artifacts.can_check(known)
        probe = self._begin(ask, builds=not checks_only)
        if not checks_only:
            self._fresh.add(probe.number)
        with explained(str(self.artifacts.directory)):
            folder = self.artifacts.make_folder(probe, anew=not checks_only)
            values = self.lever.prepare(ask.active, folder)
        gpu = self._gpus.pop(0) if self._gpus else None
        spec = self._spec(probe, folder, values, None if checks_only else self.options.build, gpu)
        stamps = self._stamps(builds=not checks_only)
        future = self.executor.submit(spec, self.lever.run)
        self._running[future] = _RunningProbe(ask, probe, gpu, time.monotonic(), stamps)

    def _stamps(self, *, builds: bool) -> dict[str, object]:
        """Return what shows whether a probe writes what its commands name."""
        paths = {**(self.paths if builds else {}), **self.judge.paths}
        return {name: stamp_of(files) for name, files in paths.items()}

    def _require_disk_space(self) -> None:
        """Refuse to start a probe on a disk with too little free space; engines that need not stay make some."""
        directory, need = self.artifacts.directory, self.options.need_free
        with explained(str(directory)):
            if free_bytes(directory) < need:
                self.artifacts.drop_engines()
            free = free_bytes(directory)
        if free < need:
            raise _disk_full(directory, f"has {said_bytes(free)} free before a probe", need)

    def _begin(self, ask: Ask, *, builds: bool) -> Probe:
        """Journal a probe's start, and whether it builds."""
        history = self.journal.history
        probe = history.of(ask)
        number = probe.number if probe else history.next_number
        self.journal.write(
            "start",
            probe=number,
            active=indexes_text(ask.active),
            build=ask.build,
            check=ask.check,
            builds=builds,
            purpose=ask.purpose,
            suspects=indexes_text(self.computed(self.plan.outlook).suspects),
        )
        return history.probes[number]

    def _spec(
        self, probe: Probe, folder: Path, values: Mapping[str, Path], build: str | None, gpu: str | None
    ) -> ProbeSpec:
        values = {**values, ENGINE: folder / ENGINE, "log": folder / "build.log", "dir": folder}
        paths = {name: str(path.absolute()) for name, path in values.items()}
        options = self.options
        return ProbeSpec(
            folder=str(folder),
            cwd=os.getcwd(),  # noqa: PTH109 - as the shell sees it
            build=build,
            check=options.check,
            values={**paths, "probe": probe.folder},
            environment={} if gpu is None else {"CUDA_VISIBLE_DEVICES": gpu},
            timeout=options.timeout,
            checks=options.repeat if options.check else 1,
            first_check=probe.log_checks,
            build_failure_is_bad=options.build_failure == "bad",
            need_free=options.need_free,
        )

    def _collect(self) -> None:
        if self._running:
            ended, _ = wait(self._running, timeout=_TURN_S, return_when=FIRST_COMPLETED)
            for future in ended:
                self._take(future)
        elif self._pause:
            self.computed(partial(time.sleep, _TURN_S))

    def _take(self, future: Future[ProbeOutcome]) -> None:
        running = self._running.pop(future)
        if running.gpu is not None:
            self._gpus.append(running.gpu)
        ask, probe = running.ask, running.probe
        try:
            with explained(str(self.artifacts.folder(probe.folder))):
                outcome = future.result()
            self._refuse(probe, outcome)
        except ForensicsError:
            self._stop(probe)
            raise
        if outcome.verdict is None:
            self._stop(probe)
            if outcome.disk_full:
                what = f"ran out of disk space while probe {probe.folder} ran: {outcome.reason}"
                raise _disk_full(self.artifacts.directory, what, self.options.need_free)
            return
        now = self._stamps(builds=True)
        changed = {name: now[name] != stamp for name, stamp in running.stamps.items()}
        self._tell(ask, probe, self._end(ask, probe, self._verified(ask, probe, outcome), changed))

    def _refuse(self, probe: Probe, outcome: ProbeOutcome) -> None:
        """Stop the run if an outcome is about this machine and not about the items."""
        if outcome.not_run and not any(probe.finished for probe in self.journal.history.probes.values()):
            command = "--check" if outcome.checks else "--build"
            where = f"`{command}`, in {self.artifacts.folder(probe.folder)}"
            raise UsageError(where, f"ended with {outcome.reason.partition(': ')[2]}", "Correct it and run this again")

    def _stop(self, probe: Probe) -> None:
        """Journal that a probe was stopped, and remove the engine if its build did not end."""
        self.journal.write("stopped", probe=probe.number)
        if probe.building:
            with explained(str(self.artifacts.directory)):
                self.artifacts.drop_engine(probe)

    def _verified(self, ask: Ask, probe: Probe, outcome: ProbeOutcome) -> ProbeOutcome:
        """Make an outcome unresolved if the build is not what was asked for."""
        build = outcome.build
        if build is None or build.timed_out or build.status or outcome.unfit:
            return outcome
        drift = self.lever.verify(ask.active, self.artifacts.folder(probe.folder))
        return replace(outcome, verdict=Verdict.UNRESOLVED, reason=drift, unfit=drift) if drift else outcome

    def _end(
        self, ask: Ask, probe: Probe, outcome: ProbeOutcome, changed: Mapping[str, bool] | None = None
    ) -> Finished:
        """Write a probe's verdict, have its engine stay or go, journal its end, and link its file."""
        verdict = outcome.verdict or Verdict.UNRESOLVED
        with explained(str(self.artifacts.directory)):
            made = self._made(probe, outcome)
            end = ProbeEnd(probe, ask, outcome, self.judge.name, made, self.options.timeout, changed or {})
            self.artifacts.note_verdict(end)
            self.artifacts.settle_engine(probe, verdict)
        self.journal.write("end", **end.document("probe_end"))
        with explained(str(self.artifacts.directory)):
            self.artifacts.link(probe, verdict, self.lever.file)
        return probe.finished[-1]

    def _made(self, probe: Probe, outcome: ProbeOutcome) -> Made | None:
        build = outcome.build
        if build is None:
            return None
        return Made(
            status=build.status,
            timed_out=build.timed_out,
            timeout=self.options.timeout,
            reason=f"build: {describe(build)}" if not build.status and not build.timed_out else outcome.reason,
            unfit=outcome.unfit,
            engine_bytes=self.artifacts.engine_bytes(probe),
        )


@contextmanager
def open_session(
    directory: Path, job: Job, plan: ProbeSearch, lever: ProbeLever, options: RunOptions
) -> Iterator[Session]:
    """Lock a directory, check that it is this job's, end what an earlier run left there, and yield the session.

    Raises:
        UsageError: the directory is another job's, or in use; there is no such cluster, or no such probe to forget.
        SourceError: its job or its journal cannot be read.
        OutputError: it cannot be written to.
    """
    check_directory(directory, job)
    with explained(str(directory)):
        directory.mkdir(parents=True, exist_ok=True)
    artifacts = Artifacts(directory.absolute(), options)
    with ExitStack() as stack:
        stack.enter_context(locked(directory))
        stored = check_directory(directory, job)  # another run may have begun another job since
        if stuck := end_orphans(directory):
            what = f"is in use by process {stuck[0]}, which an earlier run left there and which cannot be killed"
            raise UsageError(str(directory), what, "Wait for its end")
        if stored is None:
            write_job(directory, job, options)
        journal = stack.enter_context(Journal(directory, job.key(stored)))
        if stored is not None:
            outdated = [] if job.knows_builds(stored) else list(journal.history.probes)
            for number in outdated:
                journal.write("forget", probe=number, builds=True)
            write_job(directory, job, options, job.key(stored))
        with explained(str(directory)):
            for probe in journal.history.probes.values():
                if probe.running:
                    revoke_ticket(artifacts.folder(probe.folder))
            artifacts.settle(journal.history.probes.values(), lever.file)
        judge = judge_of(lever.settings, options, directory)
        lever.basis = basis_of(judge, journal.history)
        forgotten = _named(journal, options.forget)
        executor = make_executor(options)
        stack.callback(executor.close)
        journal.write("run", check=options.check, repeat=options.repeat, judge=judge.name, parts=judge.parts)
        for number in forgotten:
            journal.write("forget", probe=number)
        paths = job.surroundings.paths if job.surroundings else {}
        yield Session(plan, lever, options, artifacts, journal, executor, judge, paths)


def _named(journal: Journal, names: Collection[str]) -> list[int]:
    """Return the numbers of the probes that ``--forget`` names, by number or folder."""
    probes = journal.history.probes
    if ALL_VERDICTS in names:
        return list(probes)
    by_name = {name: number for number, probe in probes.items() for name in (str(number), probe.folder)}
    for name in names:
        if name not in by_name:
            next_step = f"`trtforensics bisect log` lists them; `--forget {ALL_VERDICTS}` takes all"
            raise UsageError("--forget", f"there is no probe {name} in this directory", next_step)
    return [by_name[name] for name in names]


def _disk_full(directory: Path, what: str, need: int) -> OutputError:
    next_step = f"Free some space and run the same command again; `--need-free` is {said_bytes(need)}"
    return OutputError(str(directory), what, next_step)
