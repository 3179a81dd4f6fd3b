"""Which lines open with a literal: what numpy says is what comparing each literal says."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.parsers.grammar import tables
from trtforensics.parsers.lines.openers import Openers, WordTable
from trtforensics.parsers.text.line_index import LineIndex

_OPENERS = Openers(tables.kinds())
_LITERALS = sorted(
    {opener.encode("latin-1") for kind in tables.kinds() if "" not in kind.openers for opener in kind.openers}
)
_line = st.tuples(
    st.sampled_from(_LITERALS), st.integers(0, 60), st.sampled_from([b"", b" ", b"x", b"(", b"Tactic", b"\xff"])
).map(lambda parts: parts[0][: parts[1]] + parts[2])


@given(st.lists(_line, min_size=1, max_size=50))
def test_a_line_opens_with_a_literal_or_not(lines: list[bytes]) -> None:
    index = LineIndex(b"".join(line + b"\n" for line in lines))
    opened = _OPENERS.opened(index, index.starts, index.words[index.starts])
    assert opened.tolist() == [line.startswith(tuple(_LITERALS)) for line in lines]
    near = _OPENERS.near_short(index.words[index.starts])
    short = tuple(literal for literal in _LITERALS if len(literal) < 8)
    assert all(line.startswith(short) <= is_near for line, is_near in zip(lines, near.tolist(), strict=True))


@given(st.sets(st.integers(1, 2**64 - 1), max_size=60), st.sets(st.integers(0, 2**64 - 1), max_size=60))
def test_words_are_found_at_their_places(known: set[int], others: set[int]) -> None:
    words = sorted(known)
    asked = [*words, *(others - known)]
    places = WordTable(words).places(np.array(asked, np.uint64)).tolist()
    assert places == [words.index(word) if word in known else len(words) for word in asked]
