"""Numbers read as words are exactly what ``float()`` and ``int()`` read, or are left to them."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.parsers.text.numbers import PADDING, decimals, hexadecimals, integers, signed


def _spread(texts: list[str]) -> tuple[bytes, np.ndarray, np.ndarray]:
    text = "................ " + " ".join(texts) + "\n"
    starts, at = [], 17
    for part in texts:
        starts.append(at)
        at += len(part) + 1
    begins = np.array(starts, np.int64)
    return text.encode("latin-1") + PADDING, begins, begins + np.array([len(t) for t in texts])


_numberish = st.one_of(
    st.floats(0, 1e9, allow_nan=False).map("{:g}".format),
    st.integers(0, 10**12).map(str),
    st.from_regex(r"[0-9]{0,9}\.?[0-9]{0,9}", fullmatch=True),
    st.text("0123456789.ex-+infa", max_size=18),
)


@given(st.lists(_numberish, min_size=1, max_size=40))
def test_a_decimal_that_is_certain_is_what_float_gives(texts: list[str]) -> None:
    data, begins, ends = _spread(texts)
    values, certain = decimals(data, begins, ends)
    for text, value, sure in zip(texts, values.tolist(), certain.tolist(), strict=True):
        if sure:
            assert value == float(text)


def test_the_decimals_of_logs_are_certain() -> None:
    texts = ["0.0129196", "0", "12.5", "99999999", "0.00000123", "1.", "123456789", "0.00123456", "12345678.12345678"]
    data, begins, ends = _spread(texts)
    values, certain = decimals(data, begins, ends)
    assert certain.tolist() == [True] * 8 + [False]  # sixteen digits may not fit a float's mantissa
    assert values.tolist()[:8] == [float(t) for t in texts[:8]]


def test_what_is_no_plain_decimal_is_left_to_the_regex() -> None:
    texts = ["inf", "nan", "1e-05", "-1", "1.2.3", ".5", "", "12a", "12345678901234567", "3.40282e+38", "..", "1..2"]
    data, begins, ends = _spread(texts)
    assert not decimals(data, begins, ends)[1].any()


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=40))
def test_every_tactic_id_is_read(tactics: list[int]) -> None:
    data, begins, ends = _spread([f"0x{tactic:x}" for tactic in tactics])
    values, certain = hexadecimals(data, begins, ends)
    assert certain.all()
    assert values.tolist() == tactics


def test_what_is_no_tactic_id_is_left_to_the_regex() -> None:
    texts = ["0x", "0xG", "0xABC", "1x12", "x", "0x12345678901234567", "-12"]
    data, begins, ends = _spread(texts)
    assert not hexadecimals(data, begins, ends)[1].any()


@given(st.lists(st.from_regex(r"[0-9]{0,10}[.a]?", fullmatch=True), min_size=1, max_size=40))
def test_an_integer_that_is_certain_has_one_to_eight_digits(texts: list[str]) -> None:
    data, begins, ends = _spread(texts)
    values, certain = integers(data, begins, ends)
    for text, value, sure in zip(texts, values.tolist(), certain.tolist(), strict=True):
        assert sure == (text.isdecimal() and len(text) <= 8)
        assert not sure or value == int(text)


@given(st.lists(st.integers(-(10**20) + 1, 10**20 - 1), min_size=1, max_size=40))
def test_every_decimal_tactic_id_is_read(tactics: list[int]) -> None:
    data, begins, ends = _spread([str(tactic) for tactic in tactics])
    values, certain = signed(data, begins, ends)
    assert certain.all()
    assert values.tolist() == [tactic % 2**64 for tactic in tactics]


@given(st.lists(st.text("0123456789-x/:", max_size=24), min_size=1, max_size=40))
def test_only_what_is_a_whole_number_is_one(texts: list[str]) -> None:
    data, begins, ends = _spread(texts)
    values, certain = signed(data, begins, ends)
    for text, value, sure in zip(texts, values.tolist(), certain.tolist(), strict=True):
        whole = re.fullmatch("-?[0-9]{1,20}", text) is not None
        assert sure == whole
        if whole:
            assert value == int(text) % 2**64
