"""Judges the lines that no layout reads: each distinct body once, by the regex of its kind.

The first eight bytes of a body say which kinds may open so (worked out once per distinct beginning). Then the body must
hold a literal of the kind, and then the regex decides. The result is kept for each body, because logs repeat many lines
word for word.
"""

from __future__ import annotations

import math
import re
from array import array
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.parsers.grammar.line_kinds import named_fields
from trtforensics.parsers.lines.bodies import KindRows, grouped
from trtforensics.parsers.lines.events import EventColumns
from trtforensics.parsers.lines.interning import Memo

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from trtforensics.parsers.grammar.line_kinds import LineKind
    from trtforensics.parsers.lines.bodies import Bodies
    from trtforensics.parsers.lines.events import Texts
    from trtforensics.parsers.lines.interning import TextSpans
    from trtforensics.parsers.text.line_index import LineIndex

    Bools = npt.NDArray[np.bool_]
    Positions = npt.NDArray[np.int64]
    _Candidates = list[tuple[bytes, LineKind]]
    """Kinds, each with a word that every body of it holds."""

_KEY_BYTES = 8
_NO_ROW = -1
_MAX_KEYS = 1 << 16
_MAX_BODIES = 1 << 16


class Dispatch:
    """Finds the kind of a body among some kinds; one serves all logs.

    Where two kinds can read a body, the kind that opens with a literal comes first, then the kind of the lower rank,
    then the kinds without a rank.
    """

    def __init__(self, kinds: tuple[LineKind, ...], rank: dict[str, int] | None = None) -> None:
        rank = rank or {}
        kinds = tuple(sorted(kinds, key=lambda kind: rank.get(kind.name, math.inf)))
        self._literal = [kind for kind in kinds if "" not in kind.openers]
        self._order = {kind.name: place for place, kind in enumerate(kinds)}
        # A kind that opens with free text may have any beginning.
        free = [(_word(kind), kind) for kind in kinds if "" in kind.openers]
        self._ranked = [(word, kind) for word, kind in free if kind.name in rank]
        self._others = [(word, kind) for word, kind in free if kind.name not in rank]
        words = sorted({re.escape(word) for word, _ in self._ranked})
        self._may_be_ranked = re.compile(b"|".join(words)).search
        """Most bodies hold none of these words: one search for all is several times as fast as one for each."""
        self._openings: dict[bytes, list[LineKind]] = {}
        for kind in self._literal:
            for opener in {opener.encode("latin-1")[:_KEY_BYTES] for opener in kind.openers}:
                self._openings.setdefault(opener, []).append(kind)
        self._by_start: dict[bytes, _Candidates] = {}

    def find(self, body: bytes) -> tuple[LineKind, re.Match[bytes]] | None:
        """Return the kind and the match of its regex; None where no rule reads the body."""
        key = body[:_KEY_BYTES]
        opening = self._by_start.get(key)
        if opening is None:
            opening = self._opening(key)
        matched = _first_match(opening, body)
        if matched is None and self._may_be_ranked(body.lstrip(b" ")):
            matched = _first_match(self._ranked, body)
        return matched or _first_match(self._others, body)

    def _opening(self, key: bytes) -> _Candidates:
        """Return the kinds with a literal that opens so."""
        if len(self._by_start) >= _MAX_KEYS:
            self._by_start.clear()
        if len(key) < _KEY_BYTES:
            opening = [kind for kind in self._literal if kind.can_open(key)]
        else:
            opening = [kind for size in range(1, _KEY_BYTES + 1) for kind in self._openings.get(key[:size], ())]
            opening.sort(key=lambda kind: self._order[kind.name])
        candidates = self._by_start[key] = [(_word(kind), kind) for kind in opening]
        return candidates


def _first_match(candidates: _Candidates, body: bytes) -> tuple[LineKind, re.Match[bytes]] | None:
    for word, kind in candidates:
        if word in body:
            match = kind.match.fullmatch(body)
            if match:
                return kind, match
    return None


def _word(kind: LineKind) -> bytes:
    """Return a literal of every body, to be looked for before the regex runs; without blanks, which are everywhere."""
    return max(kind.needle.encode("latin-1").split(b" "), key=len)


class SingleReader:
    """Reads bodies, and remembers the result of each from window to window.

    Where ``indented`` is true, blanks in front of a body are ignored.
    """

    def __init__(self, dispatch: Dispatch, texts: Texts, *, indented: bool) -> None:
        self._dispatch = dispatch
        self._texts = texts
        self._indented = indented
        self._forget()

    def _forget(self) -> None:
        self._memo = Memo()
        self._kinds: dict[str | None, int] = {}
        """A number for each kind that was read."""
        self._tables: dict[str, EventColumns] = {}
        """The fields of the bodies of each kind that is kept."""
        self._kind_of = array("i")
        """The number of each body's kind."""
        self._row_of = array("i")
        """The row of each body in the table of its kind; _NO_ROW where the kind is not kept."""

    def read(self, bodies: Bodies, wanted: Bools) -> Iterator[KindRows]:
        """Read the ``wanted`` bodies; give them kind by kind, each in the order of the lines."""
        if len(self._kind_of) > _MAX_BODIES:
            self._forget()
        lines = np.flatnonzero(wanted)
        numbers = self._memo.values(bodies.index, bodies.spans(lines), partial(self._of_new, bodies.index))
        names = list(self._kinds)
        for number, rows in grouped(np.frombuffer(self._kind_of, np.int32)[numbers], len(names)):
            kind = names[number]
            yield KindRows(kind, lines[rows], self._columns(kind, numbers[rows]))

    def _of_new(self, index: LineIndex, spans: TextSpans) -> list[int]:
        """Judge bodies that were not read before; return the number of each."""
        return list(map(self._judge, spans.texts(index.data)))

    def _columns(self, kind: str | None, bodies: npt.NDArray[np.int32]) -> dict[str, npt.NDArray[Any]]:
        if kind not in self._tables:
            return {}
        rows = np.frombuffer(self._row_of, np.int32)[bodies]
        columns = self._tables[kind].columns
        return {name: np.frombuffer(column, column.typecode)[rows] for name, column in columns.items()}

    def _judge(self, body: bytes) -> int:
        """Find a body's kind and read its fields; return the body's number."""
        matched = self._dispatch.find(body.lstrip(b" ") if self._indented else body)
        name, row = None, _NO_ROW
        if matched is not None:
            kind, match = matched
            name = kind.name
            if kind.kept is not None:
                row = self._keep(name, named_fields(kind, match.groups()))
        self._kind_of.append(self._kinds.setdefault(name, len(self._kinds)))
        self._row_of.append(row)
        return len(self._kind_of) - 1

    def _keep(self, kind: str, fields: dict[str, bytes | None]) -> int:
        """Put fields into the table of their kind; return the row."""
        table = self._tables.get(kind)
        if table is None:
            table = self._tables[kind] = EventColumns(kind, self._texts)
        row = len(table.lines)
        table.add(row, fields)
        return row
