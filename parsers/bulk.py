"""Reads the bulk kinds of a whole window at once, by their layouts.

For each layout: the lines that open with its literal, the places where its other anchors must stand, every
literal compared word by word, every number checked. A text field goes through a memo: the first time a text
is seen, the kind's regex must accept the whole line and find it in the same place. Whatever fails any of this
is left for the regex (``scanner.py``), so the grammar stays the only judge.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.parsers.events import (
    DURATION_FIELDS,
    INTEGER_FIELDS,
    KEEP,
    TACTIC_FIELDS,
    duration,
    field_reader,
    integer,
    new_column,
    tactic_id,
)
from trtforensics.parsers.grammar import REGEX_FLAGS
from trtforensics.parsers.layouts import Content, layouts
from trtforensics.parsers.numbers import WORD, decimals, hexadecimals, integers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy.typing as npt

    from trtforensics.parsers.events import Texts
    from trtforensics.parsers.grammar import Kind
    from trtforensics.parsers.layouts import Anchor, Layout, Segment
    from trtforensics.parsers.line_index import LineIndex

    Bools = npt.NDArray[np.bool_]
    Positions = npt.NDArray[np.int64]
    Rows = npt.NDArray[np.int32]
    Words = npt.NDArray[np.uint64]
    Columns = dict[str, npt.NDArray[Any]]

_MEMO_LIMIT = 1 << 16
_NEW = -1
_REFUSED = -2
"""In place of a row: a text that the regex was not asked about yet, and one that it did not accept."""


_READ: dict[Content, Callable[[bytes], float]] = {
    Content.NUMBER: duration,
    Content.INTEGER: integer,
    Content.TACTIC: tactic_id,
    Content.HEX: tactic_id,
}
"""How a number is read one by one, by what its segment holds."""


class Bodies:
    """The bodies of the lines to read: where each begins and ends, and its separators."""

    def __init__(self, index: LineIndex, starts: Positions, separators_before: Positions) -> None:
        self.index = index
        self.starts = starts
        self.ends = index.ends
        self.first = index.first + separators_before
        self.last = index.last
        self.openings = index.words[starts]
        """The first eight bytes of each body, as a word."""

    def text(self, line: int) -> bytes:
        """Return a body."""
        return self.index.data[int(self.starts[line]) : int(self.ends[line])]

    def texts(self, lines: Positions) -> list[bytes]:
        """Return some bodies."""
        return _cut(self.index.data, self.starts[lines], self.ends[lines])


class Found:
    """Lines of one kind and their columns."""

    def __init__(self, kind: str, lines: Positions, columns: Columns) -> None:
        self.kind = kind
        self.lines = lines
        self.columns = columns


_MAX_WORDS = 1 << 16


class BulkReader:
    """Reads bulk kinds; keeps its memos from window to window."""

    def __init__(self, kinds: Iterable[Kind], texts: Texts) -> None:
        self._kinds = tuple(kinds)
        self._openers: dict[bytes, set[bytes]] = {}
        """The literals that open a body, by their first eight bytes."""
        for kind in self._kinds:
            if "" not in kind.openers:
                for opener in (text.encode("latin-1") for text in kind.openers):
                    self._openers.setdefault(opener[:WORD], set()).add(opener)
        self._openers_by_word: dict[int, tuple[bytes, ...]] = {}
        """The literals that may open a body of this word; what one does open is not for layouts that open with text."""
        readers = [_LayoutReader(layout, texts) for layout in layouts(self._kinds)]
        self._by_opening: dict[int, list[_LayoutReader]] = {}
        """By the first word of the opening literal."""
        self._by_text: list[_LayoutReader] = []
        for reader in readers:
            literal = reader.layout.opener
            if len(literal) >= WORD:
                self._by_opening.setdefault(int.from_bytes(literal[:WORD], "little"), []).append(reader)
            else:
                self._by_text.append(reader)
        self._words = np.array(sorted(self._by_opening), np.uint64)

    def read(self, bodies: Bodies, wanted: Bools) -> Iterator[Found]:
        """Give what can be read of the ``wanted`` lines, and unmark those that were."""
        for word, opened in self._opened(bodies, np.flatnonzero(wanted)):
            yield from self._read(self._by_opening[word], bodies, opened, wanted)
        yield from self._read(self._by_text, bodies, self._free(bodies, np.flatnonzero(wanted)), wanted)

    def _free(self, bodies: Bodies, lines: Positions) -> Positions:
        """Return the lines that no kind opens literally: a literal opening wins over free text."""
        words, place = np.unique(bodies.openings[lines], return_inverse=True)
        openers = [self._openers_of(word) for word in words.tolist()]
        suspects = np.flatnonzero(np.array([bool(some) for some in openers], np.bool_)[place])
        starts = bodies.starts[lines[suspects]]
        free = np.ones(len(lines), np.bool_)
        for opener in {opener for some in openers for opener in some}:
            free[suspects[_holds(bodies.index, starts, opener)]] = False
        return lines[free]

    def _openers_of(self, word: int) -> tuple[bytes, ...]:
        known = self._openers_by_word
        if word not in known:
            if len(known) >= _MAX_WORDS:
                known.clear()
            key = word.to_bytes(WORD, "little")
            starts = (key[:size] for size in range(1, WORD + 1))
            known[word] = tuple(opener for start in starts for opener in self._openers.get(start, ()))
        return known[word]

    def _opened(self, bodies: Bodies, lines: Positions) -> Iterator[tuple[int, Positions]]:
        """Give the lines that begin with each of the known words."""
        openings = bodies.openings[lines]
        place = np.minimum(self._words.searchsorted(openings), len(self._words) - 1)
        place[self._words[place] != openings] = len(self._words)
        order = place.astype(np.uint8).argsort(kind="stable")
        limits = place[order].searchsorted(np.arange(len(self._words) + 1))
        for word, low, high in zip(self._words.tolist(), limits.tolist(), limits[1:].tolist(), strict=False):
            if high > low:
                yield word, lines[order[low:high]]

    @staticmethod
    def _read(readers: list[_LayoutReader], bodies: Bodies, left: Positions, wanted: Bools) -> Iterator[Found]:
        """Have these readers read what they can of the lines that are left, the most frequent layouts first."""
        for reader in readers:
            opener = reader.layout.opener
            candidates = left[_holds(bodies.index, bodies.starts[left], opener)] if opener else left
            result = reader.read(bodies, candidates)
            if len(result.lines):
                wanted[result.lines] = False
                left = left[wanted[left]]
                reader.lines += len(result.lines)
                yield result
            if not len(left):
                break
        # What was frequent will be: no line is of two kinds, so the order is free.
        readers.sort(key=lambda reader: -reader.lines)


class _LayoutReader:
    """Reads the lines of one layout."""

    def __init__(self, layout: Layout, texts: Texts) -> None:
        self.layout = layout
        self.lines = 0
        """How many lines this layout has read."""
        kept = KEEP.get(layout.kind.name, ())
        readers = [_reader(layout, segment, kept, texts) for segment in layout.segments]
        self._direct = [(i, reader) for i, reader in enumerate(readers) if isinstance(reader, _Direct)]
        self._judged = [(i, reader) for i, reader in enumerate(readers) if isinstance(reader, _Judged)]

    def read(self, bodies: Bodies, lines: Positions) -> Found:
        layout = self.layout
        if layout.separators is not None:
            lines = lines[bodies.last[lines] - bodies.first[lines] == layout.separators]
        lines, begins, ends = self._places(bodies, lines)
        columns: Columns = {}
        for position, direct in self._direct:
            sure = direct(bodies, begins[position], ends[position], columns)
            if not sure.all():
                lines = lines[sure]
                begins, ends = [b[sure] for b in begins], [e[sure] for e in ends]
                columns = {name: column[sure] for name, column in columns.items()}
        if self._judged and len(lines):
            rows = self._known(bodies, lines, begins, ends)
            sure = np.logical_and.reduce([known >= 0 for known in rows])
            if not sure.all():
                lines = lines[sure]
                columns = {name: column[sure] for name, column in columns.items()}
                rows = [known[sure] for known in rows]
            for (_, reader), known in zip(self._judged, rows, strict=True):
                reader.fill(columns, known)
        return Found(layout.kind.name, lines, columns)

    def _known(self, bodies: Bodies, lines: Positions, begins: list[Positions], ends: list[Positions]) -> list[Rows]:
        """Look up the texts that the regex must know; of a line with a new one it is asked once for all of them."""
        found = [reader.look_up(bodies.index.data, begins[i], ends[i]) for i, reader in self._judged]
        new = np.flatnonzero(np.logical_or.reduce([rows == _NEW for _, rows in found]))
        if len(new):
            self._learn(bodies, lines, new, [begins[i] for i, _ in self._judged], [texts for texts, _ in found])
            for (_, reader), (texts, rows) in zip(self._judged, found, strict=True):
                rows[new] = reader.rows([texts[i] for i in new.tolist()])
        return [rows for _, rows in found]

    def _learn(
        self, bodies: Bodies, lines: Positions, new: Positions, begins: list[Positions], texts: list[list[bytes]]
    ) -> None:
        """Have the regex judge the lines at ``new``; what it says of their texts is remembered."""
        starts, whole = bodies.starts[lines[new]], bodies.texts(lines[new])
        judge: Callable[[bytes], re.Match[bytes] | None] = self.layout.kind.match.fullmatch
        if len(self._judged) > 1:
            judge = cache(judge)
        for (_, reader), own_texts, own_begins in zip(self._judged, texts, begins, strict=True):
            at = (own_begins[new] - starts).tolist()
            first = {own_texts[row]: place for place, row in enumerate(new.tolist())}
            for text in first.keys() - reader.memo.keys():
                place = first[text]
                reader.learn(text, at[place], judge(whole[place]))

    def _places(self, bodies: Bodies, lines: Positions) -> tuple[Positions, list[Positions], list[Positions]]:
        """Return the lines whose anchors all stand where they must, and where each segment begins and ends."""
        layout = self.layout
        behind = bodies.starts[lines] + len(layout.opener)
        begins: list[Positions] = []
        ends: list[Positions] = []
        for anchor in layout.anchors[1:]:
            at = _place(bodies, lines, anchor)
            right = (at > behind) & _holds(bodies.index, np.maximum(at, 0), anchor.text)
            right &= at + len(anchor.text) <= bodies.ends[lines]
            if not right.all():
                lines, at, behind = lines[right], at[right], behind[right]
                begins, ends = [b[right] for b in begins], [e[right] for e in ends]
            begins.append(behind)
            ends.append(at)
            behind = at + len(anchor.text)
        line_ends = bodies.ends[lines]
        done = behind == line_ends if layout.closed or not layout.segments else behind < line_ends
        if not done.all():
            lines, behind, line_ends = lines[done], behind[done], line_ends[done]
            begins, ends = [b[done] for b in begins], [e[done] for e in ends]
        if not layout.closed and layout.segments:
            begins.append(behind)
            ends.append(line_ends)
        return lines, begins, ends


def _reader(layout: Layout, segment: Segment, kept: tuple[str, ...], texts: Texts) -> _Direct | _Judged:
    """Return what reads a segment: numbers and texts of any kind by themselves, the rest by the regex's leave."""
    names = tuple(field for field in segment.fields if field in kept)
    name = names[0] if names else ""
    if segment.content is Content.NUMBER and (not name or name in DURATION_FIELDS):
        return _Number(name, segment)
    if segment.content is Content.INTEGER and (not name or name in INTEGER_FIELDS):
        return _Integer(name, segment)
    if segment.content in {Content.TACTIC, Content.HEX} and (not name or name in TACTIC_FIELDS):
        return _Tactic(name, segment)
    if segment.content in {Content.REST, Content.NONBLANK}:
        return _Plain(name, texts)
    return _Judged(layout.kind, segment, names, texts)


class _Direct:
    """A segment that is read by itself into one column; none where ``name`` is empty."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, bodies: Bodies, begins: Positions, ends: Positions, columns: Columns) -> Bools:
        """Fill the column; return which lines are sure."""
        values, sure = self._values(bodies, begins, ends)
        if self._name and values is not None:
            columns[self._name] = values
        return sure

    def _values(self, bodies: Bodies, begins: Positions, ends: Positions) -> tuple[npt.NDArray[Any] | None, Bools]:
        raise NotImplementedError


class _Number(_Direct):
    """A number in its usual form, read as words; any other form that its terminal takes, one by one."""

    def __init__(self, name: str, segment: Segment) -> None:
        super().__init__(name)
        self._is_number = re.compile(segment.terminal.encode("latin-1"), REGEX_FLAGS).fullmatch
        self._read = _READ[segment.content]

    def _values(self, bodies: Bodies, begins: Positions, ends: Positions) -> tuple[npt.NDArray[Any], Bools]:
        values, sure = self._usual(bodies.index, begins, ends)
        others = np.flatnonzero(~sure)
        for row, text in zip(others.tolist(), _cut(bodies.index.data, begins[others], ends[others]), strict=True):
            if self._is_number(text):
                sure[row] = True
                if self._name:
                    values[row] = self._read(text)
        return values, sure

    def _usual(self, index: LineIndex, begins: Positions, ends: Positions) -> tuple[npt.NDArray[Any], Bools]:
        return decimals(index.words, begins, ends)


class _Integer(_Number):
    def _usual(self, index: LineIndex, begins: Positions, ends: Positions) -> tuple[npt.NDArray[Any], Bools]:
        return integers(index.words, begins, ends)


class _Tactic(_Number):
    def _usual(self, index: LineIndex, begins: Positions, ends: Positions) -> tuple[npt.NDArray[Any], Bools]:
        return hexadecimals(index.bytes, index.words, begins, ends)


class _Plain(_Direct):
    """Texts that need no check beyond not being empty."""

    def __init__(self, name: str, texts: Texts) -> None:
        super().__init__(name)
        self._texts = texts

    def _values(self, bodies: Bodies, begins: Positions, ends: Positions) -> tuple[npt.NDArray[Any] | None, Bools]:
        found = self._texts.ids(_cut(bodies.index.data, begins, ends)) if self._name else None
        return found, ends > begins


class _Judged:
    """A segment whose texts count after the regex accepted a line with them; it remembers what the regex said."""

    def __init__(self, kind: Kind, segment: Segment, names: tuple[str, ...], texts: Texts) -> None:
        self.memo: dict[bytes, int] = {}
        """By text its row in the columns of what was read; refusals are remembered too, they cost a regex a line."""
        self._names = names
        readers = [field_reader(name, texts) for name in names]
        self._count = 0
        self._missing = [missing for _, missing in readers]
        self._columns = [new_column(name) for name in names]
        self._others = [group for group, name in enumerate(kind.fields, 1) if name not in segment.fields]
        self._own = [
            (group, names.index(name), readers[names.index(name)][0]) if name in names else (group, 0, None)
            for group, name in enumerate(kind.fields, 1)
            if name in segment.fields
        ]

    def look_up(self, data: bytes, begins: Positions, ends: Positions) -> tuple[list[bytes], Rows]:
        """Return the texts and what is known of each."""
        if len(self.memo) > _MEMO_LIMIT:
            self.memo.clear()
            self._columns, self._count = [new_column(name) for name in self._names], 0
        texts = _cut(data, begins, ends)
        return texts, self.rows(texts)

    def rows(self, texts: list[bytes]) -> Rows:
        """Return the row of each text, or _NEW, or _REFUSED."""
        return np.fromiter(map(self.memo.get, texts, repeat(_NEW)), np.int32, len(texts))

    def learn(self, text: bytes, begin: int, match: re.Match[bytes] | None) -> None:
        """Take over what the regex says: this segment's fields must be inside it and all others outside."""
        self.memo[text] = _REFUSED
        if match is None:
            return
        end = begin + len(text)
        spans = match.regs  # what `span` gives, of all groups at once
        for group in self._others:
            low, high = spans[group]
            if low < end and high > begin and low >= 0:
                return
        values = self._missing.copy()
        for group, place, read in self._own:
            low, high = spans[group]
            if low < 0:
                continue
            if low < begin or high > end:
                return
            if read is not None:
                values[place] = read(text[low - begin : high - begin])
        self.memo[text] = self._count
        self._count += 1
        for column, value in zip(self._columns, values, strict=True):
            column.append(value)

    def fill(self, columns: Columns, rows: Rows) -> None:
        """Put what these rows hold into the columns."""
        for place, name in enumerate(self._names):
            column = self._columns[place]
            columns[name] = np.frombuffer(column, column.typecode)[rows]


def _cut(data: bytes, begins: Positions, ends: Positions) -> list[bytes]:
    return [data[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]


def _place(bodies: Bodies, lines: Positions, anchor: Anchor) -> Positions:
    """Return where an anchor must stand; -1 where the line has too few separators."""
    separators = bodies.index.separators
    if anchor.place is None:
        return bodies.ends[lines] - len(anchor.text)
    at = bodies.last[lines] - anchor.place if anchor.from_right else bodies.first[lines] + anchor.place
    inside = (at >= bodies.first[lines]) & (at < bodies.last[lines])
    return np.where(inside, separators[np.where(inside, at, 0)] - anchor.offset, -1)


def _holds(index: LineIndex, at: Positions, literal: bytes) -> Bools:
    """Whether a literal stands at these positions, compared as words of eight bytes."""
    size = len(literal)
    if size < WORD:
        mask = np.uint64((1 << 8 * size) - 1)
        same: Bools = (index.words[at] & mask) == np.uint64(int.from_bytes(literal, "little"))
        return same
    equal = np.ones(len(at), np.bool_)
    for offset in (*range(0, size - WORD, WORD), size - WORD):
        word = np.uint64(int.from_bytes(literal[offset : offset + WORD], "little"))
        equal &= index.words[at + offset] == word
    return equal
