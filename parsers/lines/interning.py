"""Numbers for the texts of a window, looked up many at once by a hash of each text.

A caller reads a text in Python only once, when it is new. A log prints some names hundreds of thousands of times: to
cut each of them out for a dictionary costs several times as much as to hash the texts where they stand.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from trtforensics.model.arrays import Bools, Numbers, Positions, Words
from trtforensics.parsers.text.line_index import LineIndex
from trtforensics.parsers.text.numbers import MIXER, WORD, blocks

_ReadTexts = Callable[["TextSpans"], list[int]]

_FEW = 200
"""Number of texts below which a dictionary is faster than some fifty calls of numpy."""

_LONGEST = 1024
"""Bytes beyond which a text is looked up by itself: the longest text decides how long all take."""

_MOST = 1 << 16
"""Texts to remember; where a log has more, remembering starts again."""

_BLOCK = 128
"""Bytes that are hashed at once; a longer text takes further steps."""
_SHORT = 64
"""Where no text has more bytes, it is not worth while to hash the shorter texts by themselves."""
_SEEDS = np.frombuffer(os.urandom(_BLOCK), np.uint64) | np.uint64(1)
"""A random factor for each word, so that nobody can write a log whose texts collide. By chance, two of a million texts
collide in one of 10**7 logs."""

_FACTOR = np.uint64(MIXER)
_HALF = np.uint64(32)
_DOT = np.vecdot if hasattr(np, "vecdot") else np.matmul
"""The sum of products of each row; numpy 1.26 has no ``vecdot``, and its ``matmul`` takes a few per cent longer."""


@cache
def _masks(count: int) -> Words:
    """Return for each length of a text, up to ``count`` words, the masks of the bits that belong to the text."""
    size = count * WORD
    return np.negative((np.arange(size) < np.arange(size + 1)[:, None]).view(np.int8)).view(np.uint64)


_EMPTY = np.uint64(0)
_NO_KEYS, _NO_VALUES = np.zeros(1, np.uint64), np.zeros(1, np.int32)


class TextSpans(NamedTuple):
    """A text in each of some lines: where it begins and ends."""

    lines: Positions
    begins: Positions
    ends: Positions

    def of(self, rows: Positions) -> TextSpans:
        """Return some of them."""
        return TextSpans(self.lines[rows], self.begins[rows], self.ends[rows])

    def texts(self, data: bytes) -> list[bytes]:
        """Cut the texts out."""
        return [data[begin:end] for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True)]


class Memo:
    """Remembers a number for each text; the caller's function gives the numbers of new texts, by their spans.

    Bytes of ``alike``, a run of consecutive ones such as the digits, count as one: texts that differ in nothing else
    share their number.
    """

    def __init__(self, alike: bytes = b"") -> None:
        self._singly: dict[bytes, int] = {}
        self._table = _HashTable()
        self._alike = alike

    def values(self, index: LineIndex, spans: TextSpans, read: _ReadTexts) -> Numbers:
        """Return the number of each text."""
        if len(spans.lines) < _FEW:
            return self._one_by_one(index, spans, read)
        lengths = np.minimum(spans.ends - spans.begins, _LONGEST)
        hashes = _hashes(index, spans.begins, lengths, self._alike)  # of a longer text, of its beginning
        values, known = self._table.find(hashes)
        longer = np.flatnonzero(spans.ends - spans.begins > _LONGEST)
        if len(longer):
            values[longer] = self._one_by_one(index, spans.of(longer), read)
            known[longer] = True
        new = np.flatnonzero(~known)
        if len(new):
            self._learn(spans, hashes, new, read)
            values[new], _ = self._table.find(hashes[new])
        return values

    def _learn(self, spans: TextSpans, hashes: Words, new: Positions, read: _ReadTexts) -> None:
        """Ask for the number of each distinct text of the rows ``new``."""
        changes = np.flatnonzero(hashes[new[1:]] != hashes[new[:-1]])  # equal texts often stand in consecutive lines
        rows = np.concatenate((new[:1], new[changes + 1]))
        first = _first_of_each(hashes[rows])
        distinct = hashes[rows[first]]
        learned = np.array(read(spans.of(rows[first])), np.int32)
        if self._table.count + len(distinct) > _MOST:
            self._table = _HashTable()
        self._table.add(distinct, learned)

    def _one_by_one(self, index: LineIndex, spans: TextSpans, read: _ReadTexts) -> Numbers:
        memo = self._singly
        if len(memo) > _MOST:
            memo.clear()
        texts = spans.texts(index.data)
        if self._alike:
            same = bytes.maketrans(self._alike, self._alike[:1] * len(self._alike))
            texts = [text.translate(same) for text in texts]
        new: dict[bytes, int] = {}
        for row, text in enumerate(texts):
            if text not in memo:
                new.setdefault(text, row)
        if new:
            memo.update(zip(new, read(spans.of(np.array(list(new.values())))), strict=True))
        return np.array([memo[text] for text in texts], np.int32)


def _first_of_each(hashes: Words) -> Positions:
    """Return where each distinct hash occurs first, in the log's order; ``np.unique`` would import ``numpy.ma``."""
    order = hashes.argsort(kind="stable")
    ordered = hashes[order]
    return np.sort(order[np.concatenate(([True], ordered[1:] != ordered[:-1]))])


class _HashTable:
    """Numbers by hash: open addressing in a power of two of slots, at most half of them full."""

    def __init__(self) -> None:
        self.count = 0
        self._keys, self._values = _NO_KEYS, _NO_VALUES

    def find(self, hashes: Words) -> tuple[Numbers, Bools]:
        """Return the number of each hash, and whether it is known."""
        last = np.uint64(len(self._keys) - 1)
        slots = (hashes & last).astype(np.int64)
        keys = self._keys[slots]
        known = keys == hashes
        rows = np.flatnonzero(~known & (keys != _EMPTY))
        while len(rows):
            slots[rows] = (slots[rows] + 1) & int(last)
            keys = self._keys[slots[rows]]
            same = keys == hashes[rows]
            known[rows[same]] = True
            rows = rows[~same & (keys != _EMPTY)]
        return self._values[slots], known

    def add(self, hashes: Words, values: Numbers) -> None:
        """Add hashes, all of them new and different."""
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


def _hashes(index: LineIndex, begins: Positions, lengths: Positions, alike: bytes) -> Words:
    """Return a hash of each text, never 0: a sum of its words, mixed, each times the factor of its place."""
    longest = int(lengths.max())
    if longest > _SHORT:  # the longest text decides how many words are hashed of each
        short = 2 * lengths <= min(longest, _BLOCK)
        if 2 * np.count_nonzero(short) > len(lengths):
            hashes = np.empty(len(lengths), np.uint64)
            for rows in (np.flatnonzero(chosen) for chosen in (short, ~short)):
                hashes[rows] = _hashes(index, begins[rows], lengths[rows], alike)
            return hashes
    words = blocks(index.data, begins, min(WORD * (-(-longest // WORD) or 1), _BLOCK))
    hashes = _of_blocks(words, lengths, alike)
    for offset in range(_BLOCK, longest, _BLOCK):
        rows = np.flatnonzero(lengths > offset)
        words = blocks(index.data, begins[rows] + offset, _BLOCK)
        more = _of_blocks(words, lengths[rows] - offset, alike)
        hashes[rows] = hashes[rows] * _FACTOR + more
    return np.maximum(hashes, np.uint64(1))


def _of_blocks(words: Words, lengths: Positions, alike: bytes) -> Words:
    """Return a hash of the first words of each text and of its length from there on."""
    count = words.shape[1]
    if alike:
        words = _with_digits_alike(words, alike)
    words &= _masks(count).take(lengths, axis=0, mode="clip")
    words ^= words >> _HALF  # else a word's last byte would only reach the highest bits
    words *= _FACTOR
    words ^= words >> _HALF
    sums: Words = lengths.astype(np.uint64) * _FACTOR
    sums += _DOT(words, _SEEDS[:count]) if count > 1 else words[:, 0] * _SEEDS[0]  # a third of the time for one
    return sums ^ (sums >> _HALF)


def _with_digits_alike(words: Words, digits: bytes) -> Words:
    """Replace each of these digits by the first; arithmetic is several times as fast as a table."""
    text = words.view(np.uint8)
    above = text - np.uint8(digits[0])  # what is less comes out above its digits
    above *= (above < len(digits)).view(np.uint8)
    np.subtract(text, above, out=above)
    return above.view(np.uint64)
