"""Every strategy ends at a subset that still shows what the whole does, and from which no unit can be left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.bisection.search.ledger import union
from trtforensics.bisection.search.minimising import (
    chunk_deletion,
    delta_debugging,
    growing_groups,
    leaving_one_out,
    minimised,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.bisection.search.ledger import Steps
    from trtforensics.bisection.search.minimising import Proposals, Strategy

STRATEGIES: dict[str, Callable[[Sequence[int]], Strategy]] = {
    "delta debugging": delta_debugging,
    "deletion of chunks": lambda units: chunk_deletion(units, int),
    "growing groups": lambda units: growing_groups(units, 1, lambda: 1),
    "leaving one out": leaving_one_out,
}


def left_by(strategy: Strategy, holds: Callable[[int], bool]) -> tuple[list[int], list[int]]:
    """Return the units that a strategy leaves, and the subsets that were tried."""
    tried: list[int] = []

    def trial(proposals: Proposals) -> Steps[int | None]:
        yield from ()
        for subset in proposals.subsets:
            tried.append(subset)
            if holds(subset):
                return subset
        return None

    steps = minimised(strategy, trial)
    with pytest.raises(StopIteration) as ended:
        next(steps)
    return ended.value.value, tried


@pytest.mark.parametrize("name", STRATEGIES)
@given(wanted=st.lists(st.sets(st.integers(0, 19), min_size=1, max_size=4), min_size=1, max_size=3))
def test_what_is_left_is_minimal(name: str, wanted: list[set[int]]) -> None:
    sets = [sum(1 << index for index in members) for members in wanted]

    def holds(subset: int) -> bool:
        return any(not members & ~subset for members in sets)

    left, _ = left_by(STRATEGIES[name]([1 << index for index in range(20)]), holds)
    assert holds(union(left))
    assert not any(holds(union(left) & ~unit) for unit in left)


def test_one_of_many_takes_few_trials() -> None:
    units = [1 << index for index in range(1024)]
    for strategy in (delta_debugging(units), chunk_deletion(units, int)):
        left, tried = left_by(strategy, lambda subset: bool(subset >> 700 & 1))
        assert left == [1 << 700]
        assert len(tried) <= 2 * 10 + 1


def test_patience_ends_what_goes_on_for_long() -> None:
    units = [1 << index for index in range(64)]
    assert len(left_by(delta_debugging(units), lambda _: False)[1]) > 64
    assert len(left_by(delta_debugging(units, 20), lambda _: False)[1]) <= 32
    assert len(left_by(growing_groups(units, 1, lambda: 1, 6), lambda _: False)[1]) == 6


def test_a_cut_takes_along_what_it_cuts_off() -> None:
    units = [1 << index for index in range(8)]

    def cut(subset: int) -> int:
        return subset if subset & 1 else subset & ~0b1110

    left, tried = left_by(chunk_deletion(units, cut), lambda subset: bool(subset >> 7))
    assert left == [1 << 7]
    assert tried[0] == 0b11110000


def test_groups_may_overlap() -> None:
    units = [0b0011, 0b0110, 0b1100]
    left, _ = left_by(growing_groups(units, 2, lambda: 1), lambda subset: bool(subset & 0b0100))
    assert union(left) & 0b0100
    assert len(left) == 1
