"""JSON that takes far more than its size is refused before it is read; what TensorRT writes is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.repository import ROOT
from trtforensics.errors import SourceError
from trtforensics.parsers.text.document import MAX_DEPTH, check_json

if TYPE_CHECKING:
    from pathlib import Path

MANY = 1 << 17


def refusal(text: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        check_json(text.encode(), "made.json")
    return caught.value


@for_each("unit", ["[],", "{},", "1,", '"",', '{"a":1},', "[1,2],"])
def test_a_value_for_every_few_bytes(unit: str) -> None:
    error = refusal(f'{{"a": [{unit * MANY}1]}}')
    assert error.where == "made.json"
    assert "values in" in error.what


def test_marks_in_texts_are_no_values_and_those_between_texts_are() -> None:
    check_json(b"[" + b'"a, [b], {c}, d", ' * MANY + b"1]", "made.json")
    assert "values in" in refusal("[" + "1," * MANY * 2 + '"[,{", ' * (MANY // 8) + "1]").what


def test_a_small_text_may_be_dense() -> None:
    check_json(b"[" + b"1," * 1000 + b"1]", "made.json")


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_depth(opening: str, closing: str) -> None:
    deepest = f"{opening * MAX_DEPTH}1{closing * MAX_DEPTH}"
    check_json(deepest.encode(), "made.json")
    error = refusal(f"[{deepest}]")
    assert error.where == f"made.json:1:{1 + len(opening) * (MAX_DEPTH - 1) + 1}"
    assert "nests more than 64" in error.what


def test_depth_across_the_parts_that_are_looked_at_at_once() -> None:
    error = refusal("[" * 40 + " " * (1 << 20) + "[" * 40)
    assert "nests" in error.what


def test_brackets_in_a_text_nest_nothing() -> None:
    check_json(f'["{"[" * 1000}", "\\"{"{" * 1000}"]'.encode(), "made.json")


@for_each("number", ["NaN", "Infinity", "-Infinity", "1e999", "2.5E+400", "9" * 300, "-1e0999"])
def test_a_number_that_is_none(number: str) -> None:
    error = refusal(f'{{"a": "é",\n "time": {number}}}')
    assert error.where == "made.json:2:10"
    assert "is no number" in error.what


@for_each("text", ['["NaN"]', '["1e999"]', f'["{"9" * 400}"]', "[1e-999, 1e20, 0.5]", "NaN", "plain"])
def test_what_is_no_number_or_no_json_passes(text: str) -> None:
    check_json(text.encode(), "made.json")


def test_samples_pass() -> None:
    for path in (ROOT / "testdata").rglob("*.json"):
        check_json(path.read_bytes(), str(path))


@pytest.mark.slow
@pytest.mark.corpus
def test_real_files_pass(corpus: Path) -> None:
    for path in corpus.rglob("*.json"):
        check_json(path.read_bytes(), str(path))
