"""Texts in a window, looked up many at once: a hash of each span by words, a table of the hashes seen.

What a text means is asked once, in Python, when it is new. A log prints some names hundreds of thousands of times,
and cutting every one of them out for a dictionary costs several times as much as hashing where they stand.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trtforensics.parsers.numbers import MIXER, WORD, blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from trtforensics.parsers.line_index import LineIndex

    Positions = npt.NDArray[np.int64]
    Values = npt.NDArray[np.int32]
    Words = npt.NDArray[np.uint64]

    _Read = Callable[[int, int, int], int]

_FEW = 200
"""Rows below which a dictionary is faster than some fifty calls of numpy."""

_LONGEST = 1024
"""Bytes of a text beyond which it is looked up by itself: each sixteen bytes are a step for all."""

_MOST = 1 << 16
"""Texts to remember; a log that has more begins again."""

_BLOCKS = (16, 32, 64, 128)
"""Bytes that are hashed at once, the fewest that hold a text; more of a long one in further steps."""
_BLOCK_OF = np.array(_BLOCKS, np.uint8)[np.searchsorted(_BLOCKS, np.arange(_BLOCKS[-1] + 1))]
"""By the length of a text."""

_SEEDS = np.frombuffer(os.urandom(_BLOCKS[-1]), np.uint64)
"""Of this process alone, so that nobody can write a log whose texts collide; by chance two of a million texts do so
in one of 10**7 logs."""

_FACTOR = np.uint64(MIXER)
_HALF = np.uint64(32)
_MASKS = np.negative((np.arange(_BLOCKS[-1]) < np.arange(_BLOCKS[-1] + 1)[:, None]).view(np.int8)).view(np.uint64)
"""By the length of a text, which bits of its words are its own."""

_ONE, _NINE_DIGITS = np.uint8(ord("1")), 9
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"1" * _NINE_DIGITS)

_EMPTY = np.uint64(0)
_NO_KEYS, _NO_VALUES = np.zeros(1, np.uint64), np.zeros(1, np.int32)


class Spans(NamedTuple):
    """Where a text begins and ends in each of some lines."""

    lines: Positions
    begins: Positions
    ends: Positions

    def of(self, rows: Positions) -> Spans:
        """Return some of them."""
        return Spans(self.lines[rows], self.begins[rows], self.ends[rows])


class Memo:
    """Remembers a number for each text; ``digits_alike``: one for all texts that differ in the digits 1 to 9 only.

    Who asks gives a function for new ones: of the byte where the text begins, where it ends, and where its line does.
    """

    def __init__(self, *, digits_alike: bool = False) -> None:
        self._singly: dict[bytes, int] = {}
        self._table = _Table()
        self._digits_alike = digits_alike

    def values(self, index: LineIndex, spans: Spans, read: _Read) -> Values:
        """Return the number of each text."""
        if len(spans.lines) < _FEW:
            return self._one_by_one(index, spans, read)
        lengths = spans.ends - spans.begins
        longer = np.flatnonzero(lengths > _LONGEST)
        hashes = _hashes(index, spans.begins, np.minimum(lengths, _LONGEST), digits_alike=self._digits_alike)
        values, found = self._table.find(hashes)
        if len(longer):
            values[longer] = self._one_by_one(index, spans.of(longer), read)
            found[longer] = True
        new = np.flatnonzero(~found)
        if len(new):
            self._learn(index, spans, hashes, new, read)
            values[new], _ = self._table.find(hashes[new])
        return values

    def _learn(self, index: LineIndex, spans: Spans, hashes: Words, new: Positions, read: _Read) -> None:
        """Ask for the number of each text that occurs at ``new``."""
        changes = np.flatnonzero(hashes[new[1:]] != hashes[new[:-1]])  # many stand in one line after the other
        rows = np.concatenate((new[:1], new[changes + 1]))
        first = _first_of_each(hashes[rows])
        distinct = hashes[rows[first]]
        numbers = map(read, *_for_reading(index, spans.of(rows[first])))
        learned = np.fromiter(numbers, np.int32, len(first))
        if self._table.count + len(distinct) > _MOST:
            self._table = _Table()
        self._table.add(distinct, learned)

    def _one_by_one(self, index: LineIndex, spans: Spans, read: _Read) -> Values:
        memo = self._singly
        if len(memo) > _MOST:
            memo.clear()
        values = []
        for begin, end, limit in zip(*_for_reading(index, spans), strict=True):
            text = index.data[begin:end]
            if self._digits_alike:
                text = text.translate(_DIGITS_ALIKE)
            value = memo.get(text)
            if value is None:
                value = memo[text] = read(begin, end, limit)
            values.append(value)
        return np.array(values, np.int32)


def _for_reading(index: LineIndex, spans: Spans) -> tuple[list[int], list[int], list[int]]:
    return spans.begins.tolist(), spans.ends.tolist(), index.ends[spans.lines].tolist()


def _first_of_each(hashes: Words) -> Positions:
    """Return where each hash stands first, in order: who is asked may learn by it, and the log decides the order.

    (``np.unique`` would do, but imports ``numpy.ma`` for it.)
    """
    order = hashes.argsort(kind="stable")
    ordered = hashes[order]
    return np.sort(order[np.concatenate(([True], ordered[1:] != ordered[:-1]))])


class _Table:
    """Numbers by hash: open addressing in a power of two of slots, at most half of them full."""

    def __init__(self) -> None:
        self.count = 0
        self._keys, self._values = _NO_KEYS, _NO_VALUES

    def find(self, hashes: Words) -> tuple[Values, npt.NDArray[np.bool_]]:
        """Return the number of each hash, and whether it is known."""
        last = np.uint64(len(self._keys) - 1)
        slots = (hashes & last).astype(np.int64)
        keys = self._keys[slots]
        found = keys == hashes
        rows = np.flatnonzero(~found & (keys != _EMPTY))
        while len(rows):
            slots[rows] = (slots[rows] + 1) & int(last)
            keys = self._keys[slots[rows]]
            same = keys == hashes[rows]
            found[rows[same]] = True
            rows = rows[~same & (keys != _EMPTY)]
        return self._values[slots], found

    def add(self, hashes: Words, values: Values) -> None:
        """Put in hashes, all of them new and different."""
        self.count += len(hashes)
        if 2 * self.count > len(self._keys):
            known = np.flatnonzero(self._keys)
            hashes = np.concatenate((self._keys[known], hashes))
            values = np.concatenate((self._values[known], values))
            slots = 1 << (4 * self.count - 1).bit_length()
            self._keys, self._values = np.zeros(slots, np.uint64), np.zeros(slots, np.int32)
        last = len(self._keys) - 1
        slot = (hashes & np.uint64(last)).astype(np.int64)
        while len(hashes):
            free = np.flatnonzero(self._keys[slot] == _EMPTY)
            self._keys[slot[free]] = hashes[free]  # of several for one slot the last stays
            put = self._keys[slot] == hashes
            self._values[slot[put]] = values[put]
            hashes, values, slot = hashes[~put], values[~put], (slot[~put] + 1) & last


def _hashes(index: LineIndex, begins: Positions, lengths: Positions, *, digits_alike: bool) -> Words:
    """Return a hash of each text, never 0: a sum of its words, each of them mixed by its place."""
    hashes = np.empty(len(begins), np.uint64)
    sizes = _BLOCK_OF[np.minimum(lengths, _BLOCKS[-1])]
    for size in _BLOCKS:
        rows = np.flatnonzero(sizes == size)
        if len(rows):
            hashes[rows] = _of_blocks(blocks(index.data, begins[rows], size), lengths[rows], digits_alike=digits_alike)
    block = _BLOCKS[-1]
    for offset in range(block, int(lengths.max()), block):
        rows = np.flatnonzero(lengths > offset)
        words = blocks(index.data, begins[rows] + offset, block)
        more = _of_blocks(words, lengths[rows] - offset, digits_alike=digits_alike)
        hashes[rows] = hashes[rows] * _FACTOR + more
    return np.maximum(hashes, np.uint64(1))


def _of_blocks(words: Words, lengths: Positions, *, digits_alike: bool) -> Words:
    """Return a hash of the first words of each text, and of what is left of its length."""
    count = words.shape[1]
    if digits_alike:
        words = _with_digits_alike(words)
    words &= _MASKS[np.minimum(lengths, count * WORD), :count]
    words ^= _SEEDS[:count]
    words *= _FACTOR
    words ^= words >> _HALF
    words *= _SEEDS[:count] | np.uint64(1)
    sums: Words = lengths.astype(np.uint64) * _FACTOR
    sums += np.einsum("ij->i", words)  # three times as fast as sum(axis=1)
    return sums ^ (sums >> _HALF)


def _with_digits_alike(words: Words) -> Words:
    """Do to words what ``_DIGITS_ALIKE`` does to a text: several times as fast by arithmetic as by a table."""
    text = words.view(np.uint8)
    above = text - _ONE  # what is less than "1" comes out above its digits
    above *= above < _NINE_DIGITS
    return (text - above).view(np.uint64)
