"""Texts looked up many at once have the numbers that a dictionary would give them, each asked for once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.parsers.lines import interning
from trtforensics.parsers.lines.interning import Memo, TextSpans
from trtforensics.parsers.text.line_index import LineIndex

if TYPE_CHECKING:
    import pytest


class _Asked:
    """Numbers texts as they are asked for, and remembers what was asked."""

    def __init__(self) -> None:
        self.texts: list[bytes] = []

    def values(self, memo: Memo, texts: list[bytes]) -> list[bytes]:
        """Look texts up, one a line between bytes that are not theirs; return what their numbers stand for."""
        index = LineIndex(b"".join(b"(%s%%" % text + b"\n" for text in texts))

        def read(new: TextSpans) -> list[int]:
            assert new.lines.tolist() == index.last.searchsorted(index.separators.searchsorted(new.ends)).tolist()
            self.texts += new.texts(index.data)
            return list(range(len(self.texts) - len(new.lines), len(self.texts)))

        spans = TextSpans(np.arange(len(texts)), index.starts + 1, index.ends - 1)
        return [self.texts[number] for number in memo.values(index, spans, read).tolist()]


_text = st.one_of(
    st.binary(max_size=40).map(lambda text: text.replace(b"\n", b" ")),
    st.tuples(
        st.sampled_from([b"a", b"\xff", b"\0"]), st.sampled_from([7, 8, 15, 16, 17, 63, 64, 65, 127, 128, 129])
    ).map(lambda part: part[0] * part[1]),
    st.integers(0, 9).map(lambda last: b"x" * 1030 + b"%d" % last),
)


@given(st.lists(_text, min_size=1, max_size=30), st.integers(0, 2**32))
def test_every_text_has_its_own_number(texts: list[bytes], seed: int) -> None:
    order = np.random.default_rng(seed).integers(0, len(texts), 400)
    rows = [texts[place] for place in order.tolist()]
    asked, memo = _Asked(), Memo()
    assert asked.values(memo, rows) == rows
    assert asked.values(memo, rows[::-1]) == rows[::-1]
    assert sorted(asked.texts) == sorted(set(rows))


def test_a_few_rows_are_looked_up_without_numpy_and_mean_the_same() -> None:
    asked, memo = _Asked(), Memo()
    texts = [b"conv1", b"conv2", b"conv1", b""]
    assert asked.values(memo, texts) == texts
    assert asked.texts == [b"conv1", b"conv2", b""]


def test_a_table_that_grows_loses_nothing() -> None:
    asked, memo = _Asked(), Memo()
    for first in range(0, 9000, 300):
        texts = [b"/layer.%d/MatMul" % number for number in range(first, first + 600)]
        assert asked.values(memo, texts) == texts
    assert len(asked.texts) == len(set(asked.texts)) == 9300


def test_a_log_with_more_texts_than_are_kept_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interning, "_MOST", 500)
    asked, memo = _Asked(), Memo()
    for first in (0, 400, 0):
        texts = [b"/layer.%d/MatMul" % number for number in range(first, first + 400)]
        assert asked.values(memo, texts) == texts
    assert len(asked.texts) == 1200


def test_texts_that_differ_in_the_last_bytes_of_words_only_have_hashes_of_their_own() -> None:
    """A multiplication carries differences up, and those are at the top already."""
    texts = [b"layer_%c stage_%c block_%c conv__%c" % tuple(b"%04d" % number) for number in range(10_000)]
    index = LineIndex(b"\n".join(texts))
    hashes = interning._hashes(index, index.starts, index.ends - index.starts, b"")
    assert len(set(hashes.tolist())) == len(texts)
    halves = {(number >> shift) & 0xFFFF_FFFF for number in hashes.tolist() for shift in (0, 32)}
    assert len(halves) > 2 * len(texts) - 20


def test_texts_with_one_hash_slot_are_kept_apart() -> None:
    table = interning._HashTable()
    hashes = np.arange(1, 7, dtype=np.uint64) << np.uint64(32)  # all of them in slot 0
    table.add(hashes, np.arange(6, dtype=np.int32))
    values, found = table.find(np.concatenate((hashes, hashes[:1] + np.uint64(1 << 40))))
    assert values[:6].tolist() == list(range(6))
    assert found.tolist() == [True] * 6 + [False]
