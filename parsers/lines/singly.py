"""Judges the lines that no layout reads: each distinct body once, by the regex of its kind.

The first eight bytes of a body, behind blanks, say which kinds may begin so (worked out once per distinct beginning).
Then the body must hold a literal of the kind, and then the regex decides. The result is kept for each body, because
logs repeat many lines word for word.
"""

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from trtforensics.model.arrays import Bools, Numbers
from trtforensics.parsers.grammar.line_kinds import LineKind, named_fields
from trtforensics.parsers.lines.events import EventColumns, Texts
from trtforensics.parsers.lines.interning import Memo
from trtforensics.parsers.lines.prefixes import Bodies, KindRows, grouped

_Candidates = list[tuple[bytes, LineKind]]
"""Kinds, each with a word that every body of it holds."""

_KEY_BYTES = 8
_NO_ROW = -1
_MAX_KEYS = 1 << 16
_MAX_BODIES = 1 << 16
_IMPORTER = re.compile(rb"(?:\S*[/\\])?(?:\w*[iI]mporter\w*|onnx\w*_utils|ShapedWeights|\w+Helpers)\.[ch]pp:[0-9]+: ")
"""The file and line that TensorRT 7's importer puts before each of its messages."""


class Dispatch:
    """Finds the kind of a body among some kinds; one serves all logs.

    Where two kinds can read a body, the kind that opens with a literal comes first, then the kind of the lower rank,
    then the kinds without a rank.
    """

    def __init__(self, kinds: Iterable[LineKind], rank: Mapping[str, int] | None = None) -> None:
        rank = rank or {}
        ordered = sorted(kinds, key=lambda kind: ("" in kind.openers, rank.get(kind.name, math.inf)))
        self._by_text: dict[str, list[tuple[int, LineKind]]] = {}
        """Kinds, with their places in the order, by how their bodies begin behind blanks."""
        for place, kind in enumerate(ordered):
            for start in kind.starts:
                self._by_text.setdefault(start, []).append((place, kind))
        self._by_start: dict[bytes, _Candidates] = {}

    def find(self, body: bytes) -> tuple[LineKind, re.Match[bytes]] | None:
        """Return the kind and the match of its regex; None where no rule reads the body."""
        key = body.lstrip(b" ")[:_KEY_BYTES]
        candidates = self._by_start.get(key)
        if candidates is None:
            candidates = self._of_key(key)
        for word, kind in candidates:
            if word in body:
                match = kind.match.fullmatch(body)
                if match:
                    return kind, match
        return None

    def _of_key(self, key: bytes) -> _Candidates:
        if len(self._by_start) >= _MAX_KEYS:
            self._by_start.clear()
        text = key.decode("latin-1")
        placed = dict(each for size in range(len(text) + 1) for each in self._by_text.get(text[:size], ()))
        ordered = sorted(placed.items(), key=itemgetter(0))
        candidates = self._by_start[key] = [(kind.word, kind) for _, kind in ordered]
        return candidates


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
        numbers = self._memo.values(
            bodies.index, bodies.spans(lines), lambda new: list(map(self._judge, new.texts(bodies.index.data)))
        )
        names = list(self._kinds)
        for number, rows in grouped(np.frombuffer(self._kind_of, np.int32)[numbers], len(names)):
            kind = names[number]
            yield KindRows(kind, lines[rows], self._columns(kind, numbers[rows]))

    def _columns(self, kind: str | None, bodies: Numbers) -> dict[str, npt.NDArray[Any]]:
        if kind not in self._tables:
            return {}
        rows = np.frombuffer(self._row_of, np.int32)[bodies]
        table = self._tables[kind]
        return {name: table.stored(name)[rows] for name in table.names}

    def _judge(self, body: bytes) -> int:
        """Find a body's kind and read its fields; return the body's number."""
        text = body.lstrip(b" ") if self._indented else body
        site = _IMPORTER.match(text)
        matched = (self._dispatch.find(text[site.end() :]) if site else None) or self._dispatch.find(text)
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
        table = self._tables.get(kind)
        if table is None:
            table = self._tables[kind] = EventColumns(kind, self._texts)
        row = len(table.lines)
        table.add(row, fields)
        return row
