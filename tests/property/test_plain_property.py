"""What is read as plain means what LALR reads: names, formats and tensors, generated and from the corpus."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from trtforensics.parsers.notation import plain
from trtforensics.parsers.notation.formats import Format, _nested, _texts, parse_formats
from trtforensics.parsers.notation.names import members
from trtforensics.parsers.notation.tensors import _detailed_tensors, short_tensors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_READERS: dict[str, Callable[[str], object]] = {
    "formats": parse_formats,
    "symbolic_formats": parse_formats,
    "is_formats": lambda text: _texts(text, ""),
    "members": members,
    "short_tensors": short_tensors,
    "detailed_tensors": _detailed_tensors,
}
"""The reader that asks each function of ``plain`` first."""


def _forget() -> None:
    for cached in (parse_formats, _texts, members, short_tensors, _detailed_tensors):
        cached.cache_clear()


def _asked(name: str, text: str) -> object:
    """Ask a function of ``plain``; formats without those of the other side."""
    return getattr(plain, name)(*((text, "") if name == "symbolic_formats" else (text,)))


def _assert_equal(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, read in _READERS.items():
        if not _asked(name, text):
            continue
        _forget()
        found = read(text)
        with monkeypatch.context() as patch:
            for other in _READERS:
                patch.setattr(plain, other, lambda *_: None)
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
    *("PWN((Unnamed Layer* 5) [Shuffle] + ", "(# 2 (SHAPE x))", "E0", "Float(E0:32,(* 2 E1),1)", " where E0=(* 2 x)"),
    *("(Unnamed Layer* 5) [Matrix Multiply]", "(Unnamed Layer* 5) [Shuffle]_output", "_output (Half[1])"),
    *("{ Name: ", ", Location: Device", ", Dimensions: [1,2]", ", Format/Datatype: Half", " }", "[ ", " where E0=4"),
)
_generated = st.lists(st.sampled_from(_PIECES), max_size=9).map("".join)


@pytest.fixture(scope="module")
def patch() -> pytest.MonkeyPatch:
    return pytest.MonkeyPatch()


@examples(1500)
@given(text=_generated)
def test_what_is_plain_means_the_same_to_both(text: str, patch: pytest.MonkeyPatch) -> None:
    _assert_equal(text, patch)


_tensor = st.tuples(
    st.sampled_from(
        [
            *("x", "a b", "c, d", "(e)", "r to (Unnamed Layer* 1) [Top K]_1", "(Unnamed Layer* 1) [Half]", "PWN(x)"),
            *("(Unnamed Layer* 0) [P_V3]_output (1)", "to {ForeignNode[(Unnamed Layer* 0) [Q]]}", "(Half[", "a (Half)"),
            *("PWN((Unnamed Layer* 17) [ElementWise])", " (1)", "(Int8"),
        ]
    ),
    st.sampled_from(["", "1", "-1,32:8"]),
).map(lambda drawn: f"{drawn[0]} (Half[{drawn[1]}])")
_side = st.lists(_tensor, max_size=3).map(", ".join)


_expression = st.recursive(
    st.sampled_from(["1", "-1", "07", "x", "E0", "E1", "time_axis", "a-1", "--2", "E", "1x"]),
    lambda inner: st.tuples(st.sampled_from(["*", "#", "E1", "SHAPE", "+,"]), st.lists(inner, max_size=2)).map(
        lambda drawn: f"({' '.join([drawn[0], *drawn[1]])})"
    ),
    max_leaves=4,
)
_stride = st.tuples(_expression, st.sampled_from(["", "", "", ":8", ":08"])).map("".join)
_format = st.lists(_stride, max_size=3).map(lambda strides: f"Half({','.join(strides)})")
_binding = st.tuples(st.sampled_from(["E0", "E1", "F"]), _expression).map("=".join)
_where = st.lists(_binding, max_size=2).map(lambda bindings: f" where {', '.join(bindings)}" if bindings else "")
_formats = st.tuples(st.lists(_format, min_size=1, max_size=2).map(", ".join), _where).map("".join)


@examples(400)
@given(text=_formats, other=st.just("") | _formats)
def test_symbolic_formats_mean_the_same_to_both(text: str, other: str) -> None:
    found = plain.symbolic_formats(text, other)
    if found is not None:
        assert tuple(Format(*one) for one in found) == _nested(text, other)


@examples(200)
@given(text=st.tuples(_side, _side).map(" -> ".join))
def test_sides_of_tensors_mean_the_same_to_both(text: str, patch: pytest.MonkeyPatch) -> None:
    _assert_equal(text, patch)


_TEXTS_OF_LOGS = (
    re.compile(r"Autotuning (?:format combination: |Reformat: ?)(.+?) -> (.+?) \*{15}"),
    re.compile(r"^Layer\(\w+\): (.+?), Tactic: [-0-9a-fx]+, (.*)", re.MULTILINE),
    re.compile(r"Inputs: (\[.*?\]), Outputs: (\[.*?\}\])"),
)


@pytest.mark.corpus
@pytest.mark.slow
def test_what_the_corpus_prints_means_the_same_to_both(corpus: Path, patch: pytest.MonkeyPatch) -> None:
    found: set[str] = set()
    for log in sorted((corpus / "buildlog").iterdir()):
        text = log.read_bytes().decode("utf-8", "replace")
        found.update(part for pattern in _TEXTS_OF_LOGS for match in pattern.findall(text) for part in match)
    plain_ones = sorted(text for text in found if any(_asked(name, text) for name in _READERS))
    assert plain_ones
    for text in plain_ones[:: max(1, len(plain_ones) // 400)]:
        _assert_equal(text, patch)
