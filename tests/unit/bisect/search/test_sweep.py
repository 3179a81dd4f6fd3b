"""Many culprits cost about a build an item, few cost no more than halving, and what interacts is found all the same."""

from __future__ import annotations

import random

import pytest

from tests.support.searches import answered, bad_with, builds, items
from trtforensics.bisect.search import Search, Status


def taken(count: int, sets: list[set[int]], room: int = 1) -> tuple[int, int]:
    """Search; return builds and rounds of a right and certified answer."""
    search = Search(items(count))
    asked, rounds = answered(search, bad_with(*sets), room)
    result = search.result()
    assert result.status is Status.CERTIFIED
    assert sorted(map(sorted, result.culprits)) == sorted(map(sorted, sets))
    return builds(asked), rounds


@pytest.mark.parametrize(("culprits", "most"), [(200, 230), (150, 290), (100, 300), (50, 270), (20, 200)])
def test_of_two_hundred_items_many_culprits_cost_little_more_than_one_by_one(culprits: int, most: int) -> None:
    for seed in range(3):
        drawn = random.Random(seed).sample(range(200), culprits)
        assert taken(200, [{item} for item in drawn])[0] <= most


def test_several_at_once_share_the_work() -> None:
    assert taken(200, [{item} for item in range(200)], room=4)[1] <= 120


def test_culprits_that_end_soon_cost_a_few_builds_of_groups_beyond_the_promise() -> None:
    sets = [{0}, {1}, {2}, {900}]
    assert taken(1024, sets)[0] <= 2 + len(sets) + len(sets) * 11 + 3


def test_pairs_among_many_single_culprits_are_found() -> None:
    singles = [{item} for item in range(0, 120, 2)]
    assert taken(120, [*singles, {1, 119}, {3, 5}])[0] <= 2 + 62 + 64 * 8 + 2


def test_however_many_culprits_there_are_the_promise_holds_but_for_a_build_an_item() -> None:
    for seed in range(40):
        draw = random.Random(seed)
        count = draw.randint(2, 40)
        left = draw.sample(range(count), draw.randint(1, count))
        sets: list[set[int]] = []
        while left:
            size = min(draw.choice([1, 1, 1, 2, 3]), len(left))
            sets.append(set(left[:size]))
            left = left[size:]
        members, depth = sum(map(len, sets)), (count - 1).bit_length()
        promised = 2 + len(sets) + members * (depth + 1) + members - len(sets)
        assert taken(count, sets)[0] <= promised + count + 2 + len(sets)
