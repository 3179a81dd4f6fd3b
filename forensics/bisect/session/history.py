"""The history of a directory, from its journal: which probes there are, which have ended, and with what verdict."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session import index_sets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.bisect.search import Ask

Event = dict[str, object]
"""A line of the journal."""


@dataclass(frozen=True, slots=True)
class Finished:
    """One judgement of a probe. ``judge`` names what decided it (check command, tolerance); ``at`` is in ISO 8601.

    ``seconds`` is how long its commands took. ``timed_out`` says that a command reached the ``timeout`` (in seconds),
    so that a longer one may help. ``build_failed`` says that the failed build decided: then ``--build-failure`` sets
    the verdict, whatever the check.
    """

    verdict: Verdict
    reason: str
    judge: str
    check: int
    seconds: float
    timed_out: bool
    build_failed: bool
    timeout: float | None
    at: str
    run: int = 0


@dataclass(slots=True)
class Probe:
    """A build of a subset, in a folder of its own.

    ``suspects`` are the items under suspicion when the plan asked for it. ``log_checks`` counts the checks with a log
    in its folder. ``began`` is in ISO 8601.
    """

    number: int
    folder: str
    active: frozenset[int]
    build: int
    purpose: str
    suspects: frozenset[int] = frozenset()
    began: str = ""
    running: bool = False
    built: bool = False
    log_checks: int = 0
    finished: list[Finished] = field(default_factory=list)

    @property
    def last(self) -> Finished | None:
        """The newest judgement."""
        return self.finished[-1] if self.finished else None


class History:
    """All probes of a directory, by number and by subset; each event of the journal changes it."""

    def __init__(self) -> None:
        self.probes: dict[int, Probe] = {}
        self.runs = 0
        self._by_subset: dict[tuple[frozenset[int], int], Probe] = {}

    def apply(self, event: Mapping[str, object]) -> None:
        """Apply one event.

        Raises:
            KeyError, TypeError, ValueError: it is not a known event.
        """
        kind = event["event"]
        if kind == "run":
            self.runs += 1
            for probe in self.probes.values():
                probe.running = False
        elif kind == "start":
            self._start(event)
        elif kind == "end":
            self._end(event)
        elif kind == "stopped":
            self.probes[_int(event["probe"])].running = False
        else:
            raise ValueError(kind)

    def of(self, ask: Ask) -> Probe | None:
        """Return the probe of an ask's build."""
        return self._by_subset.get((ask.active, ask.build))

    def verdict(self, ask: Ask, judge: str, options: RunOptions) -> Finished | None:
        """Return the stored judgement of an ask, if any; a timeout does not count if ``--timeout`` is longer now."""
        probe = self.of(ask)
        known = (
            [f for f in probe.finished if f.check == ask.check and (f.build_failed or f.judge == judge)]
            if probe
            else []
        )
        if not known or (known[-1].timed_out and _longer(options.timeout, known[-1].timeout)):
            return None
        if not known[-1].build_failed:
            return known[-1]
        return replace(known[-1], verdict=Verdict.BAD if options.build_failure_is_bad else Verdict.UNRESOLVED)

    def retried(self, ask: Ask, options: RunOptions) -> bool:
        """Whether ``--retry-unresolved`` has a probe built again: an earlier run left it unresolved."""
        last = probe.last if (probe := self.of(ask)) else None
        unresolved = last is not None and last.verdict is Verdict.UNRESOLVED and last.run < self.runs
        return options.retry_unresolved and unresolved

    @property
    def next_number(self) -> int:
        """The number of the next new probe, from 1."""
        return max(self.probes, default=0) + 1

    def _start(self, event: Mapping[str, object]) -> None:
        number = _int(event["probe"])
        probe = self.probes.get(number)
        if probe is None:
            active = index_sets.from_text(str(event["active"]))
            suspects = index_sets.from_text(str(event["suspects"]))
            probe = Probe(number, str(event["folder"]), active, _int(event["build"]), str(event["purpose"]), suspects)
            self.probes[number] = self._by_subset[active, probe.build] = probe
        probe.running = True
        probe.began = str(event["at"])

    def _end(self, event: Mapping[str, object]) -> None:
        probe = self.probes[_int(event["probe"])]
        timeout = event["timeout"]
        probe.running = False
        probe.built = probe.built or bool(event["built"])
        probe.log_checks = _int(event["log_checks"])
        probe.finished.append(
            Finished(
                verdict=Verdict(str(event["verdict"])),
                reason=str(event["reason"]),
                judge=str(event["judge"]),
                check=_int(event["check"]),
                seconds=_float(event["seconds"]),
                timed_out=bool(event["timed_out"]),
                build_failed=bool(event["build_failed"]),
                timeout=None if timeout is None else _float(timeout),
                at=str(event["at"]),
                run=self.runs,
            )
        )


def _longer(now: float | None, then: float | None) -> bool:
    return then is not None and (now is None or now > then)


def _int(value: object) -> int:
    if isinstance(value, int):
        return value
    raise TypeError(value)


def _float(value: object) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    raise TypeError(value)
