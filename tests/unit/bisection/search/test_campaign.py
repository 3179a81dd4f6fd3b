"""What a certificate claims was seen: for every function of a few items, with refused mixes, and with wrong checks.

Many culprits cost about a build an item, few cost no more than halving, and what interacts is found all the same.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.searches import answered, bad_with, builds, items
from trtforensics.bisection.search import Ask, Item, Search, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trtforensics.bisection.search import Result

    Table = dict[frozenset[int], Verdict]

GOOD, BAD, UNRESOLVED = Verdict.GOOD, Verdict.BAD, Verdict.UNRESOLVED


def every_course(count: int, verdicts: tuple[Verdict, ...]) -> Iterator[tuple[Table, Result]]:
    """Yield every course that a search over a few items can take: the verdicts it saw, and its answer.

    A search is a function of the verdicts, so that functions which agree in what it saw share a course.
    """
    waiting: list[tuple[Verdict, ...]] = [()]
    while waiting:
        course = waiting.pop()
        search = Search(items(count))
        table: Table = {frozenset(): GOOD, frozenset(range(count)): BAD}
        left = list(course)
        while not search.done:
            (ask,) = search.asks()
            if ask.active not in table:
                if not left:
                    waiting += [(*course, verdict) for verdict in verdicts[1:]]
                    left, course = [verdicts[0]], (*course, verdicts[0])
                table[ask.active] = left.pop(0)
            search.tell(ask, table[ask.active])
        yield table, search.result()


def assert_seen(table: Table, result: Result, count: int) -> None:
    """Assert that a certificate claims nothing that was not seen."""
    for culprits, minimal in zip(result.culprits, result.minimal, strict=True):
        without = [table.get(culprits - {item}) for item in culprits]
        assert not minimal or set(without) == {GOOD}
        assert minimal or result.status is not Status.CERTIFIED
        assert BAD not in without or not minimal
    if result.status is Status.CERTIFIED:
        assert all(table[culprits] is BAD for culprits in result.culprits)
        assert table[frozenset(range(count)).difference(*result.culprits)] is GOOD


@pytest.mark.parametrize(("count", "functions"), [(2, 2**2), (3, 2**6), (4, 2**14)])
def test_of_every_function_of_a_few_items_the_certificate_is_true(count: int, functions: int) -> None:
    covered = 0
    for table, result in every_course(count, (GOOD, BAD)):
        covered += 2 ** (2**count - len(table))
        assert result.status is Status.CERTIFIED
        assert_seen(table, result, count)
    assert covered == functions


def test_of_every_function_of_three_items_with_refused_mixes_nothing_is_claimed_that_was_not_seen() -> None:
    covered = 0
    for table, result in every_course(3, (GOOD, BAD, UNRESOLVED)):
        covered += 3 ** (2**3 - len(table))
        assert_seen(table, result, 3)
        if result.status is Status.INCONCLUSIVE:
            assert any(active <= result.suspects for active, verdict in table.items() if verdict is BAD)
    assert covered == 3**6


@pytest.mark.parametrize("seeds", [range(100), pytest.param(range(100, 300), marks=pytest.mark.slow)])
def test_random_functions_of_more_items_have_certificates_that_are_true(seeds: range) -> None:
    for seed in seeds:
        count = 5 + seed % 12
        table: Table = {frozenset(): GOOD, frozenset(range(count)): BAD}

        draw = random.Random(seed)
        search = Search(items(count))
        while not search.done:
            (ask,) = search.asks()
            search.tell(ask, table.setdefault(ask.active, GOOD if draw.random() < 0.5 else BAD))
        assert search.result().status is Status.CERTIFIED
        assert_seen(table, search.result(), count)


@for_each(("sizes", "more"), [([1], 0), ([2], 1), ([3], 2), ([1, 1], 0), ([2, 2], 2), ([4], 3)], ids=str)
def test_seeing_that_each_member_is_needed_takes_a_build_a_member_but_one(sizes: list[int], more: int) -> None:
    drawn = iter(random.Random(3).sample(range(256), sum(sizes)))
    sets = [{next(drawn) for _ in range(size)} for size in sizes]
    asked, _ = answered(Search(items(256)), bad_with(*sets))
    assert sum(ask.purpose == "the culprits but one" for ask in asked) == more


def test_what_decides_is_built_twice_and_nothing_else() -> None:
    search = Search(items(64))
    asked, _ = answered(search, bad_with({5, 40}))
    twice = [ask.active for ask in asked if ask.build]
    assert len(twice) == 4
    assert set(twice) == {frozenset({5, 40}), frozenset({5}), frozenset({40}), frozenset(range(64)) - {5, 40}}
    assert not any(ask.check for ask in asked)
    assert set(twice) <= {ask.active for ask in search.result().evidence if ask.build}


def test_second_looks_count_as_builds() -> None:
    search = Search(items(64))
    most = search.outlook().worst
    asked, _ = answered(search, bad_with({5}))
    assert [ask.build for ask in asked if ask.purpose == "built again"] == [1, 1]
    assert len(asked) <= most == 4 + 6 + 2
    assert search.outlook().second == 0


@pytest.mark.slow
def test_builds_wrong_two_times_in_a_hundred_certify_nothing_false_and_cost_little() -> None:
    """A build is wrong however often it is checked."""
    wrong = certified = taken = steady = 0
    for seed in range(300):
        draw = random.Random(f"flaky builds {seed}")
        culprits = set(draw.sample(range(100), 1 + seed % 2))
        turned: dict[tuple[frozenset[int], int], bool] = {}

        def flaky(
            ask: Ask, draw: random.Random = draw, turned: dict[tuple[frozenset[int], int], bool] = turned
        ) -> bool:
            return turned.setdefault((ask.active, ask.build), draw.random() < 0.02)

        search = Search(items(100))
        answered(search, flips(flaky, bad_with(culprits)))
        certified += search.result().status is Status.CERTIFIED
        wrong += search.result().status is Status.CERTIFIED and list(map(set, search.result().culprits)) != [culprits]
        taken += len(turned)
        asked, _ = answered(Search(items(100)), bad_with(culprits))
        steady += len(asked)
    assert certified > 180
    assert wrong <= 1
    assert taken <= 1.1 * steady


def flips(of: Callable[[Ask], bool], verdict: Callable[[Ask], Verdict]) -> Callable[[Ask], Verdict]:
    """Return a verdict that is another one for some probes."""
    turned = {GOOD: BAD, BAD: GOOD}
    return lambda ask: turned[verdict(ask)] if of(ask) else verdict(ask)


WRONG: dict[str, Callable[[Ask], bool]] = {
    "a name": lambda ask: ask.purpose == "the culprits alone" and ask.build == 0 and ask.active != {40},
    "the set, looked at again": lambda ask: ask.purpose == "built again" and ask.active == {40},
    "the rest, looked at again": lambda ask: ask.purpose == "built again" and len(ask.active) == 63,
    "a bad one while narrowing": lambda ask: len(ask.active) == 48 and ask.check == ask.build == 0,
    "a good one while narrowing": lambda ask: len(ask.active) == 32 and ask.check == ask.build == 0,
    "the rest": lambda ask: len(ask.active) == 63 and ask.build == 0,
}


@for_each("of", WRONG.values(), ids=list(WRONG))
def test_a_wrong_verdict_ends_in_no_false_certificate(of: Callable[[Ask], bool]) -> None:
    search = Search(items(64))
    answered(search, flips(of, bad_with({40})))
    result = search.result()
    if result.status is Status.CERTIFIED:
        assert result.culprits == (frozenset({40}),)
    else:
        assert result.status is Status.INCONCLUSIVE
        assert "this looks flaky: use --confidence" in result.why
        assert 40 in result.suspects.union(*result.culprits)
        assert any(ask.check or ask.build for ask in result.evidence)


def test_checks_wrong_two_times_in_a_hundred_certify_nothing_false_and_cost_little() -> None:
    false = taken = steady = 0
    for seed in range(200):
        draw = random.Random(seed)
        sets = [set(draw.sample(range(100), 1 + seed % 2))]
        search = Search(items(100))
        asked, _ = answered(search, flips(lambda _, draw=draw: draw.random() < 0.02, bad_with(*sets)))  # type: ignore[misc]
        taken += len(asked)
        result = search.result()
        false += result.status is Status.CERTIFIED and list(map(set, result.culprits)) != sets
        steady += len(answered(Search(items(100)), bad_with(*sets))[0])
    assert false <= 2
    assert taken <= 4 / 3 * steady


def test_a_second_build_that_cannot_be_judged_leaves_no_certificate() -> None:
    search = Search(items(16))
    answered(search, lambda ask: UNRESOLVED if ask.build else bad_with({3})(ask))
    assert search.result().status is Status.NAMED
    assert "a second build of the certificate could not be judged" in search.result().why


def test_a_refused_build_without_a_member_leaves_no_certificate() -> None:
    search = Search(items(16))
    alone = [{3}, {9}]
    answered(search, lambda ask: UNRESOLVED if ask.active in alone else bad_with({3, 9})(ask))
    result = search.result()
    assert result.status is not Status.CERTIFIED
    assert not any(result.minimal)


def test_outcomes_that_are_not_monotone_are_built_anew_before_that_is_said() -> None:
    def hidden(ask: Ask) -> Verdict:
        return BAD if (5 in ask.active and 3 not in ask.active) or len(ask.active) == 10 else GOOD

    search = Search(items(10))
    asked, _ = answered(search, hidden)
    assert "not monotone" in search.result().why
    assert sum(ask.purpose == "does it come again" for ask in asked) == 2
    assert len(asked) == len({(ask.active, ask.build) for ask in asked})


@pytest.mark.parametrize(("pair", "refused"), [({0, 1}, {0, 1}), ({0, 4}, {0, 4}), ({1, 3}, {1, 3})], ids=str)
def test_a_refused_pair_leaves_both_among_the_suspects_or_named(pair: set[int], refused: set[int]) -> None:
    search = Search(items(5))
    answered(search, lambda ask: UNRESOLVED if ask.active == refused else bad_with(pair)(ask))
    result = search.result()
    assert result.status in {Status.INCONCLUSIVE, Status.NAMED}
    assert pair <= result.suspects.union(*result.culprits)


def test_an_end_that_cannot_be_judged_acquits_nothing() -> None:
    search = Search(items(5))
    answered(search, lambda ask: UNRESOLVED if ask.active else GOOD)
    assert search.result().status is Status.INCONCLUSIVE
    assert search.result().suspects == set(range(5))


def test_a_second_look_counts_against_the_builds_allowed() -> None:
    steady, _ = answered(Search(items(10)), bad_with({0, 1, 3}, {9}))
    for most, status in ((len(steady) - 1, Status.INCONCLUSIVE), (len(steady), Status.CERTIFIED)):
        search = Search(items(10), max_builds=most)
        asked, _ = answered(search, bad_with({0, 1, 3}, {9}))
        assert len(asked) == most
        assert search.result().status is status


def test_what_a_budget_leaves_open_is_suspected_or_said_to_be_open() -> None:
    search = Search(items(1000), max_builds=6)
    answered(search, bad_with({123}, {700}))
    result = search.result()
    assert result.status is Status.INCONCLUSIVE
    assert 123 in result.suspects
    assert 700 in result.unsearched
    assert not result.suspects & result.unsearched


def taken(count: int, sets: list[set[int]], room: int = 1) -> tuple[int, int]:
    """Search; return builds and rounds of a right and certified answer."""
    search = Search(items(count))
    asked, rounds = answered(search, bad_with(*sets), room)
    result = search.result()
    assert result.status is Status.CERTIFIED
    assert sorted(map(sorted, result.culprits)) == sorted(map(sorted, sets))
    return builds(asked), rounds


@pytest.mark.parametrize(
    ("culprits", "most"),
    [
        pytest.param(200, 230, marks=pytest.mark.slow),
        pytest.param(150, 290, marks=pytest.mark.slow),
        (100, 300),
        (50, 270),
        (20, 200),
    ],
)
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


def test_items_that_seem_to_change_together_are_told_apart_where_one_of_them_is_bad_alone() -> None:
    bad, refused = ({1}, {1, 2}, {0, 1, 2}), {2}
    search = Search([Item("0"), Item("1"), Item("2", 5.0)], find="first", edges=[(0, 1), (1, 2)])
    running: list[Ask] = []
    while not search.done:
        running += search.asks(3 - len(running))
        ask = running.pop(0)
        search.tell(ask, UNRESOLVED if ask.active == refused else BAD if ask.active in bad else GOOD)
    assert search.result().culprits == (frozenset({1}),)
