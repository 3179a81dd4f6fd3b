"""Sets of indexes as text: nothing is lost, and runs of numbers are short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.bisect.session import index_sets


@given(st.frozensets(st.integers(0, 300)))
def test_a_set_of_indexes_comes_back(indexes: frozenset[int]) -> None:
    assert index_sets.from_text(index_sets.to_text(indexes), 301) == indexes


@pytest.mark.parametrize(
    "text", ["301", "0-301", "9-8", "1,1", "2,1", "-1", "x", "1-", ",", "1,", " 1", "0-999999999999"]
)
def test_what_is_no_set_of_indexes_of_the_job_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no run of indexes below 301"):
        index_sets.from_text(text, 301)


def test_a_set_of_indexes_is_short() -> None:
    assert index_sets.to_text(range(10_000)) == "0-9999"
    assert index_sets.to_text({7, 1, 2, 3, 9}) == "1-3,7,9"
