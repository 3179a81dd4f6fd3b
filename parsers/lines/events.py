"""What was read of the lines of a log: its events in columns, and what counts of its lines.

A kind of line has a table, sorted by line, and never an object a row. The grammar says which kinds and fields are kept
(the directives of ``common.lark``); lines of every other kind are only counted. A field's name decides its type: 64-bit
tactic ids, durations, integers, and for everything else an index into one pool of texts. So a name that a log prints a
thousand times is stored once.

Any line feed is a safe place to cut a log, because everything that a line means for another one is worked out later,
from columns. The exceptions are the few facts that a scanner carries from line to line, which
:meth:`ScannedLines.join` sets right.
"""

from __future__ import annotations

import ctypes
import math
import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field
from itertools import islice
from operator import add
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from trtforensics.model.arrays import Positions
from trtforensics.model.span import LineCounts
from trtforensics.model.timings import NO_TACTIC
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.lines.dialects import DIALECTS
from trtforensics.parsers.lines.unread import ASIDES, Drift
from trtforensics.parsers.text.numbers import LONGEST_WHOLE

_NOTED_BY_SCANNER: dict[str, tuple[str, ...]] = {
    "message": ("severity", "text"),
    "untyped": ("severity", "text"),
    "dialect": ("dialect",),
    "resumed": (),
    "layer_name": ("name",),
    "blank": (),
    "other": (),
}
"""What the scanner notes about lines of any kind, or of none."""

KEPT = {kind.name: kind.kept for kind in tables.kinds() if kind.kept is not None} | _NOTED_BY_SCANNER | ASIDES
"""The kept fields of each kind whose lines are kept."""

_ALL_BITS = (1 << 64) - 1
NO_TEXT = -1
NO_INTEGER = -(1 << 63)
_ENDLESS = 3.4e38
"""TensorRT 7 prints the largest float for a tactic that did not run."""


class Texts:
    """The pool of texts: each text of a kept field once. Undecodable bytes become replacement characters."""

    def __init__(self, raw: Iterable[bytes] = ()) -> None:
        self._ids: dict[bytes, int] = {text: number for number, text in enumerate(raw)}
        self._texts: list[str] = []
        """The texts that were decoded so far."""

    def id(self, raw: bytes) -> int:
        """Return the index of a text, new or known."""
        return self._ids.setdefault(raw, len(self._ids))

    def ids(self, raws: Iterable[bytes]) -> list[int]:
        """Return the indexes of texts, new or known."""
        ids = self._ids
        return [ids.setdefault(raw, len(ids)) for raw in raws]

    def __getitem__(self, index: int) -> str:
        return self._texts[index] if index < len(self._texts) else self.all()[index]

    def __len__(self) -> int:
        return max(len(self._ids), len(self._texts))

    def raw(self) -> list[bytes]:
        """The texts as they stand in the log, in the order of their indexes."""
        return list(self._ids)

    def __reduce__(self) -> tuple[type[Texts], tuple[list[bytes]]]:
        """Be sent to another process as the log has them."""
        return Texts, (self.raw(),)

    def close(self) -> None:
        """Keep the texts as they are shown alone: none comes any more."""
        self.all()
        self._ids.clear()

    def all(self) -> list[str]:
        """The pool itself, for columns that keep indexes into it."""
        if len(self._texts) < len(self._ids):
            self._texts.extend(raw.decode("utf-8", "replace") for raw in islice(self._ids, len(self._texts), None))
        return self._texts


def tactic_id(raw: bytes) -> int:
    """Read a tactic id, hexadecimal or signed decimal, as an unsigned 64-bit integer; NO_TACTIC for a longer one."""
    if raw[:2] == b"0x":
        return int(raw, 16) & _ALL_BITS
    return int(raw) & _ALL_BITS if len(raw) <= LONGEST_WHOLE + 1 else NO_TACTIC  # a minus and the digits


def duration(raw: bytes) -> float:
    """Read a number; one that is not finite (``inf``, ``nan``, 3.40282e+38) becomes NaN, which means "none"."""
    value = float(raw)
    return value if -_ENDLESS < value < _ENDLESS else math.nan


def integer(raw: bytes) -> int:
    """Read a count; NO_INTEGER for one beyond 64 bits, which no TensorRT prints."""
    value = int(raw) if len(raw) <= LONGEST_WHOLE else NO_INTEGER
    return value if -(1 << 63) <= value < 1 << 63 else NO_INTEGER


def tactic_or_none(value: int) -> int | None:
    """Read a tactic id as it is stored."""
    return None if value == NO_TACTIC else value


def integer_or_none(value: int) -> int | None:
    """Read a count as it is stored."""
    return None if value == NO_INTEGER else value


def duration_or_none(value: float) -> float | None:
    """Read a number as it is stored."""
    return None if math.isnan(value) else value


_MANY = 20_000
"""Lines of a log that leaves memory worth searching the heap for."""
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None


def give_back(lines: int) -> None:
    """Give memory that a log of many lines has freed back to the system: glibc keeps what lies between used blocks."""
    if _trim is not None and lines >= _MANY:
        _trim(0)


class ColumnType(NamedTuple):
    """How a field is stored: the code of its array, what stands for "not printed", what reads it, what reads it back.

    A text is stored as its index in the pool, which reads it.
    """

    code: str
    missing: float
    read: Callable[[bytes], float] | None = None
    shown: Callable[[Any], float | None] | None = None


TEXT = ColumnType("i", NO_TEXT)
TACTIC = ColumnType("Q", NO_TACTIC, tactic_id, tactic_or_none)
INTEGER = ColumnType("q", NO_INTEGER, integer, integer_or_none)
DURATION = ColumnType("d", math.nan, duration, duration_or_none)
_TYPES = {
    **dict.fromkeys(("tactic", "hash"), TACTIC),
    **dict.fromkeys(("available", "count", "hits", "requested", "splits", "strategy"), INTEGER),
    **dict.fromkeys(("ms", "seconds", "number", "max_ms", "mean_ms", "median_ms", "total_ms", "average_ms"), DURATION),
    **dict.fromkeys(("host_ms", "end_ms", "enqueue_ms"), DURATION),
    **dict.fromkeys(("percent", "mean_error", "max_error", "min_value", "max_value"), DURATION),
}


def column_type(name: str) -> ColumnType:
    """Return how a field is stored, by its name."""
    return _TYPES.get(name, TEXT)


class EventColumns:
    """The rows of one kind: their lines, and a typed column for each kept field that a line has printed."""

    def __init__(self, kind: str, texts: Texts) -> None:
        self.names = KEPT[kind]
        self.lines = array("q")
        self.columns: dict[str, array[Any]] = {}
        self._texts = texts
        self._types = [(name, column_type(name)) for name in self.names]

    def add(self, line: int, fields: Mapping[str, bytes | None]) -> None:
        """Append a row."""
        for name, column_type in self._types:
            raw = fields.get(name)
            if raw is not None:
                self._column(name, column_type).append((column_type.read or self._texts.id)(raw))
            elif name in self.columns:
                self.columns[name].append(column_type.missing)
        self.lines.append(line)

    def extend(self, lines: Positions, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """Append many rows; none of the lines prints a field that is not in ``columns``."""
        for name, column_type in self._types:
            if name in columns:
                self._column(name, column_type).frombytes(np.ascontiguousarray(columns[name]).view(np.uint8).data)
            elif name in self.columns:
                self.columns[name].extend(_missing(column_type, len(lines)))
        self.lines.frombytes(np.ascontiguousarray(lines, np.int64).view(np.uint8).data)

    def _column(self, name: str, column_type: ColumnType) -> array[Any]:
        """Return a column, which begins with the rows so far where none of them printed its field."""
        if name not in self.columns:
            self.columns[name] = _missing(column_type, len(self.lines))
        return self.columns[name]

    def delete(self, row: int) -> None:
        """Remove a row."""
        for column in (self.lines, *self.columns.values()):
            del column[row]

    def sort(self, since: int) -> None:
        """Sort the rows from index ``since`` on by line; each reader added its own."""
        order = np.argsort(np.frombuffer(self.lines[since:], np.int64), kind="stable")
        if (order[1:] >= order[:-1]).all():
            return
        for column in (self.lines, *self.columns.values()):
            values = np.frombuffer(column[since:], column.typecode)[order].tobytes()
            del column[since:]
            column.frombytes(values)

    def values(self, name: str, span: range) -> list[Any]:
        """Return a field of some rows: text, int or float, or None where the line does not print it."""
        if name not in self.columns:
            return [None] * len(span)
        values = self.columns[name][span.start : span.stop]
        shown = column_type(name).shown
        if shown is not None:
            return list(map(shown, values))
        texts = self._texts.all()
        return [None if value == NO_TEXT else texts[value] for value in values]

    def stored_lines(self) -> Positions:
        """Return the lines of all rows. Copy them if more rows may come: a column that is looked at cannot grow."""
        return np.frombuffer(self.lines, np.int64)

    def stored(self, name: str) -> npt.NDArray[Any]:
        """Return a field of all rows as it is stored, to be copied like :meth:`stored_lines`."""
        column = self.columns.get(name)
        if column is None:
            missing = column_type(name)
            return np.ndarray(len(self.lines), missing.code, np.array(missing.missing, missing.code), strides=(0,))
        return np.frombuffer(column, column.typecode)


def _missing(column_type: ColumnType, count: int) -> array[Any]:
    """Return a column of rows that do not print its field."""
    return array(column_type.code, [column_type.missing]) * count


class Events:
    """All tables of a log."""

    def __init__(self, texts: Texts | None = None) -> None:
        self.texts = Texts() if texts is None else texts
        self._rows: dict[str, EventColumns] = {}
        """The tables that were asked for: a log has rows of few kinds."""
        self.closed = False

    def __getitem__(self, kind: str) -> EventColumns:
        rows = self._rows.get(kind)
        if rows is None:
            rows = self._rows[kind] = EventColumns(kind, self.texts)
        return rows

    def close(self) -> None:
        """Give memory back, because no line comes any more: the columns may be looked at where they are."""
        self.closed = True
        self.texts.close()
        give_back(sum(self.sizes().values()))

    def only(self, kinds: Iterable[str]) -> Events:
        """Return some tables without the others."""
        some = Events(self.texts)
        some._rows |= {kind: self._rows[kind] for kind in kinds if kind in self._rows}
        return some

    def between(self, first: int, last: int) -> dict[str, range]:
        """Return which rows are on these lines, both ends included, of each kind that has any."""
        tables = list(self._rows.items())  # at once: another thread may ask for a further table
        limits = ((kind, bisect_left(rows.lines, first), bisect_right(rows.lines, last)) for kind, rows in tables)
        return {kind: range(low, high) for kind, low, high in limits if low < high}

    def __reduce__(self) -> tuple[object, ...]:
        """Be sent to another process table by table; what is sent is given up here, for both hold a log at once."""
        sent = ((kind, self._rows.pop(kind)) for kind in list(self._rows))
        tables = ((kind, (rows.lines, rows.columns)) for kind, rows in sent if rows.lines)
        return Events, (self.texts,), None, None, tables

    def __setitem__(self, kind: str, stored: tuple[array[int], dict[str, array[Any]]]) -> None:
        """Take a table that was sent."""
        self[kind].lines, self[kind].columns = stored

    def extend(self, later: Events, shift: int) -> None:
        """Take another's rows, ``shift`` lines further down; its texts get the ids they have here."""
        ids = np.array([*(self.texts.id(text) for text in later.texts.raw()), NO_TEXT], np.int32)  # index -1 is NO_TEXT
        for kind in list(later._rows):
            rows = later._rows.pop(kind)
            values = {name: np.frombuffer(column, column.typecode) for name, column in rows.columns.items()}
            moved = {name: ids[v] if v.dtype == np.int32 else v for name, v in values.items()}
            self[kind].extend(np.frombuffer(rows.lines, np.int64) + shift, moved)

    def sizes(self) -> dict[str, int]:
        """Return how many rows each kind has."""
        return {kind: len(rows.lines) for kind, rows in self._rows.items()}

    def sort(self, before: Mapping[str, int]) -> None:
        """Sort the rows that were added since ``before`` by line."""
        for kind, rows in self._rows.items():
            since = before.get(kind, 0)
            if len(rows.lines) > since + 1:
                rows.sort(since)


@dataclass(slots=True)
class ScannedLines:
    """The lines of a log, or of a part of one whose lines are counted from 1."""

    events: Events = field(default_factory=Events)
    drift: Drift = field(default_factory=Drift)
    """The lines that no rule reads."""
    line_starts: array[int] = field(default_factory=lambda: array("q"))
    """The byte where each line begins in the log."""
    counts: LineCounts = field(default_factory=LineCounts)
    """The lines so far, each in one class."""
    recognised: bool = False
    """Whether any line is TensorRT's or trtexec's beyond doubt."""
    mentioned: bool = False
    """Whether a line that no rule reads names TensorRT or something of it."""
    dialect: int = -1
    """The logger of the last line that has a prefix, as its place in DIALECTS; -1 before the first."""
    after_verdict: bool = False
    """Whether the last banner is a verdict and no logger wrote behind it."""
    first_said: int | None = None
    """The first line with a prefix and text."""
    first_own: int | None = None
    """The first of these that no other program can have printed: its prefix is TensorRT's, or a rule reads it."""
    first_banner: int | None = None

    def join(self, later: ScannedLines) -> None:
        """Take over the lines that follow, the first of which carries a prefix."""
        shift = len(self.line_starts)
        before = self.events.sizes()
        self.events.extend(later.events, shift)
        if later.first_said is not None and later.dialect >= 0 and self.dialect >= 0:
            rows, row = self.events["dialect"], before.get("dialect", 0)  # at the cut both may have the same logger
            if rows.values("dialect", range(row, row + 1)) == [DIALECTS[self.dialect]]:
                rows.delete(row)
        resumed = later.first_own
        if self.after_verdict and resumed is not None and (later.first_banner is None or resumed < later.first_banner):
            self.events["resumed"].add(resumed + shift, {})
            self.events.sort(before)
        self.drift.join(later.drift, shift)
        self.line_starts.extend(later.line_starts)
        self.counts = LineCounts(*map(add, astuple(self.counts), astuple(later.counts)))
        self.recognised = self.recognised or later.recognised
        self.mentioned = self.mentioned or later.mentioned
        self.dialect, self.after_verdict = later.dialect, later.after_verdict
