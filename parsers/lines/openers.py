"""Says which lines open with a literal of the grammar; such a kind comes before all that open with free text."""

import os
from collections.abc import Iterable
from functools import cached_property
from itertools import count

import numpy as np
import numpy.typing as npt

from trtforensics.model.arrays import Bools, Positions, Words
from trtforensics.parsers.grammar.line_kinds import LineKind
from trtforensics.parsers.text.line_index import LineIndex, opens_with
from trtforensics.parsers.text.numbers import MIXER, WORD

_TWO_BYTES = np.uint64(0xFFFF)
_SLOT_BITS = 15
_SHIFT = np.uint64(64 - _SLOT_BITS)


class WordTable:
    """A perfect hash table: a multiplication finds the slot of each word."""

    def __init__(self, words: list[int]) -> None:
        self.words = words
        factors = (MIXER * attempt % (1 << 64) for attempt in count(1, 2))
        self._factor = next(factor for factor in factors if len(set(_slots(words, factor))) == len(words))
        self._places = np.full(1 << _SLOT_BITS, len(words), np.uint16)
        self._places[_slots(words, self._factor)] = np.arange(len(words))
        self._known = np.array([*words, 0], np.uint64)

    def places(self, words: Words) -> npt.NDArray[np.uint16]:
        """Return the place of each word in ``words``; ``len(words)`` for a word that is not there."""
        places = self._places[((words * np.uint64(self._factor)) >> _SHIFT).astype(np.int64)]
        places[self._known[places] != words] = len(self.words)
        return places


def _slots(words: list[int], factor: int) -> list[int]:
    return [(word * factor % (1 << 64)) >> int(_SHIFT) for word in words]


class Openers:
    """Opening literals of kinds that never begin with free text.

    A body is looked up by its first eight bytes, then by the byte behind the common beginning of the literals that
    share those. The few shorter literals are compared where their first two bytes fit.
    """

    def __init__(self, kinds: Iterable[LineKind]) -> None:
        texts = {opener.encode("latin-1") for kind in kinds if "" not in kind.openers for opener in kind.openers}
        self._short = [text for text in texts if len(text) < WORD]
        by_head: dict[int, list[bytes]] = {}
        for text in texts.difference(self._short):
            by_head.setdefault(int.from_bytes(text[:WORD], "little"), []).append(text)
        self._heads = WordTable(list(by_head))
        self._families = [_Family(texts) for texts in by_head.values()]
        self._opens_short = _two_byte_table(self._short)

    def near_short(self, words: Words) -> Bools:
        """Say which of these first words may open with one of the literals below eight bytes."""
        near: Bools = self._opens_short[(words & _TWO_BYTES).astype(np.int64)]
        return near

    def opened(self, index: LineIndex, starts: Positions, words: Words) -> Bools:
        """Say which of these bodies, whose first eight bytes are ``words``, open with one of the literals."""
        opened = np.zeros(len(starts), np.bool_)
        near = np.flatnonzero(self.near_short(words))
        first_words = words[near]
        for text in self._short:
            opened[near[opens_with(first_words, text)]] = True
        places = self._heads.places(words)
        present = np.bincount(places, minlength=len(self._families))[: len(self._families)]
        for place in np.flatnonzero(present).tolist():
            lines = np.flatnonzero(places == place)
            opened[lines[self._families[place].opened(index, starts[lines])]] = True
        return opened


class _Family:
    """Literals with the same first eight bytes."""

    def __init__(self, texts: list[bytes]) -> None:
        self._texts = texts

    @cached_property
    def _common(self) -> int:
        """The length of the beginning that all have in common."""
        return len(os.path.commonprefix(self._texts))  # noqa: RUF071 - bytes of any kind, no paths

    @cached_property
    def _next(self) -> Bools:
        """The bytes that may stand behind the common beginning."""
        behind = np.zeros(256, np.bool_)
        for text in self._texts:
            behind[text[self._common] if len(text) > self._common else slice(None)] = True
        return behind

    def opened(self, index: LineIndex, starts: Positions) -> Bools:
        opened = self._next[index.bytes[starts + self._common]]
        near = np.flatnonzero(opened)
        behind = starts[near] + WORD
        opened[near] = np.logical_or.reduce([index.holds(behind, text[WORD:]) for text in self._texts])
        return opened


def _two_byte_table(texts: Iterable[bytes]) -> Bools:
    table = np.zeros(1 << 16, np.bool_)
    table[[int.from_bytes(text[:2], "little") for text in texts]] = True
    return table
