"""The history of a directory, from its journal: which probes there are, which have ended, and with what verdict."""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trtforensics.bisection.runner.probe import ProbeOutcome, judge_build
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.runner.surroundings import differing, is_read_in_turn
from trtforensics.bisection.search import Ask, Verdict
from trtforensics.console.counting import listed, ranges
from trtforensics.render.json_text import Forms, JsonObject, document_of

Event = dict[str, object]
"""A line of the journal."""

_RUN = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class JobKey:
    """What the journal of a job is read with: the job's fingerprint, and its number of items."""

    fingerprint: str
    items: int


@dataclass(frozen=True, slots=True)
class Judge:
    """What decides verdicts: ``parts`` are all that they depend on beside the job, and ``name`` identifies them.

    ``basis`` identifies them without the settings by which stored scores and failures can be judged anew. With
    ``by_build`` there is no check: the exit status of the build decides. ``paths`` are the files that the check names.
    """

    name: str
    by_build: bool = False
    basis: str = ""
    parts: Mapping[str, object] = field(default_factory=dict)
    paths: Mapping[str, Sequence[Path]] = field(default_factory=dict)

    @property
    def inputs(self) -> Mapping[str, object]:
        """The content of what the check names."""
        return _inputs(self.parts)

    def changes(self, before: Mapping[str, object], written: Collection[str]) -> list[str]:
        """Say in what the parts of an earlier judge differ, but for inputs that the probes write themselves."""
        now = self.parts
        if before.get("check") != now.get("check"):
            if before.get("check") is None:
                return ["a check was added"]
            return ["the check is another command" if now.get("check") is not None else "there is no check now"]
        names = [name for name in differing(_inputs(before), self.inputs) if name not in written]
        words = [f"{listed(names)} of the check changed"] if names else []
        return words + [text for part, text in _CHANGES.items() if before.get(part) != now.get(part)]


def _inputs(parts: Mapping[str, object]) -> dict[str, object]:
    return inputs if isinstance(inputs := parts.get("inputs"), dict) else {}


_CHANGES = {
    "cwd": "another working directory",
    "repeat": "another `--repeat`",
    "version": "another version of trtforensics",
    "settings": "another `--tolerance`, `--metric`, `--build` or `--same`",
}


@dataclass(frozen=True, slots=True)
class Finished:
    """One judgement of a probe, by the :class:`Judge` of that name; ``at`` is in ISO 8601.

    ``timed_out``: a command reached the ``timeout`` (in seconds), so that a longer one may help. ``of_build``: the
    build decided, because it failed or was not what was asked for. ``built``: it is of a build of its own, and not of
    one that had been judged before. ``edited``: what commands name and was changed in its run, until it ended.
    """

    verdict: Verdict
    reason: str
    judge: str
    check: int
    seconds: float
    timed_out: bool
    timeout: float | None
    at: str
    run: int = 0
    of_build: bool = False
    built: bool = False
    edited: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Made:
    """A build that ran to its end, in words (``reason``).

    ``status`` is its exit status, or minus a signal's number. ``unfit`` says why the build is not the one that was
    asked for, whatever checks say of it; "" if it is. ``engine_bytes`` is the size of the engine it wrote, if any.
    """

    status: int
    timed_out: bool
    timeout: float | None
    reason: str
    unfit: str
    engine_bytes: int | None

    @property
    def decides(self) -> bool:
        """Whether it decides the verdict, whatever the check."""
        return bool(self.unfit) or self.timed_out or self.status != 0


@dataclass(slots=True)
class Probe:
    """A build of a subset, in a folder of its own.

    ``suspects`` are those when the plan asked for it. ``log_checks`` counts the checks with a log in its folder.
    ``building``: a build has not ended, so that its engine may be half-written; ``made`` is the last that ended.
    """

    number: int
    folder: str
    active: frozenset[int]
    build: int
    purpose: str
    suspects: frozenset[int] = frozenset()
    began: str = ""
    running: bool = False
    building: bool = False
    made: Made | None = None
    log_checks: int = 0
    finished: list[Finished] = field(default_factory=list)

    @property
    def last(self) -> Finished | None:
        """The newest judgement."""
        return self.finished[-1] if self.finished else None


def indexes_text(indexes: Collection[int]) -> str:
    """Return a set of item indexes as text (``0-149,151``): one of 10,000 items stays a short line of the journal."""
    return ",".join(ranges(indexes))


@dataclass(frozen=True, slots=True)
class ProbeEnd:
    """The end of a probe's run, for the journal and ``verdict.json``; ``changed``: what of its inputs it wrote."""

    probe: Probe
    ask: Ask
    outcome: ProbeOutcome
    judge: str
    made: Made | None
    timeout: float | None
    changed: Mapping[str, bool]

    @property
    def log_checks(self) -> int:
        """How many checks have a log in the probe's folder now."""
        return self.probe.log_checks + len(self.outcome.checks)

    def document(self, record: str) -> JsonObject:
        """Return it as an ``end`` of the journal, or as a ``verdict``."""
        return document_of(record, self, _FORMS)


_FORMS: Forms = {"indexes": indexes_text, "seconds": lambda seconds: round(seconds, 6)}


_FIELDS = {"run": ("check", "repeat", "judge"), "start": ("purpose",), "given": ("purpose", "seconds")}
"""Fields that only readers of the log look at, beside those that are read here."""


class History:
    """All probes of a directory of ``items`` items, by number and by subset; each event of the journal changes it."""

    def __init__(self, items: int) -> None:
        self.probes: dict[int, Probe] = {}
        self.runs = 0
        self.judges: dict[str, Mapping[str, object]] = {}
        self._changed: dict[str, list[bool]] = {}
        self._edited: frozenset[str] = frozenset()
        self._items = items
        self._by_subset: dict[tuple[frozenset[int], int], Probe] = {}

    def apply(self, event: Mapping[str, object]) -> None:
        """Apply one event; a KeyError, TypeError or ValueError where it is unknown or cannot follow the others."""
        kind = event["event"]
        if missing := {"at", *_FIELDS.get(str(kind), ())} - event.keys():
            raise KeyError(min(missing))
        if kind == "run":
            self.runs += 1
            self._edited = frozenset()
            if isinstance(parts := event.get("parts"), dict):
                self.judges[str(event["judge"])] = parts
            for probe in self.probes.values():
                probe.running = False
        elif kind == "start":
            self._start(event)
        elif kind == "end":
            self._end(event)
        elif kind == "stopped":
            self.probes[_int(event["probe"])].running = False
        elif kind == "given":
            self._give(event)
        elif kind == "forget":
            self._forget(self.probes[_int(event["probe"])], builds=bool(event.get("builds")))
        else:
            raise ValueError(kind)

    def of(self, ask: Ask) -> Probe | None:
        """Return the probe of an ask's build."""
        return self._by_subset.get((ask.active, ask.build))

    def verdict(self, ask: Ask, judge: Judge, options: RunOptions) -> Finished | None:
        """Return the stored judgement of an ask, if any; a timeout does not count if ``--timeout`` is longer now.

        A build that failed, or that is not what was asked for, decides whatever the check: it is judged anew by its
        exit status and the present options. So is every build if there is no check.
        """
        probe = self.of(ask)
        if probe is None or probe.last is None:
            return None
        made = probe.made
        if made is not None:
            if made.timed_out and _longer(options.timeout, made.timeout):
                return None
            verdict = _of_build(made, judge, options)
            if verdict is not None:
                return replace(probe.last, verdict=verdict, reason=made.unfit or made.reason, judge=judge.name)
        mine = (done for done in probe.finished if not done.of_build and not self.changes(done, judge))
        known = [done for done in mine if done.check == ask.check]
        if not known or (known[-1].timed_out and _longer(options.timeout, known[-1].timeout)):
            return None
        return known[-1]

    @property
    def written(self) -> frozenset[str]:
        """What commands name and write: each of several probes that ran such a command changed it.

        What only a script names it may write now and then: each probe, or any two, changed it.
        """
        return frozenset(
            name
            for name, changes in self._changed.items()
            if (len(changes) > 1 and all(changes)) or (is_read_in_turn(name) and (all(changes) or sum(changes) > 1))
        )

    def changes(self, done: Finished, judge: Judge) -> list[str]:
        """Say in what a judgement's judge differs from another; nothing: it stands."""
        if edited := sorted(done.edited - self.written):
            return [f"{listed(edited)} changed, or could not be read, while probes ran"]
        if done.judge == judge.name:
            return []
        parts = self.judges.get(done.judge)
        return (
            ["they are of an earlier version of trtforensics"] if parts is None else judge.changes(parts, self.written)
        )

    def why_again(self, ask: Ask, judge: Judge, options: RunOptions) -> str:
        """Say why a probe that an earlier run judged must be judged again; "" where none did."""
        probe = self.of(ask)
        earlier = (done for done in (probe.finished if probe else ()) if done.run < self.runs)
        judged = [done for done in earlier if done.check == ask.check]
        if probe is None or not judged:
            return ""
        if self.retried(ask, options):
            return "`--retry-unresolved`"
        changes = self.changes(judged[-1], judge)
        timed_out = judged[-1].timed_out or (probe.made is not None and probe.made.timed_out)
        return ", ".join(changes) or ("a longer `--timeout`" if timed_out else "a record is gone")

    def retried(self, ask: Ask, options: RunOptions) -> bool:
        """Whether ``--retry-unresolved`` has a probe built again: an earlier run left it unresolved."""
        last = probe.last if (probe := self.of(ask)) else None
        unresolved = last is not None and last.verdict is Verdict.UNRESOLVED and last.run < self.runs
        return options.retry_unresolved and unresolved

    @property
    def next_number(self) -> int:
        """The number of the next new probe, from 1."""
        return len(self.probes) + 1

    def _probe(self, event: Mapping[str, object]) -> Probe:
        """Return the probe of an event, a new one if the event is its first."""
        number, build = _int(event["probe"]), _int(event["build"])
        active = indexes_of(str(event["active"]), self._items)
        probe = self.probes.get(number)
        if probe is None and number == self.next_number and (active, build) not in self._by_subset:
            probe = Probe(number, folder_name(number, active, build), active, build, str(event["purpose"]))
            self.probes[number] = self._by_subset[active, build] = probe
        if probe is None or (probe.active, probe.build) != (active, build):
            raise ValueError(f"probe {number} is another one")
        return probe

    def _start(self, event: Mapping[str, object]) -> None:
        suspects = indexes_of(str(event["suspects"]), self._items)
        probe = self._probe(event)
        probe.suspects = suspects
        probe.running = True
        probe.began = str(event["at"])
        if event["builds"]:
            probe.building, probe.made = True, None

    def _end(self, event: Mapping[str, object]) -> None:
        probe = self.probes[_int(event["probe"])]
        if not probe.running:
            raise ValueError(f"probe {probe.number} ends and has not begun")
        made = None if event["made"] is None else _made(event["made"])
        probe.made = made or probe.made
        probe.running = probe.building = False
        probe.log_checks = _int(event["log_checks"])
        changed = event.get("inputs", {})
        for name, is_other in changed.items() if isinstance(changed, dict) else ():
            self._changed.setdefault(name, []).append(bool(is_other))
            self._edited |= {name} if is_other else frozenset()
        self._finish(probe, event, of_build=made is not None and made.decides)

    @staticmethod
    def _forget(probe: Probe, *, builds: bool) -> None:
        """Forget a probe's verdicts; with ``builds`` it was judged, but nobody knows by what, nor what was built."""
        probe.finished = [replace(done, judge="", of_build=False) for done in probe.finished] if builds else []
        probe.made = None if builds else probe.made

    def _give(self, event: Mapping[str, object]) -> None:
        """Take a verdict from a person; it stands, whatever the build came to."""
        probe = self._probe(event)
        probe.building, probe.made = False, None
        self._finish(probe, event)

    def _finish(self, probe: Probe, event: Mapping[str, object], *, of_build: bool = False) -> None:
        probe.finished.append(
            Finished(
                verdict=Verdict(str(event["verdict"])),
                reason=str(event["reason"]),
                judge=str(event["judge"]),
                check=_int(event["check"]),
                seconds=_float(event["seconds"]),
                timed_out=bool(event["timed_out"]),
                timeout=_optional(event["timeout"]),
                at=str(event["at"]),
                run=self.runs,
                of_build=of_build,
                built=event.get("made") is not None,
                edited=self._edited,
            )
        )


def folder_name(number: int, active: frozenset[int], build: int) -> str:
    """Return the name of a probe's folder: its number, and six hex digits of a hash of its subset and build."""
    subset = f"{indexes_text(active)}/{build}"
    return f"{number:04d}-{hashlib.sha256(subset.encode()).hexdigest()[:6]}"


def _of_build(made: Made, judge: Judge, options: RunOptions) -> Verdict | None:
    if made.unfit:
        return Verdict.UNRESOLVED
    bad = options.build_failure == "bad"
    return judge_build(made.status, timed_out=made.timed_out, checked=not judge.by_build, failure_is_bad=bad)


def _made(fields: object) -> Made:
    if not isinstance(fields, dict):
        raise TypeError(fields)
    size = fields["engine_bytes"]
    return Made(
        status=_int(fields["status"]),
        timed_out=bool(fields["timed_out"]),
        timeout=_optional(fields["timeout"]),
        reason=str(fields["reason"]),
        unfit=str(fields["unfit"]),
        engine_bytes=None if size is None else _int(size),
    )


def _longer(now: float | None, then: float | None) -> bool:
    return then is not None and (now is None or now > then)


def _int(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise TypeError(value)


def _float(value: object) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    raise TypeError(value)


def _optional(value: object) -> float | None:
    return None if value is None else _float(value)


def indexes_of(text: str, count: int) -> frozenset[int]:
    """Read what :func:`indexes_text` wrote of indexes below ``count``; a ValueError where the text is no such set."""
    indexes: list[int] = []
    for written in text.split(",") if text else ():
        run = _RUN.fullmatch(written)
        first, last = (int(run[1]), int(run[2] or run[1])) if run else (-1, -1)
        if not (indexes[-1] if indexes else -1) < first <= last < count:
            raise ValueError(f"{written!r} is no run of indexes below {count}")
        indexes.extend(range(first, last + 1))
    return frozenset(indexes)
