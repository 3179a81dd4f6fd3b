"""Sets of indexes as text: nothing is lost, and runs of numbers are short."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trtforensics.bisect.session import index_sets


@given(st.frozensets(st.integers(0, 300)))
def test_a_set_of_indexes_comes_back(indexes: frozenset[int]) -> None:
    assert index_sets.from_text(index_sets.to_text(indexes)) == indexes


def test_a_set_of_indexes_is_short() -> None:
    assert index_sets.to_text(range(10_000)) == "0-9999"
    assert index_sets.to_text({7, 1, 2, 3, 9}) == "1-3,7,9"
