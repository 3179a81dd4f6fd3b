"""The search for the smallest failing model, on simulated models."""

import random
from collections.abc import Callable

import pytest

from trtforensics.bisect.search import Ask, Status, Verdict
from trtforensics.reduce.search import ReductionSearch, Terrain

Judge = Callable[[frozenset[int]], Verdict]


def grown(count: int, chance: random.Random) -> list[frozenset[int]]:
    """Return what each node of a random graph reads."""
    return [
        frozenset(max(0, index - chance.choice((1, 1, 2, 5))) for _ in range(chance.choice((1, 1, 2)))) - {index}
        for index in range(count)
    ]


def judged(search: ReductionSearch, judge: Judge, room: int = 1) -> list[Ask]:
    """Run a search to its end; return what it asked for."""
    asked: list[Ask] = []
    while not search.done:
        asks = search.asks(room)
        assert len(asks) <= room
        for ask in asks:
            asked.append(ask)
            search.tell(ask, judge(ask.active))
    assert len(asked) == len(set(asked))
    return asked


def needing(needed: frozenset[int]) -> Judge:
    return lambda active: Verdict.BAD if needed <= active else Verdict.GOOD


@pytest.mark.parametrize("room", [1, 3])
@pytest.mark.parametrize("seed", range(30))
def test_any_needed_nodes_are_found_and_each_was_left_out(seed: int, room: int) -> None:
    chance = random.Random(seed)
    count = chance.randrange(2, 200)
    needed = frozenset(chance.choices(range(count), k=chance.randrange(1, 5)))
    asked = judged(search := ReductionSearch(Terrain(grown(count, chance))), needing(needed), room)
    result = search.result()
    assert (result.status, result.culprits) == (Status.CERTIFIED, (needed,))
    assert result.minimal == (True,)
    if len(needed) > 1:
        assert {needed - {index} for index in needed} <= {ask.active for ask in asked}


def test_one_node_of_thousands_takes_a_halving() -> None:
    chain = [frozenset({index - 1} if index else ()) for index in range(4000)]
    asked = judged(search := ReductionSearch(Terrain(chain)), needing(frozenset({2345})))
    assert search.result().culprits == (frozenset({2345}),)
    assert len(asked) <= 12 + 4


def test_a_named_node_is_tried_first() -> None:
    chain = [frozenset({index - 1} if index else ()) for index in range(4000)]
    asked = judged(search := ReductionSearch(Terrain(chain, hints=lambda: [2345])), needing(frozenset({2345})))
    assert [ask.active for ask in asked] == [frozenset(range(4000)), frozenset({2345}), frozenset({2345})]
    assert search.result().status is Status.CERTIFIED


def test_a_named_node_leads_to_what_it_reads_and_to_its_readers() -> None:
    chain = [frozenset({index - 1} if index else ()) for index in range(4000)]
    for needed in ({2344, 2345}, {2345, 2346}):
        search = ReductionSearch(Terrain(chain, hints=lambda: [2345]))
        asked = judged(search, needing(frozenset(needed)))
        assert search.result().culprits == (frozenset(needed),)
        assert len(asked) <= 10


def test_a_wrong_hint_costs_a_few_probes_only() -> None:
    chain = [frozenset({index - 1} if index else ()) for index in range(4000)]
    asked = judged(search := ReductionSearch(Terrain(chain, hints=lambda: [17])), needing(frozenset({2345})))
    assert search.result().culprits == (frozenset({2345}),)
    assert len(asked) <= 12 + 4 + 8


def test_an_original_that_does_not_fail_is_not_reduced() -> None:
    search = ReductionSearch(Terrain([frozenset()] * 5))
    assert len(judged(search, lambda _: Verdict.GOOD)) == 1
    assert (search.result().status, search.result().culprits) == (Status.NOT_REPRODUCED, ())


def test_an_original_that_cannot_be_judged_says_so() -> None:
    search = ReductionSearch(Terrain([frozenset()] * 5))
    judged(search, lambda _: Verdict.UNRESOLVED)
    assert search.result().status is Status.INCONCLUSIVE
    assert "cannot be judged" in search.result().why


def test_what_fails_otherwise_without_a_node_is_named_and_not_certified() -> None:
    needed = frozenset({3, 4})

    def judge(active: frozenset[int]) -> Verdict:
        if needed <= active:
            return Verdict.BAD
        return Verdict.UNRESOLVED if 4 in active else Verdict.GOOD

    judged(search := ReductionSearch(Terrain([frozenset()] * 9)), judge)
    assert (search.result().status, search.undecided) == (Status.NAMED, frozenset({3}))
    assert search.result().minimal == (False,)


def test_an_answer_that_fails_only_once_is_inconclusive() -> None:
    looks: list[frozenset[int]] = []

    def judge(active: frozenset[int]) -> Verdict:
        looks.append(active)
        return Verdict.BAD if 2 in active and looks.count(active) == 1 else Verdict.GOOD

    judged(search := ReductionSearch(Terrain([frozenset()] * 9)), judge)
    assert search.result().status is Status.INCONCLUSIVE
    assert "failed once" in search.result().why


def test_simplifications_that_the_failure_needs_stay() -> None:
    nodes, needed = 20, frozenset({7, 9, 22, 25})
    terrain = Terrain([frozenset()] * nodes, 8, lambda _: frozenset(range(20, 27)))
    asked = judged(search := ReductionSearch(terrain), needing(needed))
    assert (search.result().status, search.result().culprits) == (Status.CERTIFIED, (needed,))
    assert {needed - {7}, needed - {9}} <= {ask.active for ask in asked}


def test_a_node_that_only_a_size_needed_goes_with_it() -> None:
    def judge(active: frozenset[int]) -> Verdict:
        needed = {7, 9} if 20 in active else {7}
        return Verdict.BAD if active >= needed else Verdict.GOOD

    terrain = Terrain([frozenset()] * 20, 1, lambda _: frozenset({20}))
    judged(search := ReductionSearch(terrain), judge)
    assert search.result().culprits == (frozenset({7}),)


def test_simplifications_that_change_nothing_are_not_asked_about() -> None:
    terrain = Terrain([frozenset()] * 20, 8, lambda _: frozenset())
    asked = judged(search := ReductionSearch(terrain), needing(frozenset({7})))
    assert search.result().culprits == (frozenset({7}),)
    assert all(not ask.active & frozenset(range(20, 28)) for ask in asked if len(ask.active) == 1)


def test_a_limit_ends_the_search_with_the_smallest_so_far() -> None:
    search = ReductionSearch(Terrain([frozenset()] * 300), limit=4)
    assert len(judged(search, needing(frozenset({200})))) == 4
    result = search.result()
    assert result.status is Status.INCONCLUSIVE
    assert 200 in result.culprits[0]
    assert len(result.culprits[0]) < 300
