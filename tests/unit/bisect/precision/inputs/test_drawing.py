"""Random samples, and the values that they are drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.input_models import BOOL, FLOAT, INT64, MIXED, model
from trtforensics.bisect.precision.inputs.drawing import ValueRange, described, parse_ranges, random_samples
from trtforensics.bisect.precision.inputs.integers import IntegerChoice
from trtforensics.errors import UsageError

PLAIN = model(x=(FLOAT, [500]), ids=(INT64, [500]), flag=(BOOL, [500]))


def test_random_samples_have_the_types_and_shapes_and_repeat() -> None:
    one, other = (random_samples(MIXED, {"ids": (2, 5)}, 2) for _ in range(2))
    assert [(array.dtype, array.shape) for array in one[0].values()] == [
        (np.dtype(np.float32), (2, 3)),
        (np.dtype(np.int64), (2, 5)),
        (np.dtype(np.bool_), (2,)),
    ]
    assert all(np.array_equal(one[1][name], other[1][name]) for name in one[1])
    assert not np.array_equal(one[0]["x"], one[1]["x"])
    assert set(np.unique(one[0]["ids"])) <= {0, 1}


def test_ranges_are_even_and_include_their_ends() -> None:
    ranges = {"x": ValueRange(2.0, 3.0), "ids": ValueRange(-1.5, 2.0)}
    (sample,) = random_samples(PLAIN, {}, 1, ranges=ranges)
    assert 2.0 <= sample["x"].min() < 2.1
    assert 2.9 < sample["x"].max() <= 3.0
    assert set(np.unique(sample["ids"])) == {-1, 0, 1, 2}


def test_integers_are_drawn_from_what_the_graph_allows_unless_a_range_is_given() -> None:
    choices = {"ids": IntegerChoice((8000, 16000), "/Equal")}
    (sample,) = random_samples(PLAIN, {}, 1, choices=choices)
    assert set(np.unique(sample["ids"])) == {8000, 16000}
    (given,) = random_samples(PLAIN, {}, 1, choices=choices, ranges={"ids": ValueRange(5, 5)})
    assert set(np.unique(given["ids"])) == {5}


def test_ranges_are_read_for_one_input_or_all_and_later_ones_win() -> None:
    read = parse_ranges(PLAIN, ["[0,1]", "ids:[2,50]", "x:-1,1e3"])
    assert read == {"x": ValueRange(-1.0, 1e3), "ids": ValueRange(2.0, 50.0), "flag": ValueRange(0.0, 1.0)}
    assert parse_ranges(PLAIN, []) == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "is not a range"),
        ("[2,1]", "is not a range"),
        ("[0,inf]", "is not a range"),
        ("z:[0,1]", "no input 'z'"),
        ("ids:[0.2,0.8]", "no integer"),
    ],
)
def test_what_is_no_range_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_ranges(PLAIN, [text])


def test_the_note_says_what_each_input_was_drawn_from() -> None:
    said = described(
        PLAIN, {"x": ValueRange(0.0, 2.0)}, {"ids": IntegerChoice(range(50), "/Gather looks up one of 50")}
    )
    assert "x: 0 to 2; ids: 0 to 49 (/Gather looks up one of 50); flag: 0 and 1" in said
    assert "x: a normal distribution" in described(PLAIN, {}, {"ids": IntegerChoice((7, 9), "/Equal")})
    assert "ids: 7, 9 (/Equal)" in described(PLAIN, {}, {"ids": IntegerChoice((7, 9), "/Equal")})
