"""Runs a probe: build, check, verdict. Its :class:`ProbeSpec` holds all it needs, so it may run on another machine."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.bisect.runner.command import Command, Ended, run
from trtforensics.bisect.runner.placeholders import fill, mentions, variable, variables
from trtforensics.bisect.search import Verdict
from trtforensics.console.exit_status import NOT_RUN, describe_exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisect.runner.command import Halt

ENGINE = "engine"
"""The name of the engine file in a probe's folder."""

_BAD = range(1, 125)


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    """The commands of a probe, and where they run.

    ``values`` are the placeholders' values, paths absolute. ``environment`` is added to that of the process that runs
    the probe. ``build`` is None if only the check runs, on an earlier build. ``checks`` is how often to check, as long
    as the checks agree. ``timeout`` is in seconds for each command, ``output_limit`` in bytes for each file.
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
    output_limit: int = 256 << 20


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """The outcome of a probe.

    ``verdict`` is None if the probe was stopped before its end. ``reason`` says in words what led to the verdict.
    Another try may change an outcome that ``timed_out`` or was ``not_run`` (exit status 126 or 127). ``build_failed``
    says that the verdict follows from ``build_failure_is_bad``, whatever the check.
    """

    verdict: Verdict | None
    reason: str
    build: Ended | None = None
    checks: tuple[Ended, ...] = ()
    timed_out: bool = False
    not_run: bool = False
    build_failed: bool = False

    @property
    def seconds(self) -> float:
        """How long its commands took, in seconds."""
        return sum(ended.seconds for ended in (self.build, *self.checks) if ended)


def run_probe(spec: ProbeSpec, halt: Halt) -> ProbeOutcome:
    """Run a probe's commands and judge it.

    Raises:
        OSError: its folder cannot be written to.
    """
    built = None
    if spec.build is not None:
        built = _run(spec, spec.build, halt, build=True)
        early = _judge_build(spec, built)
        if early is not None:
            return early
    checks: list[Ended] = []
    for number in range(spec.first_check, spec.first_check + spec.checks):
        checks.append(_run(spec, spec.check or "", halt, build=False, number=number))
        if checks[-1].stopped or judge_status(checks[-1])[0] is not judge_status(checks[0])[0]:
            break
    return _judge_checks(built, checks)


def judge_status(ended: Ended) -> tuple[Verdict, str]:
    """Return a check's verdict, and its end in words: status 0 is good, 1 to 124 bad, everything else unresolved."""
    how = describe(ended)
    if ended.timed_out:
        return Verdict.UNRESOLVED, how
    if ended.status == 0:
        return Verdict.GOOD, how
    return (Verdict.BAD if ended.status in _BAD else Verdict.UNRESOLVED), how


def describe(ended: Ended) -> str:
    """Say how a command ended."""
    if ended.timed_out:
        return f"timed out after {ended.seconds:.1f} s"
    return describe_exit(ended.status)


def log_name(build: str | None) -> str:
    """Return the file for the build's standard output: the log, unless the command writes that itself."""
    return "build.out" if build is not None and mentions(build, "log") else "build.log"


def check_log_name(number: int) -> str:
    """Return the file for the output of a check, counted from 0 in its folder."""
    return f"check-{number + 1}.log" if number else "check.log"


def _run(spec: ProbeSpec, line: str, halt: Halt, *, build: bool, number: int = 0) -> Ended:
    folder = Path(spec.folder)
    command = Command(
        line=fill(line, spec.values),
        cwd=spec.cwd,
        environment={**os.environ, **spec.environment, **variables(spec.values)},
        mark=f"{variable('dir')}={spec.values['dir']}",
        output=folder / (log_name(line) if build else check_log_name(number)),
        errors=folder / "build.err" if build else None,
        timeout=spec.timeout,
        limit=spec.output_limit,
    )
    return run(command, halt)


def _judge_build(spec: ProbeSpec, built: Ended) -> ProbeOutcome | None:
    """Judge a probe whose build failed or that has no check; None: the check decides."""
    if built.stopped:
        return ProbeOutcome(None, "stopped", built)
    verdict, how = judge_status(built)
    failed = verdict is Verdict.UNRESOLVED or (verdict is Verdict.BAD and spec.check is not None)
    if failed or spec.check is None:
        if failed:
            verdict = Verdict.BAD if spec.build_failure_is_bad else Verdict.UNRESOLVED
        return ProbeOutcome(
            verdict,
            f"build: {how}",
            built,
            timed_out=built.timed_out,
            not_run=built.status in NOT_RUN,
            build_failed=failed,
        )
    if mentions(spec.check, ENGINE) and not Path(spec.values[ENGINE]).exists():
        return ProbeOutcome(Verdict.UNRESOLVED, "the build ended well but wrote no engine", built)
    return None


def _judge_checks(built: Ended | None, checks: Sequence[Ended]) -> ProbeOutcome:
    last, ended = checks[-1], tuple(checks)
    if last.stopped:
        return ProbeOutcome(None, "stopped", built, ended)
    verdicts = [judge_status(check)[0] for check in checks]
    if len(set(verdicts)) > 1:
        listed = ", ".join(verdicts)
        reason = f"flaky: {len(checks)} checks of one build said {listed}; `--confidence 0.99` deals with that"
        return ProbeOutcome(Verdict.UNRESOLVED, reason, built, ended)
    times = f", {len(checks)} times" if len(checks) > 1 else ""
    reason = f"check: {describe(last)}{times}"
    return ProbeOutcome(verdicts[0], reason, built, ended, timed_out=last.timed_out, not_run=last.status in NOT_RUN)
