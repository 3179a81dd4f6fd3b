"""Lines in whose middle another message begins: two streams or threads wrote into one file.

That happens where one of them had not ended its line. :func:`glued_lines` finds such lines among those of a whole
window by what stands around the blanks of a second prefix, since most logs have none; the grammar's regex then judges.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model.older_python import compiled
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import GLUED, REGEX_FLAGS

if TYPE_CHECKING:
    import re

    import numpy.typing as npt

    from trtforensics.parsers.lines.prefixes import Prefixes
    from trtforensics.parsers.text.line_index import LineIndex

    Positions = npt.NDArray[np.int64]
    Bits = npt.NDArray[np.uint8]

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
    """Cut a line where each further message of its body begins."""
    begin, end = int(index.starts[line]), int(index.ends[line])
    first = end - len(index.data[begin:end].lstrip(_FRONT))  # searched for once: one line may hold a whole log
    starts = (prefix.start() for prefix in _second_prefix().finditer(index.data, body, end))
    cuts = [start for start in starts if start > first]
    return [index.data[first:last] for first, last in pairwise([begin, *cuts, end])]
