"""Reads the bulk kinds of a whole window at once, by their layouts.

A layout is tried on all lines that open with its literal. The places of its other anchors are computed, each literal is
compared there, and each number is checked. A text is looked up (``interning.py``); when it is new, the regex of its
terminals must match exactly this text. A line that fails any check is left for the regex of its kind
(``singly.py``), so the grammar stays the only judge.

Programs that share a file run lines into each other, and then two kinds can read a line. It belongs to the kind of the
lower rank, whichever way it is read. So a line with all anchors of a layout but texts that do not fit is left for the
regex too.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from trtforensics.model.arrays import Bools, Positions, Words
from trtforensics.model.older_python import compiled
from trtforensics.parsers.grammar.layouts import Anchor, Content, Layout, Segment
from trtforensics.parsers.grammar.line_kinds import REGEX_FLAGS, LineKind
from trtforensics.parsers.lines.events import DURATION, INTEGER, TACTIC, TEXT, ColumnType, Texts, column_type
from trtforensics.parsers.lines.interning import Memo, TextSpans
from trtforensics.parsers.lines.openers import Openers, WordTable
from trtforensics.parsers.lines.prefixes import Bodies, KindRows, grouped
from trtforensics.parsers.text.line_index import LineIndex
from trtforensics.parsers.text.numbers import WORD, decimals, hexadecimals, integers, signed

Columns = dict[str, npt.NDArray[Any]]

_MANY = 5000
"""From so many lines on it is faster to search the whole window for a literal first."""

_REFUSED = -1
"""Stands for the number of a text that its terminals do not match."""


def _tactics(text: bytes, begins: Positions, ends: Positions) -> tuple[Words, Bools]:
    """Read tactic ids: hexadecimal, before TensorRT 8.5 a signed decimal."""
    values, sure = hexadecimals(text, begins, ends)
    rows = np.flatnonzero(~sure)
    if len(rows):
        values[rows], sure[rows] = signed(text, begins[rows], ends[rows])
    return values, sure


_NUMBERS: dict[Content, tuple[ColumnType, Callable[[bytes, Positions, Positions], tuple[npt.NDArray[Any], Bools]]]] = {
    Content.NUMBER: (DURATION, decimals),
    Content.INTEGER: (INTEGER, integers),
    Content.TACTIC: (TACTIC, _tactics),
    Content.HEX: (TACTIC, hexadecimals),
}
"""By the content of a segment: the type of its field, and what reads many such numbers at once."""


class _LayoutRead(NamedTuple):
    """The rows that a layout read, and the ``refused`` lines: all anchors are there, but some text does not fit."""

    reading: KindRows
    refused: Positions


class BulkRules:
    """The layouts of some kinds by how their lines open; one serves all logs."""

    def __init__(self, kinds: Iterable[LineKind], layouts: Iterable[Layout], rank: Mapping[str, int]) -> None:
        self.openers = Openers(kinds)
        self.rank = rank
        self.by_opening: dict[int, list[Layout]] = {}
        """Layouts by the first eight bytes of their opening literal, as a word."""
        self.by_short_opening: list[Layout] = []
        self.by_text: list[Layout] = []
        for layout in layouts:
            literal = layout.opener
            if len(literal) >= WORD:
                self.by_opening.setdefault(int.from_bytes(literal[:WORD], "little"), []).append(layout)
            elif literal and "" not in layout.kind.openers:
                self.by_short_opening.append(layout)
            else:
                self.by_text.append(layout)
        self.words = WordTable(list(self.by_opening))


class BulkReader:
    """Reads the bulk kinds, and remembers texts from window to window."""

    def __init__(self, rules: BulkRules, texts: Texts) -> None:
        self._rules = rules
        self._texts = texts
        self._readers: dict[int, list[_LayoutReader]] = {}
        """The readers of lists of layouts, by the identity of the list; most lists are of no line of a log."""

    def read_opened(self, bodies: Bodies, wanted: Bools) -> Iterator[KindRows]:
        """Read those of the ``wanted`` lines that open with a literal, and unmark them."""
        rules, left = self._rules, np.flatnonzero(wanted)
        words, places = rules.words.words, rules.words.places(bodies.openings[left])
        for place, rows in grouped(places, len(words)) if words else ():
            yield from self._read(rules.by_opening[words[place]], bodies, left[rows], wanted, known=WORD)
        if rules.by_short_opening:
            left = np.flatnonzero(wanted)
            near = left[rules.openers.near_short(bodies.openings[left])]
            yield from self._read(rules.by_short_opening, bodies, near, wanted)

    def read_free(self, bodies: Bodies, wanted: Bools) -> Iterator[KindRows]:
        """Read those of the ``wanted`` lines that open with text, and unmark them."""
        if self._rules.by_text:
            left = np.flatnonzero(wanted)
            free = left[~self._rules.openers.opened(bodies.index, bodies.starts[left], bodies.openings[left])]
            yield from self._read(self._rules.by_text, bodies, free, wanted)

    def _read(
        self, layouts: list[Layout], bodies: Bodies, left: Positions, wanted: Bools, *, known: int = 0
    ) -> Iterator[KindRows]:
        """Try these layouts in turn on the lines that are left; within a kind the most frequent one comes first.

        The first ``known`` bytes of their openings are already compared.
        """
        readers = self._readers.get(id(layouts))
        if readers is None:
            ranked = [_LayoutReader(layout, self._rules.rank[layout.kind.name], self._texts) for layout in layouts]
            readers = self._readers[id(layouts)] = sorted(ranked, key=_LayoutReader.order)
        rank, refused = -1, np.zeros(0, np.int64)
        for reader in readers:
            if reader.rank != rank:
                if len(refused):  # the regex may still find them to be of the kind before
                    left = np.setdiff1d(left, refused, assume_unique=True)
                rank, refused = reader.rank, refused[:0]
            opening = reader.opening[known:]
            candidates = left[bodies.index.holds(bodies.starts[left] + known, opening)] if opening else left
            result = reader.read(bodies, candidates)
            refused = np.concatenate((refused, result.refused))
            read = result.reading.lines
            if len(read):
                wanted[read] = False
                left = left.compress(wanted[left])
                reader.lines += len(read)
                yield result.reading
            if not len(left):
                break
        # A layout that was frequent stays so. The order within a kind does not matter: no line has two of its layouts.
        readers.sort(key=_LayoutReader.order)


class _LayoutReader:
    def __init__(self, layout: Layout, rank: int, texts: Texts) -> None:
        self.layout = layout
        self.opening = layout.opener or layout.first_byte
        self.rank = rank
        self.lines = 0
        """How many lines this layout has read."""
        self._texts = texts
        behind_opener = list(enumerate(layout.anchors))[1:]
        self._from_right = layout.from_right
        ordered = reversed(behind_opener) if self._from_right else behind_opener
        self._anchors = sorted(ordered, key=lambda placed: placed[1].searched)
        searched = (anchor.text.strip(b" ") for anchor in layout.anchors if layout.only_searched)
        self._searched = max(searched, key=len, default=b"")
        """A literal that every line of this layout holds, where no other quick check selects the lines."""

    @cached_property
    def _readers(self) -> list[tuple[int, _Direct]]:
        """A reader for each segment, made on first use: many layouts read no line; texts come last, they cost most."""
        kept = self.layout.kind.kept or ()
        readers = enumerate(_reader(segment, kept, self._texts) for segment in self.layout.segments)
        return sorted(readers, key=lambda placed: isinstance(placed[1], _Plain | _Composite))

    def order(self) -> tuple[int, int]:
        return self.rank, -self.lines

    def read(self, bodies: Bodies, lines: Positions) -> _LayoutRead:
        lines, begins, ends = self._places(bodies, self._near(bodies, lines))
        alike = lines
        columns: Columns = {}
        for position, reader in self._readers:
            if not len(lines):
                break
            sure = reader.read(bodies, TextSpans(lines, begins[position], ends[position]), columns)
            if not sure.all():
                lines = lines.compress(sure)
                begins, ends = [b.compress(sure) for b in begins], [e.compress(sure) for e in ends]
                columns = {name: column.compress(sure) for name, column in columns.items()}
        refused = alike[:0] if len(lines) == len(alike) else np.setdiff1d(alike, lines, assume_unique=True)
        return _LayoutRead(KindRows(self.layout.kind.name, lines, columns), refused)

    def _near(self, bodies: Bodies, lines: Positions) -> Positions:
        """Return the lines that may be of this layout, by checks that cost little."""
        if len(lines) > _MANY and not bodies.index.has(self._searched):
            return lines[:0]
        if self.layout.separators is not None:
            lines = lines[bodies.last[lines] - bodies.first[lines] == self.layout.separators]
        return lines

    def _places(self, bodies: Bodies, lines: Positions) -> tuple[Positions, list[Positions], list[Positions]]:
        """Return the lines whose anchors all stand where they must, and where each segment begins and ends."""
        layout = self.layout
        at: dict[int, Positions] = {0: bodies.starts[lines]}
        for place, anchor in self._anchors:
            if not len(lines):
                return lines, [], []
            if anchor.searched:
                at[place] = self._search(bodies.index.data, place, at, bodies.ends[lines])
                right = at[place] >= 0
            else:
                at[place] = _place(bodies, lines, anchor)
                right = bodies.index.holds(at[place], anchor.text)
            if not right.all():
                lines = lines.compress(right)
                at = {known: positions.compress(right) for known, positions in at.items()}
        begins = [at[place] + len(anchor.text) for place, anchor in enumerate(layout.anchors)]
        ends = [at[place] for place in range(1, len(begins))]
        line_ends = bodies.ends[lines]
        if layout.closed or not layout.segments:
            sure = begins.pop() == line_ends
        else:
            ends.append(line_ends)
            sure = np.ones(len(lines), np.bool_)
        for begin, end in zip(begins, ends, strict=True):
            sure &= begin < end
        if not sure.all():
            lines = lines.compress(sure)
            begins, ends = [b.compress(sure) for b in begins], [e.compress(sure) for e in ends]
        return lines, begins, ends

    def _search(self, data: bytes, place: int, at: Mapping[int, Positions], line_ends: Positions) -> Positions:
        """Return where a searched anchor stands in each line: the nearest one on the way; -1 for nowhere."""
        anchors = self.layout.anchors
        before = 0 if self._from_right else place - 1
        begins = at[before] + (len(anchors[before].text) + 1)
        ends = at[place + 1] - 1 if self._from_right else line_ends
        find = data.rfind if self._from_right else data.find
        places = map(find, repeat(anchors[place].text), begins.tolist(), ends.tolist())
        return np.fromiter(places, np.int64, len(line_ends))


def _reader(segment: Segment, kept: tuple[str, ...], texts: Texts) -> _Direct:
    names = tuple(field for field in segment.fields if field in kept)
    name = names[0] if names else ""
    if segment.content in _NUMBERS and (not name or column_type(name) is _NUMBERS[segment.content][0]):
        return _Number(name, segment)
    if segment.content in {Content.REST, Content.NONBLANK}:
        return _Plain(name, texts) if name else _Ignored("")
    if segment.terminal and column_type(name) is TEXT:
        return _Taken(name, segment, texts)
    return _Composite(segment, names, texts)


class _Direct:
    """Reads a segment into one column; without a ``name`` the segment is checked and not kept."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read(self, bodies: Bodies, spans: TextSpans, columns: Columns) -> Bools:
        """Fill the column; return which lines are sure."""
        values, sure = self._values(bodies, spans)
        if self._name and values is not None:
            columns[self._name] = values
        return sure

    def _values(self, bodies: Bodies, spans: TextSpans) -> tuple[npt.NDArray[Any] | None, Bools]:
        raise NotImplementedError


class _Number(_Direct):
    """Reads numbers: in the usual form many at once, in any other form that the terminal matches one by one."""

    def __init__(self, name: str, segment: Segment) -> None:
        super().__init__(name)
        self._regex = segment.regex
        self._type, self._usual = _NUMBERS[segment.content]

    def _values(self, bodies: Bodies, spans: TextSpans) -> tuple[npt.NDArray[Any], Bools]:
        values, sure = self._usual(bodies.index.data, spans.begins, spans.ends)
        others = np.flatnonzero(~sure)
        texts = spans.of(others).texts(bodies.index.data)
        for row, text in zip(others.tolist(), texts, strict=True):
            if _compiled(self._regex).fullmatch(text):
                sure[row] = True
                if self._name and self._type.read:
                    values[row] = self._type.read(text)
        return values, sure


class _Plain(_Direct):
    """Reads texts that need no check: their terminal matches any text."""

    def __init__(self, name: str, texts: Texts) -> None:
        super().__init__(name)
        self._texts = texts
        self._memo = Memo()

    def _values(self, bodies: Bodies, spans: TextSpans) -> tuple[npt.NDArray[Any] | None, Bools]:
        numbers = self._memo.values(bodies.index, spans, partial(self._numbers, bodies.index))
        return numbers if self._name else None, numbers != _REFUSED

    def _numbers(self, index: LineIndex, spans: TextSpans) -> list[int]:
        return self._texts.ids(spans.texts(index.data))


class _Ignored(_Direct):
    """Skips texts that need no check and are not kept."""

    def _values(self, bodies: Bodies, spans: TextSpans) -> tuple[None, Bools]:  # noqa: ARG002 - as the others
        return None, np.ones(len(spans.lines), np.bool_)


class _Taken(_Plain):
    """Reads texts that count only where their terminal matches exactly the whole text."""

    def __init__(self, name: str, segment: Segment, texts: Texts) -> None:
        super().__init__(name, texts)
        self._regex = segment.regex

    def _numbers(self, index: LineIndex, spans: TextSpans) -> list[int]:
        taken = self._taken(index, spans)
        if not self._name:
            return [0 if is_whole else _REFUSED for is_whole in taken]
        texts = spans.texts(index.data)
        if all(taken):
            return self._texts.ids(texts)
        return [self._texts.id(text) if is_whole else _REFUSED for is_whole, text in zip(taken, texts, strict=True)]

    def _taken(self, index: LineIndex, spans: TextSpans) -> list[bool]:
        """Say of each text whether the terminal matches exactly it."""
        data, match = index.data, _compiled(self._regex).match
        begins, ends, limits = spans.begins.tolist(), spans.ends.tolist(), index.ends[spans.lines].tolist()
        matches = map(match, repeat(data), begins, limits)
        return [taken is not None and taken.end() == end for taken, end in zip(matches, ends, strict=True)]


class _Composite(_Direct):
    """Reads texts that several terminals make up, by their regex; columns remember the fields of each distinct text."""

    def __init__(self, segment: Segment, names: tuple[str, ...], texts: Texts) -> None:
        super().__init__("")
        self._names = names
        self._regex = segment.regex
        self._readers = [(segment.fields.index(name), column_type(name).read or texts.id) for name in names]
        self._columns: list[array[Any]] = [array(column_type(name).code) for name in names]
        self._count = 0
        self._memo = Memo()

    def read(self, bodies: Bodies, spans: TextSpans, columns: Columns) -> Bools:
        """Fill the columns; return which lines are sure."""
        rows = self._memo.values(bodies.index, spans, partial(self._judged, bodies.index))
        for name, column in zip(self._names, self._columns, strict=True):
            columns[name] = np.frombuffer(column, column.typecode)[rows] if self._count else rows
        sure: Bools = rows != _REFUSED
        return sure

    def _judged(self, index: LineIndex, spans: TextSpans) -> list[int]:
        """Return the row in the columns that holds the fields of each text."""
        match, limits = _compiled(self._regex).match, index.ends[spans.lines].tolist()
        matches = map(match, repeat(index.data), spans.begins.tolist(), limits)
        return [self._row(text, end) for text, end in zip(matches, spans.ends.tolist(), strict=True)]

    def _row(self, text: re.Match[bytes] | None, end: int) -> int:
        if text is None or text.end() != end:
            return _REFUSED
        groups = text.groups()
        for column, (group, read) in zip(self._columns, self._readers, strict=True):
            column.append(read(groups[group]))
        self._count += 1
        return self._count - 1


@cache
def _compiled(regex: str) -> re.Pattern[bytes]:
    """Compile a segment's regex on first use; most are never needed."""
    return compiled(regex.encode("latin-1"), REGEX_FLAGS)


def _place(bodies: Bodies, lines: Positions, anchor: Anchor) -> Positions:
    """Return where an anchor must stand; in a line with too few separators, a place outside of the other anchors."""
    if anchor.place is None:
        places = bodies.ends[lines] - len(anchor.text)
    else:
        separators = bodies.index.separators
        if anchor.from_right:
            counted = bodies.last[lines] - anchor.place
            if counted[0] < 0:  # they go up with the lines
                np.maximum(counted, 0, out=counted)
        else:
            counted = bodies.first[lines] + anchor.place
            if counted[-1] >= len(separators):
                np.minimum(counted, len(separators) - 1, out=counted)
        places = separators[counted] - np.int64(anchor.offset)
    if places[0] < 0:
        np.maximum(places, 0, out=places)
    return places
