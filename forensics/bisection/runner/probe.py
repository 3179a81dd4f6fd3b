"""Runs a probe: build, check, verdict. Its :class:`ProbeSpec` holds all it needs, so it may run on another machine."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trtforensics.bisection.runner.command import Command, Ended, Halt, run, said_bytes
from trtforensics.bisection.runner.placeholders import fill, mentions, variable
from trtforensics.bisection.search import Verdict
from trtforensics.console.own_files import is_there
from trtforensics.console.processes import NOT_RUN, describe_exit

ENGINE = "engine"
"""The name of the engine file in a probe's folder."""

_BAD = range(1, 125)
_OUTPUT_LIMIT = 256 << 20


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    """The commands of a probe, and where they run.

    ``values`` are the placeholders' values, paths absolute. ``environment`` is added to that of the process that runs
    the probe. ``build`` is None if only the check runs, ``checks`` times as long as the checks agree. ``timeout`` is in
    seconds for each command; ``need_free`` are the bytes that must be left for a verdict other than good to count.
    """

    folder: str
    cwd: str
    build: str | None
    check: str | None
    values: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    timeout: float | None = None
    checks: int = 1
    first_check: int = 0
    build_failure_is_bad: bool = False
    need_free: int = 0


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """The outcome of a probe.

    ``verdict`` is None if the probe was stopped before its end, or if its disk was too full (``disk_full``).
    ``reason`` says in words what led to the verdict. Another try may change an outcome that ``timed_out`` or was
    ``not_run`` (exit status 126 or 127). ``unfit`` says why the build is not the one that was asked for, or is "".
    """

    verdict: Verdict | None
    reason: str
    build: Ended | None = None
    checks: tuple[Ended, ...] = ()
    timed_out: bool = False
    not_run: bool = False
    disk_full: bool = False
    unfit: str = ""

    @property
    def seconds(self) -> float:
        """How long its commands took, in seconds."""
        return sum(ended.seconds for ended in (self.build, *self.checks) if ended)


def run_probe(spec: ProbeSpec, halt: Halt) -> ProbeOutcome:
    """Run a probe's commands and judge it."""
    outcome = _run_and_judge(spec, halt)
    free = [ended.least_free for ended in (outcome.build, *outcome.checks) if ended and ended.least_free is not None]
    if outcome.verdict in {None, Verdict.GOOD} or min(free, default=spec.need_free) >= spec.need_free:
        return outcome
    return replace(outcome, verdict=None, reason=f"only {said_bytes(min(free))} were free", disk_full=True)


def _run_and_judge(spec: ProbeSpec, halt: Halt) -> ProbeOutcome:
    build = None
    if spec.build is not None:
        build = _run(spec, spec.build, halt, build=True)
        early = _judge_build(spec, build)
        if early is not None:
            return early
    checks: list[Ended] = []
    for number in range(spec.first_check, spec.first_check + spec.checks):
        checks.append(_run(spec, spec.check or "", halt, build=False, number=number))
        if checks[-1].stopped or _verdict_of(checks[-1]) is not _verdict_of(checks[0]):
            break
    return _judge_checks(build, checks)


def judge_status(status: int, *, timed_out: bool) -> Verdict:
    """Return a check's verdict: status 0 is good, 1 to 124 bad, everything else unresolved."""
    if timed_out:
        return Verdict.UNRESOLVED
    if status == 0:
        return Verdict.GOOD
    return Verdict.BAD if status in _BAD else Verdict.UNRESOLVED


def judge_build(status: int, *, timed_out: bool, checked: bool, failure_is_bad: bool) -> Verdict | None:
    """Return the verdict of a build that failed, or that has no check and is judged as one; None: the check decides."""
    verdict = judge_status(status, timed_out=timed_out)
    if verdict is Verdict.UNRESOLVED or (verdict is Verdict.BAD and checked):
        return Verdict.BAD if failure_is_bad else Verdict.UNRESOLVED
    return None if checked else verdict


def describe(ended: Ended) -> str:
    """Say how a command ended."""
    if ended.timed_out:
        return f"timed out after {ended.seconds:.1f} s"
    return describe_exit(ended.status)


def check_log_name(number: int) -> str:
    """Return the file for the output of a check, counted from 0 in its folder."""
    return f"check-{number + 1}.log" if number else "check.log"


def _run(spec: ProbeSpec, line: str, halt: Halt, *, build: bool, number: int = 0) -> Ended:
    folder = Path(spec.folder)
    log = "build.out" if mentions(line, "log") else "build.log"  # the command may write the log itself
    values = {variable(name): value for name, value in spec.values.items()}
    command = Command(
        line=fill(line, spec.values),
        cwd=spec.cwd,
        environment={**os.environ, **spec.environment, **values},
        mark=f"{variable('dir')}={spec.values['dir']}",
        output=folder / (log if build else check_log_name(number)),
        errors=folder / "build.err" if build else None,
        timeout=spec.timeout,
        limit=_OUTPUT_LIMIT,
    )
    return run(command, halt)


def _judge_build(spec: ProbeSpec, build: Ended) -> ProbeOutcome | None:
    """Judge a probe whose build failed or that has no check; None: the check decides."""
    if build.stopped:
        return ProbeOutcome(None, "stopped", build)
    checked, bad = spec.check is not None, spec.build_failure_is_bad
    verdict = judge_build(build.status, timed_out=build.timed_out, checked=checked, failure_is_bad=bad)
    if verdict is not None:
        how = f"build: {describe(build)}"
        return ProbeOutcome(verdict, how, build, timed_out=build.timed_out, not_run=build.status in NOT_RUN)
    if spec.check is not None and mentions(spec.check, ENGINE) and not is_there(Path(spec.values[ENGINE])):
        return ProbeOutcome(Verdict.UNRESOLVED, "the build ended well but wrote no engine", build)
    return None


def _judge_checks(build: Ended | None, checks: Sequence[Ended]) -> ProbeOutcome:
    last, ended = checks[-1], tuple(checks)
    if last.stopped:
        return ProbeOutcome(None, "stopped", build, ended)
    verdicts = [_verdict_of(check) for check in checks]
    if len(set(verdicts)) > 1:
        listed = ", ".join(verdicts)
        reason = f"flaky: {len(checks)} checks of one build said {listed}; `--confidence 0.99` deals with that"
        return ProbeOutcome(Verdict.UNRESOLVED, reason, build, ended)
    times = f", {len(checks)} times" if len(checks) > 1 else ""
    reason = f"check: {describe(last)}{times}"
    return ProbeOutcome(verdicts[0], reason, build, ended, timed_out=last.timed_out, not_run=last.status in NOT_RUN)


def _verdict_of(ended: Ended) -> Verdict:
    return judge_status(ended.status, timed_out=ended.timed_out)
