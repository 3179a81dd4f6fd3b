"""The history of a directory as a person reads it, and verdicts read back from an edited copy of it.

A line of the copy is a verdict, the items from bad as indexes (``-``: none), and which build and check of them it was;
a ``#`` begins a comment. ``job`` and ``check`` lines say what the verdicts below them belong to. The comment of a
verdict begins with the verdict that was measured, so that a verdict that a person changed or wrote differs from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisect.search import Ask, Verdict
from trtforensics.bisect.session import index_sets
from trtforensics.console.terminal import visible
from trtforensics.errors import SourceError, UsageError
from trtforensics.parsers.text.document import read_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trtforensics.bisect.session.history import Event, Judge
    from trtforensics.bisect.session.job import JobKey

_LARGEST = 256 << 20
_FEW = 3
_LINE = re.compile(r"(good|bad|unresolved)\s+(-|[\d,-]+)(?:\s+build\s+(\d{1,6}))?(?:\s+check\s+(\d{1,6}))?", re.ASCII)
_MEASURED = re.compile(r"\s*(good|bad|unresolved) at ")
_NONE = "-"
_LOOKS = ((0, 0), (0, 1), (1, 0))
"""Builds and checks of a mix that a search asks for where outcomes are exact: the first, and both kinds of second."""


@dataclass(frozen=True, slots=True)
class GivenVerdict:
    """A verdict from a log; ``at`` is its file and line. ``edited``: it is a person's, and not as it was measured."""

    ask: Ask
    verdict: Verdict
    at: str
    edited: bool = False

    def fields(self) -> dict[str, object]:
        """Return the fields of the journal's event."""
        return {
            "active": index_sets.to_text(self.ask.active),
            "build": self.ask.build,
            "check": self.ask.check,
            "purpose": "given",
            "verdict": self.verdict,
            "reason": f"given in {self.at}",
            "seconds": 0,
            "timed_out": False,
            "timeout": None,
        }


def log_lines(events: Sequence[Event], key: JobKey, items: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a log, in the order of the events; a verdict that was forgotten is a comment.

    Raises:
        KeyError: an event lacks a field.
    """
    yield f"job {key.fingerprint}  # {len(items)} items; edit or delete lines, then give this file to `--from-log`"
    forgotten = _forgotten(events)
    starts: dict[object, Event] = {}
    judge: object = None
    for place, event in enumerate(events):
        kind = event["event"]
        begin = starts.pop(event["probe"], {}) if kind in {"end", "stopped"} else {}
        if kind == "run":
            yield from _cut_off(starts)
            yield f"# {event['at']}: a run begins"
            if event["judge"] != judge:
                judge = event["judge"]
                yield f"check {judge}  # {_check(event)}"
        elif kind == "start":
            starts[event["probe"]] = event
        elif kind in {"end", "given"}:
            yield f"{'# forgotten: ' if place in forgotten else ''}{_verdict_line({**begin, **event}, items)}"
        else:
            done = "its verdicts are forgotten" if kind == "forget" else "stopped"
            yield f"# {event['at']}: probe {event['probe']}: {done}"
    yield from _cut_off(starts)


def _forgotten(events: Sequence[Event]) -> set[int]:
    """Return the places of verdicts that a later event forgets."""
    places, probes = set(), set()
    for place in range(len(events) - 1, -1, -1):
        event = events[place]
        if event["event"] == "forget":
            probes.add(event["probe"])
        elif event["event"] in {"end", "given"} and event["probe"] in probes:
            places.add(place)
    return places


def _cut_off(starts: dict[object, Event]) -> Iterator[str]:
    """Yield what is to be said of probes that have a start and no end."""
    for probe, event in starts.items():
        yield f"# {event['at']}: probe {probe} began: {event['purpose']}; it has no end here"
    starts.clear()


def _check(event: Event) -> str:
    if event["check"] is None:
        return "no check: the build, or the lever, decides"
    return f"{event['check']}, {event['repeat']} times" if event["repeat"] != 1 else str(event["check"])


def _verdict_line(event: Event, items: Sequence[str]) -> str:
    active, seconds = str(event["active"]), event["seconds"]
    line = f"{event['verdict']} {active or _NONE} build {event['build']} check {event['check']}"
    took = f"{seconds:.1f} s" if isinstance(seconds, float) else "no time"
    said = f"probe {event['probe']}: {_named(active, items)}; {event['reason']}; {event['purpose']}"
    return f"{line}  # {event['verdict']} at {event['at']}: {said}; {took}"


def _named(active: str, items: Sequence[str]) -> str:
    """Return which items come from bad, by name where they are few."""
    from_bad = index_sets.from_text(active, len(items))
    others = [index for index in range(len(items)) if index not in from_bad]
    for few, words in ((sorted(from_bad), ""), (others, "all but ")):
        if 0 < len(few) <= _FEW:
            return f"{words}{', '.join(items[index] for index in few)} from bad"
    return f"{len(from_bad)} of {len(items)} items from bad"


def log_text(lines: Iterable[str]) -> Iterator[str]:
    """Yield the text of a log; nothing in it reaches the terminal raw."""
    return (f"{visible(line)}\n" for line in lines)


def read_log(path: str, key: JobKey, judge: Judge, *, exact: bool = True) -> list[GivenVerdict]:
    """Read the verdicts of a log, in its order; those below the line of another check are left out.

    Where outcomes are ``exact``, a mix has one verdict: an edited line stands for each look at its mix, and measured
    verdicts of that mix are left out. Else each line is the verdict of its build and check alone.

    Raises:
        SourceError: it cannot be read, a line is none of a log, or two edited lines disagree.
        UsageError: it is of another job.
    """
    text = read_document(path, max_bytes=_LARGEST).data.decode("utf-8", errors="replace")
    given: list[GivenVerdict] = []
    ours = True
    for number, written in enumerate(text.split("\n"), 1):
        body, _, comment = written.partition("#")
        line, at = body.strip(), f"{path}:{number}"
        word, _, value = line.partition(" ")
        if word == "job":
            _require_job(value.strip(), key, at)
        elif word == "check":
            ours = value.strip() == judge.name
        elif line:
            verdict = _read_line(line, comment, at, key.items)
            given += [verdict] if ours else []
    return _edits_prevail(given) if exact else given


def _edits_prevail(given: Sequence[GivenVerdict]) -> list[GivenVerdict]:
    """Have the edited verdict of a mix stand for each look at it.

    Raises:
        SourceError: a mix has two edited verdicts that disagree.
    """
    edits: dict[frozenset[int], GivenVerdict] = {}
    for each in given:
        first = edits.setdefault(each.ask.active, each) if each.edited else each
        if first.verdict is not each.verdict:
            what = f"says {each.verdict} of a mix that {first.at} says is {first.verdict}"
            raise SourceError(each.at, what, "Correct or delete one of the two lines")
    standing = [
        GivenVerdict(Ask(active, *look), edit.verdict, edit.at, edited=True)
        for active, edit in edits.items()
        for look in _LOOKS
    ]
    return [*(each for each in given if each.ask.active not in edits), *standing]


def _require_job(fingerprint: str, key: JobKey, at: str) -> None:
    if fingerprint != key.fingerprint:
        what = "is the log of another job: other items, or another build command"
        raise UsageError(at, what, "Run the command that the log is from")


def _read_line(line: str, comment: str, at: str, items: int) -> GivenVerdict:
    found = _LINE.fullmatch(line)
    if found is None:
        raise SourceError(
            at, f"is no line of a log: {line[:80]!r}", "Write `bad 0-3,7` or `good -`, or begin it with #"
        )
    try:
        active = index_sets.from_text("" if found[2] == _NONE else found[2], items)
    except ValueError as error:
        raise SourceError(at, str(error), f"Indexes ascend, from 0 to {items - 1}") from error
    measured = _MEASURED.match(comment)
    edited = measured is None or measured[1] != found[1]
    return GivenVerdict(Ask(active, int(found[3] or 0), int(found[4] or 0)), Verdict(found[1]), at, edited)
