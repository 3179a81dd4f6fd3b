"""What is rendered by hand is what ``json.dumps`` prints."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from trtforensics.render.json_rendering import WORD, Rendered, number, render, text, texts, woven

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def strands(size: int) -> st.SearchStrategy[str | list[str]]:
    return st.text() | st.lists(st.text(), min_size=size, max_size=size)


@given(st.text())
def test_a_text(value: str) -> None:
    assert text(value) == json.dumps(value)


@given(st.lists(st.text()))
def test_a_list_of_texts(value: list[str]) -> None:
    assert texts(value) == json.dumps(value)


@given(st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number(value: float | None) -> None:
    assert number(value) == json.dumps(value)


@given(st.none() | st.booleans())
def test_a_word(value: bool | None) -> None:  # noqa: FBT001 - drawn, not passed
    assert WORD[value] == json.dumps(value)


@given(values, st.integers(0, 3))
def test_a_document_reads_back(value: object, record_depth: int) -> None:
    assert json.loads(render(value, record_depth)) == value


@given(values, st.integers(1, 3))
def test_what_is_rendered_already_stands_as_it_is(value: object, record_depth: int) -> None:
    pieces = Rendered(iter(["[", "1, 2", "]"]))
    assert json.loads(render({"a": value, "b": pieces, "c": value}, record_depth)) == {
        "a": value,
        "b": [1, 2],
        "c": value,
    }


@given(st.integers(0, 4).flatmap(lambda size: st.tuples(st.just(size), st.lists(strands(size)))))
def test_texts_are_woven_of_a_piece_of_each_strand(drawn: tuple[int, list[str | list[str]]]) -> None:
    size, drawn_strands = drawn
    expected = ["".join(one if isinstance(one, str) else one[place] for one in drawn_strands) for place in range(size)]
    assert ["".join(own) for own in woven(size, drawn_strands)] == expected
