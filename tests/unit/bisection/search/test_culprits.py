"""How the search ends in each of the ways it can, and that the figures it promises hold where they are tightest."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.for_each import for_each
from tests.support.searches import answered, bad_with, builds
from trtforensics.bisection.search import Ask, Item, Outlook, Result, Search, Status, Verdict
from trtforensics.bisection.search.culprits import Sweep
from trtforensics.bisection.search.minimal import MinimalSet

if TYPE_CHECKING:
    from collections.abc import Callable

THOUSAND = [Item(str(index)) for index in range(1000)]


def result_of(search: Search, verdict: Callable[[Ask], Verdict]) -> Result:
    answered(search, verdict)
    return search.result()


@for_each(("sizes", "most"), [([1], 14), ([1, 1], 26), ([1] * 5, 62), ([2], 26), ([2, 1], 38), ([3], 38)], ids=str)
def test_a_thousand_items_keep_the_promise(sizes: list[int], most: int) -> None:
    for seed in range(8):
        drawn = iter(random.Random(seed).sample(range(1000), sum(sizes)))
        sets = [{next(drawn) for _ in range(size)} for size in sizes]
        search = Search(THOUSAND)
        asked, _ = answered(search, bad_with(*sets))
        assert sorted(map(sorted, search.result().culprits)) == sorted(map(sorted, sets))
        assert builds(asked) <= most


@pytest.mark.parametrize("step", [23, pytest.param(7, marks=pytest.mark.slow)])
def test_equal_suspicion_takes_one_culprit_as_few_builds_as_halving_and_a_certificate_can(step: int) -> None:
    taken = [builds(answered(Search(THOUSAND), bad_with({culprit}))[0]) for culprit in range(0, 1000, step)]
    assert sum(taken) / len(taken) <= 13.8
    assert max(taken) == 14


@pytest.mark.parametrize("tried", [10, pytest.param(25, marks=pytest.mark.slow)])
@for_each("room", [2, 3, 4, 8])
@for_each("count", [2, 9, 27, 82, 200, 300])
def test_several_builds_at_once_save_rounds(count: int, room: int, tried: int) -> None:
    cuts = next(cuts for cuts in range(count) if (room + 1) ** cuts >= count)
    culprits = range(0, count, max(1, count // tried))
    rounds = [answered(Search(THOUSAND[:count]), bad_with({culprit}), room)[1] for culprit in culprits]
    assert max(rounds) <= cuts + 3  # the endpoints, and two for the certificate


def test_suspicion_is_followed_first() -> None:
    items = [Item(str(index), 400.0 if index in {300, 700} else 1.0) for index in range(1000)]
    assert builds(answered(Search(items), bad_with({700}))[0]) <= 7


def test_a_good_side_that_is_bad_ends_the_search_at_once() -> None:
    search = Search(THOUSAND)
    asked, _ = answered(search, lambda _: Verdict.BAD)
    assert [ask.active for ask in asked] == [frozenset()]
    assert search.result().status is Status.NOT_REPRODUCED
    assert "taken from good the outcome is bad" in search.result().why


@pytest.mark.parametrize("verdict", [Verdict.GOOD, Verdict.UNRESOLVED])
def test_a_bad_side_that_is_not_bad_is_not_searched(verdict: Verdict) -> None:
    result = result_of(Search(THOUSAND), lambda ask: verdict if ask.active else Verdict.GOOD)
    assert result.status is (Status.NOT_REPRODUCED if verdict is Verdict.GOOD else Status.INCONCLUSIVE)
    assert f"taken from bad the outcome is {verdict}" in result.why


def test_nothing_to_search_is_not_reproduced() -> None:
    result = result_of(Search([]), lambda _: Verdict.GOOD)
    assert result.status is Status.NOT_REPRODUCED
    assert result.lower_bound == 0


def test_an_item_that_hides_another_is_noticed() -> None:
    def hidden(ask: Ask) -> Verdict:
        bad = (5 in ask.active and 3 not in ask.active) or len(ask.active) == 10
        return Verdict.BAD if bad else Verdict.GOOD

    result = result_of(Search(THOUSAND[:10]), hidden)
    assert result.status is Status.CERTIFIED
    assert result.culprits == (frozenset({5}),)
    assert "not monotone" in result.why


def test_refused_culprits_and_rest_leave_a_name_without_a_certificate() -> None:
    def refusing(ask: Ask) -> Verdict:
        if ask.active == frozenset({4}) or len(ask.active) == 19:
            return Verdict.UNRESOLVED
        return Verdict.BAD if 4 in ask.active else Verdict.GOOD

    result = result_of(Search(THOUSAND[:20]), refusing)
    assert result.status is Status.NAMED
    assert result.culprits == (frozenset({4}),)
    assert "alone was refused" in result.why
    assert "everything but the culprits was refused" in result.why


def test_coupled_neighbours_end_as_one_of_these() -> None:
    def coupled(ask: Ask) -> Verdict:
        if len(ask.active & {6, 7, 8}) in {1, 2}:
            return Verdict.UNRESOLVED
        return Verdict.BAD if 7 in ask.active else Verdict.GOOD

    result = result_of(Search(THOUSAND[:100]), coupled)
    assert result.status is Status.INCONCLUSIVE
    assert result.culprits == ()
    assert result.suspects == {6, 7, 8}
    assert "one of 3 items" in result.why


def far_apart(ask: Ask) -> Verdict:
    """Refuse what splits two items far from each other."""
    if len(ask.active & {100, 900}) == 1:
        return Verdict.UNRESOLVED
    return Verdict.BAD if 500 in ask.active else Verdict.GOOD


@pytest.mark.parametrize(("edges", "most"), [([(100, 900), (0, 1), (499, 500)], 16), ([], 40)])
def test_items_far_apart_that_do_not_mix_cost_few_builds(edges: list[tuple[int, int]], most: int) -> None:
    search = Search(THOUSAND, edges=edges)
    asked, _ = answered(search, far_apart)
    assert search.result().status is Status.CERTIFIED
    assert search.result().culprits == (frozenset({500}),)
    assert builds(asked) <= most
    joined = [atom for atom in search.outlook().atoms if len(atom) > 1]
    assert joined == ([frozenset({100, 900})] if edges else [])


def test_stopping_at_a_budget_says_what_is_left() -> None:
    search = Search(THOUSAND, max_builds=6)
    asked, _ = answered(search, bad_with({123}))
    assert len(asked) == 6
    assert search.result().status is Status.INCONCLUSIVE
    assert "used up" in search.result().why
    assert 123 in search.result().suspects
    assert len(search.result().suspects) == 125


def test_checks_are_repeated_before_builds_where_only_checks_are_noisy() -> None:
    def flaky_check(ask: Ask) -> Verdict:
        flipped = random.Random(f"{sorted(ask.active)} {ask.build} {ask.check}").random() < 0.1
        return Verdict.BAD if (42 in ask.active) != flipped else Verdict.GOOD

    search = Search(THOUSAND[:200], confidence=0.99)
    asked, _ = answered(search, flaky_check)
    assert search.result().culprits == (frozenset({42}),)
    assert search.result().confidence >= 0.99
    assert builds(asked) <= 22
    assert len(asked) > 3 * builds(asked)


def test_the_outlook_of_a_search_that_ended_is_nothing() -> None:
    search = Search(THOUSAND[:8])
    answered(search, bad_with({2}))
    atoms = tuple(frozenset({index}) for index in range(8))
    assert search.outlook() == Outlook(0.0, 0, frozenset(), (frozenset({2}),), atoms)


def test_groups_are_swept_only_behind_items_that_are_bad_alone() -> None:
    def atoms_of(mask: int) -> list[Any]:
        return [SimpleNamespace(mask=1 << item) for item in range(mask.bit_length()) if mask >> item & 1]

    singles = [MinimalSet(members=1 << item, inside=1 << item) for item in range(3)]
    parts: Any = SimpleNamespace(most_room=8), SimpleNamespace(atoms_of=atoms_of)
    rest = (1 << 100) - (1 << 4)
    assert Sweep(*parts).groups(singles, rest)
    for other in (replace(singles[2], alone=False), replace(singles[2], members=0b1100)):
        assert Sweep(*parts).groups([*singles[:2], other], rest) == []
