"""The journal: one line for each start and each end of a probe, flushed to the disk before the session goes on.

A line is a JSON object. It begins with ``schema``, the ``length`` in bytes of what follows ``sum``, and ``sum``, the
first 16 hex digits of that part's SHA-256; then come its number and the fingerprint of the job. So every changed byte
shows, as do lines that are missing or stand elsewhere. A last line without a line feed was cut by a crash and does not
count.

As a person reads it, a line is a verdict, the items from bad as indexes (``-``: none), and which build and check of
them it was; a ``#`` begins a comment. ``job`` and ``check`` lines say what the verdicts below them belong to.
"""

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime, timezone
from pathlib import Path

from trtforensics.bisection.runner.command import write_whole
from trtforensics.bisection.session.history import Event, History, JobKey, indexes_of
from trtforensics.console.output import explained
from trtforensics.console.own_files import flush_folder, open_own, read_own
from trtforensics.console.terminal import visible
from trtforensics.errors import SourceError
from trtforensics.parsers.text.document import check_json

NAME = "journal.jsonl"
SCHEMA = 2

_FEW = 3
_NONE = "-"
_HEAD = re.compile(rb'\{"schema":(\d{1,4}),"length":(\d{1,9}),"sum":"([0-9a-f]{16})",')
_SCHEMA_1 = re.compile(rb'\{"event": "\w+", "at": "')


class Journal(AbstractContextManager["Journal"]):
    """The journal of a directory whose lock is held; ``history`` holds its events, those of this run included."""

    def __init__(self, directory: Path, key: JobKey) -> None:
        self._path = directory / NAME
        self._fingerprint = key.fingerprint
        self.history, self._lines, self._size = _read(self._path, key)
        self._broken = False
        with explained(str(self._path)):
            self._descriptor = open_own(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                self._cut()
                flush_folder(directory)
            except OSError:
                os.close(self._descriptor)
                raise

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def write(self, event: str, **fields: object) -> None:
        """Append an event and flush it to the disk; where that fails, it leaves no trace, and an OutputError."""
        at = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        record = {"line": self._lines + 1, "job": self._fingerprint, "event": event, "at": at, **fields}
        data = _line(record)
        with explained(str(self._path)):
            if self._broken:
                raise OSError(errno.EIO, "an earlier write failed and could not be taken back")
            try:
                write_whole(self._descriptor, data)
                os.fdatasync(self._descriptor)
            except OSError:
                self._broken = True
                with suppress(OSError):
                    self._cut()
                    self._broken = False
                raise
        self._lines += 1
        self._size += len(data)
        self.history.apply(record)

    def _cut(self) -> None:
        os.ftruncate(self._descriptor, self._size)
        os.fdatasync(self._descriptor)


def read_journal(directory: Path, key: JobKey) -> History:
    """Return the history of a directory, empty without a journal; a SourceError where a line is damaged."""
    return _read(directory / NAME, key)[0]


def read_events(directory: Path, key: JobKey) -> Iterator[Event]:
    """Yield the events of a directory; a SourceError after those before a line that is damaged, or another job's."""
    path = directory / NAME
    try:
        yield from _events(path, read_own(path), History(key.items), key)
    except FileNotFoundError:
        return


def event_json(event: Event) -> str:
    """Return an event as a line of JSON: its schema is the journal's."""
    return f"{json.dumps({'schema': SCHEMA, 'kind': 'event', **event})}\n"


def _read(path: Path, key: JobKey) -> tuple[History, int, int]:
    """Return the history, the number of whole lines, and their bytes."""
    history = History(key.items)
    try:
        data = read_own(path)
    except FileNotFoundError:
        return history, 0, 0
    lines = sum(1 for _ in _events(path, data, history, key))
    return history, lines, data.rfind(b"\n") + 1


def _events(path: Path, data: bytes, history: History, key: JobKey) -> Iterator[Event]:
    """Yield the events of whole lines, and apply them to the history."""
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].split(b"\n")[:-1], 1):
        try:
            record = _record(line, f"{path}:{number}")
            _require_place(record, number, key)
            history.apply(record)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise _damage(path, number, line, error, history) from error
        yield record


def _line(record: dict[str, object]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    rest = text[1:].encode(errors="backslashreplace")  # in JSON, a lone surrogate is spelt just so
    return b'{"schema":%d,"length":%d,"sum":"%s",%s\n' % (SCHEMA, len(rest), _sum(rest), rest)


def _record(line: bytes, at: str) -> dict[str, object]:
    head = _HEAD.match(line)
    if head is None:
        raise ValueError("it does not begin as a line of a journal does")
    rest = line[head.end() :]
    if int(head[1]) != SCHEMA:
        raise ValueError(f"it is of schema {int(head[1])}, not {SCHEMA}")
    if int(head[2]) != len(rest) or head[3] != _sum(rest):
        raise ValueError("its checksum does not match")
    check_json(b"{" + rest, at, "Name a new `--artifacts-dir`")
    record = json.loads(b"{" + rest)
    if not isinstance(record, dict):
        raise TypeError(record)
    return record


def _require_place(record: dict[str, object], number: int, key: JobKey) -> None:
    if record["job"] != key.fingerprint:
        raise ValueError("it was written for another job")
    if record["line"] != number:
        raise ValueError(f"it is line {record['line']} of the journal: lines are missing or were moved")


def _damage(path: Path, number: int, line: bytes, error: Exception, history: History) -> SourceError:
    if number == 1 and _SCHEMA_1.match(line):
        what = f"is a journal of schema 1, from an earlier version of trtforensics; this one reads schema {SCHEMA}"
        return SourceError(str(path), what, "Name a new `--artifacts-dir`")
    why = str(error) if isinstance(error, ValueError) else f"it is no event ({type(error).__name__}: {error})"
    judged = sum(bool(probe.finished) for probe in history.probes.values())
    what = f"is damaged: {why}; the {number - 1} lines before it are whole (probes judged there: {judged})"
    keep = "Restore the file, or name a new `--artifacts-dir`"
    if judged:
        keep = f"Keep only those lines (`head -n {number - 1}` prints them), or name a new `--artifacts-dir`"
    return SourceError(f"{path}:{number}", what, keep)


def _sum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest()[:16].encode()


def log_text(events: Sequence[Event], key: JobKey, items: Sequence[str]) -> Iterator[str]:
    """Yield the text of a log, in the order of the events; nothing in it reaches the terminal raw."""
    return (f"{visible(line)}\n" for line in _log_lines(events, key, items))


def _log_lines(events: Sequence[Event], key: JobKey, items: Sequence[str]) -> Iterator[str]:
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
