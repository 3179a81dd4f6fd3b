"""Lines that no layout reads, judged one by one: each distinct body once, by the regex of its kind.

A body's first eight bytes say which kinds may open so (asked once per distinct beginning), a literal that the kind must
hold is looked for, and then the regex decides. What was read in a body is kept, because logs repeat many word for word;
where nothing of it is wanted but its kind, for all that differ in digits only (``alike.py``). A body that came before
need not pass the layouts for text first: where others that open like it came again, it is looked up before them.
"""

from __future__ import annotations

import math
from array import array
from functools import partial
from typing import TYPE_CHECKING, Any, AnyStr

import numpy as np

from trtforensics.parsers.lines.alike import DIGITS, DigitMinders
from trtforensics.parsers.lines.bodies import Reading, grouped
from trtforensics.parsers.lines.events import KEEP, Rows
from trtforensics.parsers.lines.interning import Memo, WordSet

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    import numpy.typing as npt

    from trtforensics.parsers.grammar.grammar import Kind
    from trtforensics.parsers.lines.bodies import Bodies
    from trtforensics.parsers.lines.events import Texts
    from trtforensics.parsers.lines.interning import Spans
    from trtforensics.parsers.text.line_index import LineIndex

    Bools = npt.NDArray[np.bool_]
    Positions = npt.NDArray[np.int64]
    _Group = list[tuple[bytes, Kind]]
    _Groups = tuple[_Group, _Group, _Group]

_KEY_BYTES = 8
_OPEN = -1
"""Instead of a body's number: that of another with other digits may be different."""
_NO_ROW = -1
_MAX_KEYS = 1 << 16
_MAX_BODIES = 1 << 16


class Dispatch:
    """Finds the kind of a body among some kinds.

    A body that two can read, as programs that share a file make them, has the one that opens literally, or that of the
    lower rank. Kinds without a rank come last, and of those the one that was found last for such a beginning first.
    """

    def __init__(self, kinds: tuple[Kind, ...], rank: dict[str, int] | None = None) -> None:
        rank = rank or {}
        kinds = tuple(sorted(kinds, key=lambda kind: rank.get(kind.name, math.inf)))
        self._literal = [kind for kind in kinds if "" not in kind.openers]
        self._order = {kind.name: place for place, kind in enumerate(kinds)}
        # Of the kinds that open with free text any beginning may be.
        free = [(_word(kind), kind) for kind in kinds if "" in kind.openers]
        self._ranked = [one for one in free if one[1].name in rank]
        self._others = [one for one in free if one[1].name not in rank]
        self._openings: dict[bytes, list[Kind]] = {}
        for kind in self._literal:
            for opener in {opener.encode("latin-1")[:_KEY_BYTES] for opener in kind.openers}:
                self._openings.setdefault(opener, []).append(kind)
        self._by_start: dict[bytes, _Groups] = {}
        self._minders = DigitMinders(kinds)

    def minds_digits(self, body: bytes) -> bool:
        """Whether a body may be of another kind than one that differs in its digits only."""
        return self._minders.may_read(body)

    def find(self, body: bytes) -> tuple[Kind, re.Match[bytes]] | None:
        """Return the kind, and what its regex found; None where no rule reads the body."""
        key = body[:_KEY_BYTES]
        groups = self._by_start.get(key)
        if groups is None:
            groups = self._candidates(key)
        for candidates in groups:
            for place, (needle, kind) in enumerate(candidates):
                if needle in body:
                    found = kind.match.fullmatch(body)
                    if found:
                        if place and candidates is groups[-1]:  # what was found will be found again
                            candidates.insert(0, candidates.pop(place))
                        return kind, found
        return None

    def _candidates(self, key: bytes) -> _Groups:
        """Return the kinds that may open so: with a literal, with free text and a rank, with free text."""
        if len(self._by_start) >= _MAX_KEYS:
            self._by_start.clear()
        if len(key) < _KEY_BYTES:
            opening = [kind for kind in self._literal if kind.can_open(key)]
        else:
            opening = [kind for size in range(1, _KEY_BYTES + 1) for kind in self._openings.get(key[:size], ())]
            opening.sort(key=lambda kind: self._order[kind.name])
        literal = [(_word(kind), kind) for kind in opening]
        groups = self._by_start[key] = literal, self._ranked, self._others.copy()
        return groups


def _word(kind: Kind) -> bytes:
    """Return what to look for in a body before its regex is asked: a text of blanks is searched slowly for blanks."""
    return max(kind.needle.encode("latin-1").split(b" "), key=len)


def named_fields(kind: Kind, values: tuple[AnyStr | None, ...]) -> dict[str, AnyStr | None]:
    """Return what was captured under its names; a name that occurs twice has the alternative that was."""
    if kind.names_are_unique:
        return dict(zip(kind.fields, values, strict=True))
    fields: dict[str, AnyStr | None] = {}
    for name, value in zip(kind.fields, values, strict=True):
        if value is not None or name not in fields:
            fields[name] = value
    return fields


class SingleReader:
    """Reads bodies; remembers what it read in each from window to window.

    ``indented``: blanks before the body count for nothing.
    """

    def __init__(self, dispatch: Dispatch, texts: Texts, *, indented: bool) -> None:
        self._dispatch = dispatch
        self._texts = texts
        self._indented = indented
        self._forget()

    def _forget(self) -> None:
        self._memo = Memo()
        self._alike = Memo(DIGITS)
        """Of bodies whose digits do not matter; _OPEN for the others."""
        self._openings = WordSet()
        """The first eight bytes of bodies that came again."""
        self._kinds: dict[str | None, int] = {}
        """Every kind that was read, with its number."""
        self._tables: dict[str, Rows] = {}
        """What was read in the bodies of each kind of which anything is kept."""
        self._kind_of = array("i")
        """By body: the number of its kind."""
        self._row_of = array("i")
        """By body: its row in the table of its kind; _NO_ROW where nothing is kept."""

    def recall(self, bodies: Bodies, wanted: Bools) -> Iterator[Reading]:
        """Give what was read before in the ``wanted`` bodies that are known: not of all, where that would take long."""
        lines = np.flatnonzero(wanted)
        lines = lines.compress(self._openings.holds(bodies.openings[lines]))
        for memo in self._memo, self._alike:
            numbers, known = memo.known(bodies.index, bodies.spans(lines))
            known &= numbers != _OPEN
            yield from self._by_kind(lines[known], numbers[known])
            lines = lines[~known]

    def read(self, bodies: Bodies, wanted: Bools) -> Iterator[Reading]:
        """Give what is read in the ``wanted`` bodies, kind by kind, each in their order."""
        if len(self._kind_of) > _MAX_BODIES:
            self._forget()
        lines, before = np.flatnonzero(wanted), len(self._kind_of)
        numbers = self._memo.values(bodies.index, bodies.spans(lines), partial(self._of_new, bodies.index))
        again = (numbers < before) | (np.bincount(numbers, minlength=1)[numbers] > 1)
        self._openings.add(bodies.openings[lines[again]])
        yield from self._by_kind(lines, numbers)

    def _by_kind(self, lines: Positions, bodies: npt.NDArray[np.int32]) -> Iterator[Reading]:
        """Give what was read in the bodies of these numbers, which stand in these lines."""
        names = list(self._kinds)
        for number, rows in grouped(np.frombuffer(self._kind_of, np.int32)[bodies], len(names)):
            kind = names[number]
            yield Reading(kind, lines[rows], self._columns(kind, bodies[rows]))

    def _of_new(self, index: LineIndex, spans: Spans) -> list[int]:
        """Return the number of each of these bodies, none of which was read before."""
        judged: dict[bytes, int] = {}
        numbers = self._alike.values(
            index, spans, lambda new: [self._of_alike(body, judged) for body in new.texts(index.data)]
        )
        left = np.flatnonzero(numbers == _OPEN)
        bodies = spans.of(left).texts(index.data)
        numbers[left] = [judged[body] if body in judged else self._judge(body) for body in bodies]
        known: list[int] = numbers.tolist()
        return known

    def _of_alike(self, body: bytes, judged: dict[bytes, int]) -> int:
        """Judge a body; return its number if it is that of all bodies with other digits, too."""
        number = judged[body] = self._judge(body)
        keeps = self._row_of[number] != _NO_ROW
        return _OPEN if keeps or self._dispatch.minds_digits(self._own(body)) else number

    def _columns(self, kind: str | None, bodies: npt.NDArray[np.int32]) -> dict[str, npt.NDArray[Any]]:
        if kind not in self._tables:
            return {}
        rows = np.frombuffer(self._row_of, np.int32)[bodies]
        columns = self._tables[kind].columns
        return {name: np.frombuffer(column, column.typecode)[rows] for name, column in columns.items()}

    def _judge(self, body: bytes) -> int:
        """Find a body's kind and read its fields; return the body's number."""
        found = self._dispatch.find(self._own(body))
        name, row = None, _NO_ROW
        if found is not None:
            kind, match = found
            name = kind.name
            if name in KEEP:
                row = self._keep(name, named_fields(kind, match.groups()))
        self._kind_of.append(self._kinds.setdefault(name, len(self._kinds)))
        self._row_of.append(row)
        return len(self._kind_of) - 1

    def _own(self, body: bytes) -> bytes:
        return body.lstrip(b" ") if self._indented else body

    def _keep(self, kind: str, fields: dict[str, bytes | None]) -> int:
        """Put fields into the table of their kind; return the row."""
        table = self._tables.get(kind)
        if table is None:
            table = self._tables[kind] = Rows(kind, self._texts)
        row = len(table.lines)
        table.add(row, fields)
        return row
