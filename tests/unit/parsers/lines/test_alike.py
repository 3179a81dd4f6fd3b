"""Bodies that differ in their digits only are of one kind wherever that is said, and the usual ones are said to be."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.parsers.grammar import grammar, tables
from trtforensics.parsers.grammar.grammar import minds_digits
from trtforensics.parsers.grammar.layouts import ranks
from trtforensics.parsers.lines.events import KEEP
from trtforensics.parsers.lines.singly import Dispatch

_RANKS = ranks(tables.layouts())
_DISPATCHES = {
    "all": Dispatch(tables.kinds(), _RANKS),
    "bare": Dispatch(tables.bare_kinds(), _RANKS),
}
_USUAL = [
    b"   [ 0.91164738  0.19755137  0.33522276  0.76822964]",
    b"        Conv_12 + Relu_13        0.58           0.0049             0.0042      0.0",
    b"frame= 1234 fps= 25 q=28.0 size=    1024kB",
    b"0x45ace660[getNbOutputs]",
    b"Epoch 12/90 loss 0.0312",
]


@pytest.mark.parametrize("regex", ["0x[0-9a-f]+", "[1-9]", "a[^0]", r"TF32", r"(a)\1", "[a-f5]", r"x{2}2"])
def test_a_regex_with_a_digit_of_its_own_minds(regex: str) -> None:
    assert minds_digits(regex)


@pytest.mark.parametrize(
    "regex", ["[0-9]{2}x", r"\d+\S.", "[^ ]{1,3}", "[a-z]", r"[^\]0-9]x", r"\[[0-9a-f]\]", "a{12}"]
)
def test_a_regex_without_one_does_not(regex: str) -> None:
    assert not minds_digits(regex)


def test_no_prefix_minds_digits() -> None:
    assert [kind.name for kind in tables.kinds(grammar.PREFIX) if minds_digits(kind.regex)] == []


@pytest.mark.parametrize("body", _USUAL)
def test_of_usual_lines_of_numbers_it_is_said(body: bytes) -> None:
    assert not _DISPATCHES["bare"].minds_digits(body)
    assert not _DISPATCHES["all"].minds_digits(body)


_words = st.sampled_from(
    [
        *(
            "0x1",
            "TF32 is ",
            "Flags ",
            "| [",
            "Precision | TF32: ",
            "Tactic ",
            " time ",
            "due to ",
            "-1",
            "12",
            "PLUGIN_V2 ",
        ),
        *(
            "CONVOLUTION ",
            " ",
            ", ",
            ": ",
            "Skipping tactic 0x",
            "H2D Latency: ",
            "min = ",
            " ms",
            "[0x12]:3 :: weight ",
        ),
        *("Layer(", "GPU Compute Time", "TF32: ", "INT64", "Int64", "0.5", "1.25", "   ", "--------------- Chose "),
    ]
)


@given(st.lists(_words, min_size=1, max_size=8), st.randoms())
def test_where_digits_are_not_minded_other_digits_change_no_kind(words: list[str], random: object) -> None:
    body = "".join(words).encode()
    assert hasattr(random, "choice")
    other = re.sub(rb"[0-9]", lambda _: random.choice("0123456789").encode(), body)
    for dispatch in _DISPATCHES.values():
        kinds = [found[0].name if found else None for found in map(dispatch.find, (body, other))]
        if not dispatch.minds_digits(body):
            assert not dispatch.minds_digits(other)
            assert kinds[0] == kinds[1] or not KEEP.keys().isdisjoint(kinds)
