"""Reads the prefixes of a whole window's lines, each by the few first bytes that decide it.

The first line of a logger shows how many bytes decide: its prefix and a byte or so behind it. So many bytes of further
lines are looked up among those seen before. All digits count as one there, because a clock ticks from line to line, and
no rule asks which digit stands where. A line that begins with the same 32 bytes as the line before has the same prefix
and is not looked up. A line that begins with a byte that opens no prefix has none. Where no beginning decides, the
whole line is read.

Another message may begin in the middle of a line, where two streams or threads wrote into one file. Such lines are
looked for by what stands around the blanks of a second prefix, since most logs have none; the grammar's regex judges.

Behind a prefix is the body of a line, which the grammars of lines are about.
"""

import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from trtforensics.model.arrays import Bools, Numbers, Positions
from trtforensics.model.older_python import compiled
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import GLUED, REGEX_FLAGS
from trtforensics.parsers.lines.dialects import DIALECTS, may_open, prefix_of, severity_of
from trtforensics.parsers.lines.interning import Memo, TextSpans
from trtforensics.parsers.text.line_index import LineIndex
from trtforensics.parsers.text.numbers import blocks

Bits = npt.NDArray[np.uint8]


class Bodies:
    """The bodies of a window's lines: where each begins and ends, and its separators."""

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
        return self.spans(lines).texts(self.index.data)

    def spans(self, lines: Positions) -> TextSpans:
        """Return where some bodies are."""
        return TextSpans(lines, self.starts[lines], self.ends[lines])


class KindRows(NamedTuple):
    """Lines of one kind, and a column for each kept field; ``kind`` is None where no rule reads the lines."""

    kind: str | None
    lines: Positions
    columns: dict[str, npt.NDArray[Any]]


def grouped(numbers: npt.NDArray[Any], count: int) -> Iterator[tuple[int, Positions]]:
    """Give each number below ``count`` that occurs in an array, in order, with the places where it occurs."""
    order = numbers.argsort(kind="stable")
    limits = np.bincount(numbers, minlength=count).cumsum().tolist()
    for number, (low, high) in enumerate(zip([0, *limits], limits[:count], strict=False)):
        if high > low:
            yield number, order[low:high]


_DIGITS = b"0123456789"
_SHORT = 32
_LONGEST = 512
_MOST_SIZES = 12
_WHOLE = _LONGEST + 1
"""More bytes than any beginning has: the whole line decides."""
_OPEN = -1
"""Stands for the number of a prefix that these bytes do not decide."""


class _PrefixCode(NamedTuple):
    """A prefix in numbers: its place in DIALECTS (-1: none), its level's letter, its bytes and separators."""

    dialect: int
    severity: int
    length: int
    separators: int


_NONE = _PrefixCode(-1, 0, 0, 0)


class Prefixes(NamedTuple):
    """The prefixes of a window's lines, in columns; see :class:`_PrefixCode`."""

    dialect: Positions
    severity: Positions
    length: Positions
    separators: Positions


class PrefixReader:
    """Reads prefixes window by window and remembers those it has seen."""

    def __init__(self) -> None:
        self._codes: dict[_PrefixCode, int] = {}
        """Every distinct prefix with its number, in the order of the numbers."""
        self._by_start = {_SHORT: Memo(_DIGITS)}
        """Prefixes by the beginnings of lines, a memo for each length in bytes."""
        self._by_line = Memo(_DIGITS)
        self._found: dict[int, tuple[int, int]] = {}
        """Prefixes of the window that were read before their bytes decided: the number, and how many bytes decide."""

    def read(self, index: LineIndex) -> Prefixes:
        """Return the prefix of every line."""
        self._found.clear()
        runs = _runs(index)
        none = self._codes.setdefault(_NONE, len(self._codes))
        of_run = np.where(_may_open()[index.bytes[index.starts[runs]]], _OPEN, none).astype(np.int32)
        self._decide(index, runs, of_run, [size for size in self._by_start if size <= _SHORT])
        of_line = np.repeat(of_run, np.append(runs[1:], len(index)) - runs)
        every = np.arange(len(index))
        self._decide(index, every, of_line, [size for size in self._by_start if size > _SHORT])
        left = np.flatnonzero(of_line == _OPEN)
        of_line[left] = self._numbers(index, left, _WHOLE, self._by_line)
        table = np.array(list(self._codes), np.int64).reshape(-1, len(_NONE))
        return Prefixes(*(column[of_line] for column in np.ascontiguousarray(table.T)))

    def _decide(self, index: LineIndex, lines: Positions, numbers: Numbers, sizes: list[int]) -> None:
        """Fill in the number of the prefix of each line that this many of its first bytes decide."""
        left = np.flatnonzero(numbers == _OPEN)
        for size in sorted(sizes):
            numbers[left] = self._numbers(index, lines[left], size, self._by_start[size])
            left = left[numbers[left] == _OPEN]

    def _numbers(self, index: LineIndex, lines: Positions, size: int, memo: Memo) -> Numbers:
        """Return the number of the prefix of each line that its first ``size`` bytes decide; _OPEN for the others."""
        starts = index.starts[lines]
        ends = np.minimum(index.ends[lines], starts + min(size, _LONGEST))
        return memo.values(index, TextSpans(lines, starts, ends), partial(self._of_new, index, size))

    def _of_new(self, index: LineIndex, size: int, spans: TextSpans) -> list[int]:
        limits = index.ends[spans.lines].tolist()
        return list(map(partial(self._number, index.data, size), spans.begins.tolist(), limits))

    def _number(self, data: bytes, size: int, begin: int, limit: int) -> int:
        known = self._found.get(begin)
        if known is None:
            read, needed = _read(data[begin : min(limit, begin + _LONGEST)])
            known = self._codes.setdefault(read, len(self._codes)), needed
        number, needed = known
        if needed < _WHOLE and len(self._by_start) < _MOST_SIZES:
            self._by_start.setdefault(needed, Memo(_DIGITS))
        if needed <= size or limit - begin < size:
            return number
        self._found[begin] = known
        return _OPEN


class LevelMatcher:
    """Finds the lines of some levels, whichever logger wrote them; used as a ``LineMatcher``."""

    def __init__(self, levels: str) -> None:
        self._levels = levels
        self._prefixes = PrefixReader()

    def places(self, text: bytes) -> Iterator[int]:
        """Yield where lines of these levels begin, in lines joined by line feeds."""
        index = LineIndex(text)
        prefixes = self._prefixes.read(index)
        fits = np.isin(prefixes.severity, list(self._levels.encode()))
        for line in np.flatnonzero(prefixes.dialect < 0).tolist():
            severity = severity_of(text[int(index.starts[line]) : int(index.ends[line])])
            fits[line] = severity != "" and severity in self._levels
        yield from index.starts[fits].tolist()


@cache
def _may_open() -> Bools:
    """Return for each first byte whether a line may have a prefix; that rules out most lines of other programs."""
    return np.array([may_open(bytes((byte,))) for byte in range(256)])


def _runs(index: LineIndex) -> Positions:
    """Return the lines that begin otherwise than the line before, the first included."""
    if not len(index):
        return np.zeros(0, np.int64)
    other = np.zeros(len(index), np.bool_)
    other[0] = True
    words = blocks(index.data, index.starts, _SHORT)
    other[1:] = (words[1:] != words[:-1]).view(np.uint32).reshape(-1) != 0  # four booleans are one number
    return np.flatnonzero(other)


def _read(text: bytes) -> tuple[_PrefixCode, int]:
    """Read the prefix of a line's beginning, and how many of its bytes decide it."""
    prefix = prefix_of(text)
    if prefix is None:
        return _NONE, _WHOLE
    separators = sum(1 for byte in text[: prefix.end] if byte <= ord(" "))
    read = _PrefixCode(DIALECTS.index(prefix.dialect), ord(prefix.severity), prefix.end, separators)
    decided = _deciding(prefix.dialect).match(text, prefix.end)
    return read, decided.end() if decided else _WHOLE


@cache
def _deciding(dialect: str) -> re.Pattern[bytes]:
    """Return the regex of what must follow a prefix so that no further byte of the line matters."""
    return re.compile(tables.tables().decided_by[dialect].encode())


_CITED = r"(?<![\"'`(])"
"""A prefix behind one of these belongs to a line that a message cites."""
_FRONT = b" \t>|"
"""What stands before the lines of an excerpt."""


def glued_lines(index: LineIndex, prefixes: Prefixes) -> dict[int, list[bytes]]:
    """Return the parts of each line that holds a further message behind its own prefix."""
    near = _near_second_prefix(index, _within_bodies(index, prefixes.separators))
    bodies = index.starts + prefixes.length
    parts = {line: _cut(index, line, int(bodies[line])) for line in sorted(set(index.ends.searchsorted(near).tolist()))}
    return {line: cut for line, cut in parts.items() if len(cut) > 1}


def _within_bodies(index: LineIndex, before: Positions) -> Positions:
    """Return the separators of the bodies: all but the first so many of each line."""
    within = np.ones(len(index.separators), np.bool_)
    for place in range(int(before.max(initial=0))):
        within[index.first[before > place] + place] = False
    return index.separators[within]


def _near_second_prefix(index: LineIndex, separators: Positions) -> Positions:
    """Return the separators that have the neighbours of one of the blanks in a prefix."""
    first, second, *others = _tables()
    bits = _bits(index, separators, first) & _bits(index, separators, second)
    for table in others:
        left = np.flatnonzero(bits)
        separators = separators[left]
        bits = bits[left] & _bits(index, separators, table)
    near: Positions = separators[bits != 0]
    return near


def _bits(index: LineIndex, separators: Positions, table: tuple[int, bytes]) -> Bits:
    """Return for each separator the prefixes that may have such a neighbour, one bit each.

    Before the text's beginning stands one of the padding bytes behind it.
    """
    offset, of_byte = table
    neighbours: npt.NDArray[np.uint8] = index.bytes[separators + np.int64(offset)]
    return np.frombuffer(neighbours.tobytes().translate(of_byte), np.uint8)  # twice as fast as to index an array


@cache
def _tables() -> list[tuple[int, bytes]]:
    """Return offsets from a blank, nearest first, each with the prefixes that may have each byte there."""
    neighbours = tables.tables().neighbours
    offsets = sorted({offset for near in neighbours for offset, _ in near}, key=abs)
    of_byte = np.full((len(offsets), 256), (1 << len(neighbours)) - 1, np.uint8)
    for number, near in enumerate(neighbours):
        for offset, allowed in near:
            others = np.delete(np.arange(256), list(allowed.encode()))
            of_byte[offsets.index(offset), others] &= ~np.uint8(1 << number)
    return [(offset, row.tobytes()) for offset, row in zip(offsets, of_byte, strict=True)]


@cache
def _second_prefix() -> re.Pattern[bytes]:
    kinds = "|".join(kind.regex for kind in tables.kinds(GLUED))
    return compiled(f"{_CITED}(?:{kinds})".encode(), REGEX_FLAGS)


def _cut(index: LineIndex, line: int, body: int) -> list[bytes]:
    begin, end = int(index.starts[line]), int(index.ends[line])
    first = end - len(index.data[begin:end].lstrip(_FRONT))  # searched for once: one line may hold a whole log
    starts = (prefix.start() for prefix in _second_prefix().finditer(index.data, body, end))
    cuts = [start for start in starts if start > first]
    return [index.data[first:last] for first, last in pairwise([begin, *cuts, end])]
