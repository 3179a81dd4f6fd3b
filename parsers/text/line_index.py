"""Indexes a text: arrays of the places of its lines and separators, and a view of it as words of eight bytes.

A separator is every byte up to the blank (32): blanks, line feeds, tabs, control characters. Counting them from the
left or the right end of a line finds a field without looking at the bytes between.
"""

import numpy as np

from trtforensics.model.arrays import Bools, Positions, Words
from trtforensics.parsers.text.numbers import PADDING, WORD, blocks, words_of

BLANK = 0x20
LINE_FEED = 0x0A


class LineIndex:
    """The index of a clean text: one without CR before a line feed, and without escape sequences.

    The arrays have one entry a line. ``starts`` and ``ends`` are byte positions; the end is that of the line feed.
    ``first`` and ``last`` are places in ``separators``: that of the first separator of the line, and of the line feed.
    """

    def __init__(self, text: bytes) -> None:
        closed = text if text.endswith(b"\n") or not text else text + b"\n"
        self.size = len(closed)
        self.data = closed + PADDING
        self.bytes = np.frombuffer(self.data, np.uint8)
        self.words = words_of(self.data)
        body = self.bytes[: self.size]
        self.separators: Positions = np.flatnonzero(body <= BLANK)
        self.last: Positions = np.flatnonzero(body[self.separators] == LINE_FEED)
        self.ends: Positions = self.separators[self.last]
        self.starts: Positions = np.concatenate((np.zeros(1, np.int64), self.ends[:-1] + 1))[: len(self.ends)]
        self.first: Positions = np.concatenate((np.zeros(1, np.int64), self.last[:-1] + 1))[: len(self.last)]

        self._has: dict[bytes, bool] = {}

    def __len__(self) -> int:
        return len(self.ends)

    def has(self, literal: bytes) -> bool:
        """Whether a literal stands anywhere in the text; each literal is searched for once, at gigabytes a second."""
        if literal not in self._has:
            self._has[literal] = literal in self.data
        return self._has[literal]

    def holds(self, at: Positions, literal: bytes) -> Bools:
        """Say at which positions a literal of at most 256 bytes stands: its first word is compared, then the rest."""
        holds = opens_with(self.words[at], literal[:WORD])
        rest = literal[WORD:]
        if rest:
            rows = np.flatnonzero(holds)
            holds[rows] = self._holds_rest(at[rows] + WORD, rest)
        return holds

    def _holds_rest(self, at: Positions, literal: bytes) -> Bools:
        words, rest = divmod(len(literal), WORD)
        size = words + bool(rest)
        wanted = np.frombuffer(literal.ljust(size * WORD, b"\0"), np.uint64)
        text_words = blocks(self.data, at, size * WORD)
        if rest:
            text_words[:, -1] &= np.uint64((1 << 8 * rest) - 1)
        holds: Bools = text_words[:, -1] == wanted[-1]
        for column in range(size - 1):
            holds &= text_words[:, column] == wanted[column]
        return holds


def opens_with(words: Words, literal: bytes) -> Bools:
    """Say which words begin with one to eight bytes."""
    if len(literal) < WORD:
        words = words & np.uint64((1 << 8 * len(literal)) - 1)
    opens: Bools = words == np.uint64(int.from_bytes(literal, "little"))
    return opens
