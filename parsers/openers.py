"""Which lines open with a literal of the grammar: that wins over every kind that opens with free text."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.parsers.numbers import WORD

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from trtforensics.parsers.grammar import Kind
    from trtforensics.parsers.line_index import LineIndex

    Bools = npt.NDArray[np.bool_]
    Positions = npt.NDArray[np.int64]
    Words = npt.NDArray[np.uint64]

_TWO_BYTES = np.uint64(0xFFFF)


class Openers:
    """The literals that open kinds of which no alternative opens with text.

    Most lines are told apart by two bytes; the others are looked up by eight, and by the byte behind what the literals
    with those eight have in common.
    """

    def __init__(self, kinds: Iterable[Kind]) -> None:
        texts = {opener.encode("latin-1") for kind in kinds if "" not in kind.openers for opener in kind.openers}
        self._short = [text for text in texts if len(text) < WORD]
        by_head: dict[int, list[bytes]] = {}
        for text in texts.difference(self._short):
            by_head.setdefault(int.from_bytes(text[:WORD], "little"), []).append(text)
        self._heads = np.array(sorted(by_head), np.uint64)
        self._long = [_Family(by_head[head]) for head in self._heads.tolist()]
        self._opens_short = _two_byte_table(self._short)
        self._opens_long = _two_byte_table(texts.difference(self._short))

    def near_short(self, words: Words) -> Bools:
        """Say which of these first words may open with one of the literals below eight bytes."""
        near: Bools = self._opens_short[(words & _TWO_BYTES).astype(np.int64)]
        return near

    def opened(self, index: LineIndex, starts: Positions, words: Words) -> Bools:
        """Say which of these bodies, whose first eight bytes are ``words``, open with one of the literals."""
        opened = np.zeros(len(starts), np.bool_)
        two = (words & _TWO_BYTES).astype(np.int64)
        near = np.flatnonzero(self._opens_short[two])
        for text in self._short:
            opened[near[index.holds(starts[near], text)]] = True
        near = np.flatnonzero(self._opens_long[two])
        place = np.minimum(self._heads.searchsorted(words[near]), len(self._heads) - 1)
        same = self._heads[place] == words[near]
        near, place = near[same], place[same]
        for head in np.flatnonzero(np.bincount(place)).tolist():
            lines = near[place == head]
            opened[lines[self._long[head].opened(index, starts[lines])]] = True
        return opened


class _Family:
    """Literals with the same first eight bytes."""

    def __init__(self, texts: list[bytes]) -> None:
        self._texts = texts
        self._common = len(os.path.commonprefix(texts))  # noqa: RUF071 - bytes of any kind, no paths
        self._next = np.zeros(256, np.bool_)
        """The bytes that may stand behind what all have in common."""
        for text in texts:
            self._next[text[self._common] if len(text) > self._common else slice(None)] = True

    def opened(self, index: LineIndex, starts: Positions) -> Bools:
        opened = self._next[index.bytes[starts + self._common]]
        near = np.flatnonzero(opened)
        opened[near] = np.logical_or.reduce([index.holds(starts[near], text) for text in self._texts])
        return opened


def _two_byte_table(texts: Iterable[bytes]) -> Bools:
    table = np.zeros(1 << 16, np.bool_)
    table[[int.from_bytes(text[:2], "little") for text in texts]] = True
    return table
