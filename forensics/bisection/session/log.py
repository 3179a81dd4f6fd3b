"""The history of a directory as a person reads it.

A line is a verdict, the items from bad as indexes (``-``: none), and which build and check of them it was; a ``#``
begins a comment. ``job`` and ``check`` lines say what the verdicts below them belong to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisection.session.history import indexes_of
from trtforensics.console.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.bisection.session.history import Event, JobKey

_FEW = 3
_NONE = "-"


def log_text(events: Sequence[Event], key: JobKey, items: Sequence[str]) -> Iterator[str]:
    """Yield the text of a log, in the order of the events; nothing in it reaches the terminal raw.

    Raises:
        KeyError: an event lacks a field.
    """
    return (f"{visible(line)}\n" for line in _lines(events, key, items))


def _lines(events: Sequence[Event], key: JobKey, items: Sequence[str]) -> Iterator[str]:
    yield f"job {key.fingerprint}  # {len(items)} items"
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
    comment = f"probe {event['probe']}: {_named(active, items)}; {event['reason']}; {event['purpose']}"
    return f"{line}  # {event['verdict']} at {event['at']}: {comment}; {took}"


def _named(active: str, items: Sequence[str]) -> str:
    """Return which items come from bad, by name where they are few."""
    from_bad = indexes_of(active, len(items))
    others = [index for index in range(len(items)) if index not in from_bad]
    for few, words in ((sorted(from_bad), ""), (others, "all but ")):
        if 0 < len(few) <= _FEW:
            return f"{words}{', '.join(items[index] for index in few)} from bad"
    return f"{len(from_bad)} of {len(items)} items from bad"
