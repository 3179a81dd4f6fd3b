"""Reads the bulk kinds of a whole window at once, by their layouts.

For each layout: the lines that open with its literal, the places where its other anchors must stand, every
literal compared word by word, every number checked. A text field goes through a memo: the first time a text
is seen, the kind's regex must accept the whole line and find it in the same place. Whatever fails any of this
is left for the regex (``scanner.py``), so the grammar stays the only judge.
"""

from __future__ import annotations

import re
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trtforensics.parsers.events import (
    DURATION_FIELDS,
    INTEGER_FIELDS,
    KEEP,
    NUMERIC_FIELDS,
    TACTIC_FIELDS,
    Texts,
    duration,
    field_reader,
    integer,
    new_column,
    tactic_id,
)
from trtforensics.parsers.grammar import REGEX_FLAGS
from trtforensics.parsers.layouts import Content, ranks
from trtforensics.parsers.numbers import WORD, decimals, hexadecimals, integers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy.typing as npt

    from trtforensics.parsers.grammar import Kind
    from trtforensics.parsers.layouts import Anchor, Layout, Segment
    from trtforensics.parsers.line_index import LineIndex

    Bools = npt.NDArray[np.bool_]
    Positions = npt.NDArray[np.int64]
    Rows = npt.NDArray[np.int32]
    Words = npt.NDArray[np.uint64]
    Columns = dict[str, npt.NDArray[Any]]

_MEMO_LIMIT = 1 << 16
_NEW, _TAKEN, _REFUSED = range(3)
"""What is known of a text."""

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


class Found(NamedTuple):
    """Lines of one kind and their columns; ``refused`` are lines with all the anchors of a layout, but other texts."""

    kind: str
    lines: Positions
    columns: Columns
    refused: Positions


_MAX_WORDS = 1 << 16


class BulkReader:
    """Reads bulk kinds; keeps its memos from window to window."""

    def __init__(self, kinds: Iterable[Kind], found: list[Layout], texts: Texts) -> None:
        self._openers: dict[bytes, set[bytes]] = {}
        """The literals that open a body, by their first eight bytes."""
        for kind in kinds:
            if "" not in kind.openers:
                for opener in (text.encode("latin-1") for text in kind.openers):
                    self._openers.setdefault(opener[:WORD], set()).add(opener)
        self._openers_by_word: dict[int, tuple[bytes, ...]] = {}
        """The literals that may open a body of this word; what one does open is not for layouts that open with text."""
        rank = ranks(found)
        readers = [_LayoutReader(layout, rank[layout.kind.name], texts) for layout in found]
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
        for same in (*self._by_opening.values(), self._by_text):
            same.sort(key=_LayoutReader.order)

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
        """Have these readers read what they can of the lines that are left, of each kind the most frequent first."""
        rank, refused = -1, np.zeros(0, np.int64)
        for reader in readers:
            if reader.rank != rank:
                if len(refused):  # for the regex: they may be of that kind yet
                    left = np.setdiff1d(left, refused, assume_unique=True)
                rank, refused = reader.rank, refused[:0]
            opener = reader.layout.opener
            candidates = left[_holds(bodies.index, bodies.starts[left], opener)] if opener else left
            result = reader.read(bodies, candidates)
            refused = np.concatenate((refused, result.refused))
            if len(result.lines):
                wanted[result.lines] = False
                left = left[wanted[left]]
                reader.lines += len(result.lines)
                yield result
            if not len(left):
                break
        # What was frequent will be; no line is of two layouts of a kind.
        readers.sort(key=_LayoutReader.order)


class _LayoutReader:
    """Reads the lines of one layout."""

    def __init__(self, layout: Layout, rank: int, texts: Texts) -> None:
        self.layout = layout
        self.rank = rank
        self.lines = 0
        """How many lines this layout has read."""
        kept = KEEP.get(layout.kind.name, ())
        readers = enumerate(_reader(segment, kept, texts) for segment in layout.segments)
        self._readers = sorted(readers, key=lambda placed: isinstance(placed[1], _Plain | _Taken | _Composite))
        """By segment; texts come last, which cost most."""
        behind_opener = list(enumerate(layout.anchors))[1:]
        self._anchors = sorted(behind_opener, key=lambda placed: placed[1].searched)

    def order(self) -> tuple[int, int]:
        """Return what decides which reader is asked first."""
        return self.rank, -self.lines

    def read(self, bodies: Bodies, lines: Positions) -> Found:
        layout = self.layout
        if layout.separators is not None:
            lines = lines[bodies.last[lines] - bodies.first[lines] == layout.separators]
        lines, begins, ends = self._places(bodies, lines)
        alike = lines
        columns: Columns = {}
        for position, reader in self._readers:
            if not len(lines):
                break
            sure = reader.read(bodies, _Spans(lines, begins[position], ends[position]), columns)
            if not sure.all():
                lines = lines[sure]
                begins, ends = [b[sure] for b in begins], [e[sure] for e in ends]
                columns = {name: column[sure] for name, column in columns.items()}
        refused = alike[:0] if len(lines) == len(alike) else np.setdiff1d(alike, lines, assume_unique=True)
        return Found(layout.kind.name, lines, columns, refused)

    def _places(self, bodies: Bodies, lines: Positions) -> tuple[Positions, list[Positions], list[Positions]]:
        """Return the lines whose anchors all stand where they must, and where each segment begins and ends."""
        layout = self.layout
        at: dict[int, Positions] = {0: bodies.starts[lines]}
        for place, anchor in self._anchors:
            if anchor.searched:
                behind = at[place - 1] + (len(layout.anchors[place - 1].text) + 1)
                at[place] = _search(bodies, lines, anchor.text, behind)
                right = at[place] >= 0
            else:
                at[place] = _place(bodies, lines, anchor)
                right = _holds(bodies.index, np.maximum(at[place], 0), anchor.text)
                right &= at[place] + len(anchor.text) <= bodies.ends[lines]
            if not right.all():
                lines, at = lines[right], {known: positions[right] for known, positions in at.items()}
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
            lines, begins, ends = lines[sure], [b[sure] for b in begins], [e[sure] for e in ends]
        return lines, begins, ends


class _Spans(NamedTuple):
    """Where a segment begins and ends in each of some lines."""

    lines: Positions
    begins: Positions
    ends: Positions


def _reader(segment: Segment, kept: tuple[str, ...], texts: Texts) -> _Direct | _Composite:
    """Return what reads a segment."""
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
    if segment.terminal and name not in NUMERIC_FIELDS:
        return _Taken(name, segment, texts)
    return _Composite(segment, names, texts)


class _Direct:
    """A segment that is read into one column; none where ``name`` is empty."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read(self, bodies: Bodies, spans: _Spans, columns: Columns) -> Bools:
        """Fill the column; return which lines are sure."""
        values, sure = self._values(bodies, spans)
        if self._name and values is not None:
            columns[self._name] = values
        return sure

    def _values(self, bodies: Bodies, spans: _Spans) -> tuple[npt.NDArray[Any] | None, Bools]:
        raise NotImplementedError


class _Number(_Direct):
    """A number in its usual form, read as words; any other form that its terminal takes, one by one."""

    def __init__(self, name: str, segment: Segment) -> None:
        super().__init__(name)
        self._is_number = _compiled(segment).fullmatch
        self._read = _READ[segment.content]

    def _values(self, bodies: Bodies, spans: _Spans) -> tuple[npt.NDArray[Any], Bools]:
        values, sure = self._usual(bodies.index, spans.begins, spans.ends)
        others = np.flatnonzero(~sure)
        texts = _cut(bodies.index.data, spans.begins[others], spans.ends[others])
        for row, text in zip(others.tolist(), texts, strict=True):
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
    """Texts that need no check: their terminal takes whatever stands there."""

    def __init__(self, name: str, texts: Texts) -> None:
        super().__init__(name)
        self._texts = texts

    def _values(self, bodies: Bodies, spans: _Spans) -> tuple[npt.NDArray[Any] | None, Bools]:
        found = self._texts.ids(_cut(bodies.index.data, spans.begins, spans.ends)) if self._name else None
        return found, np.ones(len(spans.lines), np.bool_)


class _Taken(_Direct):
    """Texts that count after their terminal took them; it remembers which it did and which it refused."""

    def __init__(self, name: str, segment: Segment, texts: Texts) -> None:
        super().__init__(name)
        self._texts = texts if name else Texts()
        self._match = _compiled(segment).match
        self._verdicts = bytearray()
        """By the index of a text."""

    def _values(self, bodies: Bodies, spans: _Spans) -> tuple[npt.NDArray[Any], Bools]:
        if not self._name and len(self._texts) > _MEMO_LIMIT:
            self._texts, self._verdicts = Texts(), bytearray()
        ids = self._texts.ids(_cut(bodies.index.data, spans.begins, spans.ends))
        self._verdicts.extend(bytes(len(self._texts) - len(self._verdicts)))
        verdicts = np.frombuffer(self._verdicts, np.uint8)[ids]
        if not verdicts.all():
            self._judge(bodies, spans, ids, np.flatnonzero(verdicts == _NEW))
            verdicts = np.frombuffer(self._verdicts, np.uint8)[ids]
        return ids, verdicts == _TAKEN

    def _judge(self, bodies: Bodies, spans: _Spans, ids: Rows, new: Positions) -> None:
        texts, first = np.unique(ids[new], return_index=True)
        rows = new[first]
        data, match, verdicts = bodies.index.data, self._match, self._verdicts
        ends, limits = spans.ends[rows].tolist(), bodies.ends[spans.lines[rows]].tolist()
        for text, begin, end, limit in zip(texts.tolist(), spans.begins[rows].tolist(), ends, limits, strict=True):
            found = match(data, begin, limit)
            verdicts[text] = _REFUSED if found is None or found.end() != end else _TAKEN


class _Composite:
    """Texts of several terminals, or of a number in a form of its own; it remembers what its regex read in each."""

    def __init__(self, segment: Segment, names: tuple[str, ...], texts: Texts) -> None:
        self._names = names
        self._match = _compiled(segment).match
        self._readers = [(segment.fields.index(name), field_reader(name, texts)[0]) for name in names]
        self._forget()

    def _forget(self) -> None:
        self._memo: dict[bytes, int] = {}
        """By text its row in the columns of what was read; -1 where the regex refused it."""
        self._columns = [new_column(name) for name in self._names]
        self._count = 0

    def read(self, bodies: Bodies, spans: _Spans, columns: Columns) -> Bools:
        """Fill the columns; return which lines are sure."""
        if len(self._memo) > _MEMO_LIMIT:
            self._forget()
        memo = self._memo
        texts = _cut(bodies.index.data, spans.begins, spans.ends)
        for row, text in enumerate(texts):
            if text not in memo:
                memo[text] = self._judged(bodies, spans, row)
        rows = np.fromiter(map(memo.__getitem__, texts), np.int32, len(texts))
        for name, column in zip(self._names, self._columns, strict=True):
            columns[name] = np.frombuffer(column, column.typecode)[rows] if self._count else rows
        sure: Bools = rows >= 0
        return sure

    def _judged(self, bodies: Bodies, spans: _Spans, row: int) -> int:
        found = self._match(bodies.index.data, int(spans.begins[row]), int(bodies.ends[spans.lines[row]]))
        if found is None or found.end() != spans.ends[row]:
            return -1
        groups = found.groups()
        for column, (group, read) in zip(self._columns, self._readers, strict=True):
            column.append(read(groups[group]))
        self._count += 1
        return self._count - 1


def _compiled(segment: Segment) -> re.Pattern[bytes]:
    return re.compile(segment.regex.encode("latin-1"), REGEX_FLAGS)


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


def _search(bodies: Bodies, lines: Positions, text: bytes, begins: Positions) -> Positions:
    """Return where a text first stands in each line from ``begins`` on; -1 for nowhere."""
    found = map(bodies.index.data.find, repeat(text), begins.tolist(), bodies.ends[lines].tolist())
    return np.fromiter(found, np.int64, len(lines))


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
