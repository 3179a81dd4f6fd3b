"""Reads the bulk kinds of a whole window at once, by their layouts.

For each layout: the lines that open with its literal, the places where its other anchors must stand, every
literal compared word by word, every number checked. A text field goes through a memo: the first time a text
is seen, the kind's regex must accept the whole line and find it in the same place. Whatever fails any of this
is left for the regex (``scanner.py``), so the grammar stays the only judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.parsers.events import DURATION_FIELDS, INTEGER_FIELDS, KEEP, TACTIC_FIELDS, field_reader
from trtforensics.parsers.layouts import Content, layouts
from trtforensics.parsers.numbers import WORD, decimals, hexadecimals

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from trtforensics.parsers.events import Texts
    from trtforensics.parsers.grammar import Kind
    from trtforensics.parsers.layouts import Anchor, Layout, Segment
    from trtforensics.parsers.line_index import LineIndex

    Bools = npt.NDArray[np.bool_]
    Positions = npt.NDArray[np.int64]
    Columns = dict[str, npt.NDArray[Any]]

_MEMO_LIMIT = 1 << 18


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


class Found:
    """Lines of one kind and their columns."""

    def __init__(self, kind: str, lines: Positions, columns: Columns) -> None:
        self.kind = kind
        self.lines = lines
        self.columns = columns


class BulkReader:
    """Reads bulk kinds; keeps its memos from window to window."""

    def __init__(self, kinds: Iterable[Kind], texts: Texts) -> None:
        self._readers = [_LayoutReader(layout, texts) for layout in layouts(kinds)]

    def read(self, bodies: Bodies, wanted: Bools) -> list[Found]:
        """Read what can be read of the ``wanted`` lines, and unmark those that were."""
        found = []
        for reader in self._readers:
            candidates = self._candidates(reader, bodies, wanted)
            if len(candidates):
                result = reader.read(bodies, candidates)
                if len(result.lines):
                    wanted[result.lines] = False
                    reader.lines += len(result.lines)
                    found.append(result)
        # What was frequent will be: no line is of two kinds, so the order is free.
        self._readers.sort(key=lambda reader: (not reader.layout.opener, -reader.lines))
        return found

    @staticmethod
    def _candidates(reader: _LayoutReader, bodies: Bodies, wanted: Bools) -> Positions:
        """Return the wanted lines that may be of a layout: by the first word, then by the whole opening literal."""
        opener = reader.layout.opener
        if not opener:
            return np.flatnonzero(wanted)
        first = opener[:WORD]
        mask = np.uint64((1 << 8 * len(first)) - 1)
        word = np.uint64(int.from_bytes(first, "little"))
        openings = bodies.openings if len(first) == WORD else bodies.openings & mask
        opened = np.flatnonzero((openings == word) & wanted)
        if len(opener) <= WORD or not len(opened):
            return opened
        return opened[_holds(bodies.index, bodies.starts[opened], opener)]


class _LayoutReader:
    """Reads the lines of one layout."""

    def __init__(self, layout: Layout, texts: Texts) -> None:
        self.layout = layout
        self.lines = 0
        """How many lines this layout has read."""
        self._kept = KEEP.get(layout.kind.name, ())
        self._segments = [_SegmentReader(layout, i, s, self._kept, texts) for i, s in enumerate(layout.segments)]

    def read(self, bodies: Bodies, lines: Positions) -> Found:
        layout = self.layout
        if layout.separators is not None:
            lines = lines[bodies.last[lines] - bodies.first[lines] == layout.separators]
        lines, begins, ends = self._places(bodies, lines)
        columns: Columns = {}
        for position, segment in enumerate(self._segments):
            sure = segment.read(bodies, lines, begins[position], ends[position], columns)
            if not sure.all():
                lines = lines[sure]
                begins, ends = [b[sure] for b in begins], [e[sure] for e in ends]
                columns = {name: column[sure] for name, column in columns.items()}
        return Found(layout.kind.name, lines, columns)

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
        lines = lines[done]
        begins, ends = [b[done] for b in begins], [e[done] for e in ends]
        if not layout.closed and layout.segments:
            begins.append(behind[done])
            ends.append(line_ends[done])
        return lines, begins, ends


class _SegmentReader:
    """Reads one segment of a layout into the columns of its kept fields."""

    def __init__(self, layout: Layout, position: int, segment: Segment, kept: tuple[str, ...], texts: Texts) -> None:
        self._layout = layout
        self._position = position
        self._content = segment.content
        self._fields = segment.fields
        self._kept = tuple(f for f in segment.fields if f in kept)
        self._texts = texts
        self._memo: dict[bytes, tuple[float, ...] | None] = {}

    def read(self, bodies: Bodies, lines: Positions, begins: Positions, ends: Positions, columns: Columns) -> Bools:
        """Fill the columns; return which lines are sure."""
        words, name = bodies.index.words, self._kept[0] if self._kept else ""
        if self._content is Content.NUMBER and (not name or name in DURATION_FIELDS):
            values, sure = decimals(words, begins, ends)
            return _keep(columns, name, values, sure)
        if self._content is Content.INTEGER and (not name or name in INTEGER_FIELDS):
            values, sure = decimals(words, begins, ends)
            sure &= values == np.floor(values)
            return _keep(columns, name, values.astype(np.int64), sure & (ends - begins <= WORD))
        if self._content in {Content.TACTIC, Content.HEX} and (not name or name in TACTIC_FIELDS):
            tactics, sure = hexadecimals(bodies.index.bytes, words, begins, ends)
            if sure.all():
                return _keep(columns, name, tactics, sure)
            return self._mixed(bodies, lines, begins, ends, columns, tactics, sure)
        if self._content in {Content.REST, Content.NONBLANK}:
            return self._plain(bodies, begins, ends, columns)
        return self._known(bodies, lines, begins, ends, columns)

    def _plain(self, bodies: Bodies, begins: Positions, ends: Positions, columns: Columns) -> Bools:
        """Texts that need no check beyond not being empty."""
        sure = ends > begins
        if self._kept:
            data, intern = bodies.index.data, self._texts.id
            ids = [intern(data[a:b]) for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
            columns[self._kept[0]] = np.array(ids, np.int32)
        return sure

    def _mixed(  # noqa: PLR0913, PLR0917 - what `read` has, and what it found out
        self,
        bodies: Bodies,
        lines: Positions,
        begins: Positions,
        ends: Positions,
        columns: Columns,
        tactics: npt.NDArray[np.uint64],
        sure: Bools,
    ) -> Bools:
        """Tactic ids of which some are decimal (up to 8.2): those go through the memo."""
        others = np.flatnonzero(~sure)
        rest: Columns = {}
        known = self._known(bodies, lines[others], begins[others], ends[others], rest)
        if self._kept:
            tactics[others] = rest[self._kept[0]]
            columns[self._kept[0]] = tactics
        sure[others] = known
        return sure

    def _known(self, bodies: Bodies, lines: Positions, begins: Positions, ends: Positions, columns: Columns) -> Bools:
        """Texts through the memo; a new one asks the regex about its line."""
        data, memo = bodies.index.data, self._memo
        if len(memo) > _MEMO_LIMIT:
            memo.clear()
        rows: list[tuple[float, ...] | None] = []
        for line, begin, end in zip(lines.tolist(), begins.tolist(), ends.tolist(), strict=True):
            text = data[begin:end]
            row = memo.get(text)
            if row is None and text not in memo:
                # A refusal is remembered too: at worst its line is read by the regex alone.
                row = memo[text] = self._learn(bodies, line, begin, end)
            rows.append(row)
        blank = (0,) * len(self._kept)
        for position, name in enumerate(self._kept):
            columns[name] = np.array([(blank if row is None else row)[position] for row in rows], _dtype(name))
        return np.array([row is not None for row in rows], np.bool_)

    def _learn(self, bodies: Bodies, line: int, begin: int, end: int) -> tuple[float, ...] | None:
        """Ask the regex: the line must be of the kind, this segment's fields inside it and all others outside."""
        kind = self._layout.kind
        start = int(bodies.starts[line])
        found = kind.match.fullmatch(bodies.text(line))
        if found is None:
            return None
        values: dict[str, bytes] = {}
        for group, name in enumerate(kind.fields, 1):
            low, high = found.span(group)
            if low < 0:
                continue
            inside = begin <= low + start and high + start <= end
            outside = high + start <= begin or end <= low + start
            if not (inside if name in self._fields else outside):
                return None
            values[name] = found.group(group)
        return tuple(_value(name, values.get(name), self._texts) for name in self._kept)


def _value(name: str, raw: bytes | None, texts: Texts) -> float:
    read, missing = field_reader(name, texts)
    return missing if raw is None else read(raw)


def _dtype(name: str) -> str:
    if name in TACTIC_FIELDS:
        return "u8"
    return "f8" if name in DURATION_FIELDS else "i8" if name in INTEGER_FIELDS else "i4"


def _keep(columns: Columns, name: str, values: npt.NDArray[Any], sure: Bools) -> Bools:
    if name:
        columns[name] = values
    return sure


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
