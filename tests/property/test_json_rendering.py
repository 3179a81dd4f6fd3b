"""What is rendered by hand is what ``json.dumps`` prints."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from trtforensics.json_rendering import WORD, Records, number, render, text, texts

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


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


@given(st.lists(st.lists(st.text())))
def test_records_are_rendered_as_a_list_of_them_is(value: list[list[str]]) -> None:
    assert render({"a": Records(texts, value)}, 2) == render({"a": value}, 2)
