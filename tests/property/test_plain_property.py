"""What is read as plain means what LALR reads: names, formats and tensors, generated and from the corpus."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trtforensics.parsers import plain
from trtforensics.parsers.formats import _texts, parse_formats
from trtforensics.parsers.names import members
from trtforensics.parsers.tensors import _detailed_tensors, short_tensors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_READERS: dict[str, Callable[[str], object]] = {
    "formats": parse_formats,
    "is_formats": lambda text: _texts(text, ""),
    "members": members,
    "short_tensors": short_tensors,
    "detailed_tensors": _detailed_tensors,
}
"""The reader that asks each function of ``plain`` first."""


def _forget() -> None:
    for cached in (parse_formats, _texts, members, short_tensors, _detailed_tensors):
        cached.cache_clear()


def _assert_equal(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, read in _READERS.items():
        if not getattr(plain, name)(text):
            continue
        _forget()
        found = read(text)
        with monkeypatch.context() as patch:
            for other in _READERS:
                patch.setattr(plain, other, lambda _: None)
            _forget()
            assert found == read(text), (name, text)


_PIECES = (
    *("Half", "Float(784,1:4,28,1)", "Int32()", "(1,2)", "-1", "0", "07", ":8", ":0", ",", ", ", "(", ")", "[", "]"),
    *(
        " -> ",
        " + ",
        " || ",
        "PWN(",
        "{ForeignNode[",
        "]}",
        "...",
        "{ForeignNode[a.../b_1]}",
        "PWN(a, b + c)",
        "Reformatted Input Tensor 0 to {ForeignNode[a.../b_1]}",
        "y (Half[1,3])",
        " [profile 1]",
        "a",
        "/b_1",
        " ",
        "x (Half[1,3])",
        "y[Half(1,3)]",
        " long-strided",
    ),
    *("(Unnamed Layer* 5) [Matrix Multiply]", "(Unnamed Layer* 5) [Shuffle]_output", "_output (Half[1])"),
    *("{ Name: ", ", Location: Device", ", Dimensions: [1,2]", ", Format/Datatype: Half", " }", "[ ", " where E0=4"),
)
_generated = st.lists(st.sampled_from(_PIECES), max_size=9).map("".join)


@pytest.fixture(scope="module")
def patch() -> pytest.MonkeyPatch:
    return pytest.MonkeyPatch()


@settings(max_examples=1500, deadline=None)
@given(text=_generated)
def test_what_is_plain_means_the_same_to_both(text: str, patch: pytest.MonkeyPatch) -> None:
    _assert_equal(text, patch)


_tensor = st.tuples(
    st.sampled_from(["x", "a b", "c, d", "(e)", "r to (Unnamed Layer* 1) [Top K]_1", "(Unnamed Layer* 1) [Half]"]),
    st.sampled_from(["", "1", "-1,32:8"]),
).map(lambda drawn: f"{drawn[0]} (Half[{drawn[1]}])")
_side = st.lists(_tensor, max_size=3).map(", ".join)


@settings(max_examples=200, deadline=None)
@given(text=st.tuples(_side, _side).map(" -> ".join))
def test_sides_of_tensors_mean_the_same_to_both(text: str, patch: pytest.MonkeyPatch) -> None:
    _assert_equal(text, patch)


_TEXTS_OF_LOGS = (
    re.compile(r"Autotuning (?:format combination: |Reformat: ?)(.+?) -> (.+?) \*{15}"),
    re.compile(r"^Layer\(\w+\): (.+?), Tactic: [-0-9a-fx]+, (.*)", re.MULTILINE),
    re.compile(r"Inputs: (\[.*?\]), Outputs: (\[.*?\}\])"),
)


@pytest.mark.corpus
def test_what_the_corpus_prints_means_the_same_to_both(corpus: Path, patch: pytest.MonkeyPatch) -> None:
    found: set[str] = set()
    for log in sorted((corpus / "buildlog").iterdir()):
        text = log.read_bytes().decode("utf-8", "replace")
        found.update(part for pattern in _TEXTS_OF_LOGS for match in pattern.findall(text) for part in match)
    plain_ones = sorted(text for text in found if any(getattr(plain, name)(text) for name in _READERS))
    assert plain_ones
    for text in plain_ones[:: max(1, len(plain_ones) // 400)]:
        _assert_equal(text, patch)
