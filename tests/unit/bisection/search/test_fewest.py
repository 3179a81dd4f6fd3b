"""The search for the fewest items to switch to good: minimal, never all of them, and honest where it ends otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from trtforensics.bisection.search import Ask, FewestSearch, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.bisection.search import Result

    Judge = Callable[[frozenset[int]], Verdict]


def searched(count: int, judge: Judge, limit: int | None = None, jobs: int = 1) -> tuple[Result, list[frozenset[int]]]:
    """Search; ``judge`` is told what is switched. Return the answer and what was switched in each first look.

    Of probes at once the one that was asked for last ends first.
    """
    search, running = FewestSearch(count, limit=limit), list[Ask]()
    switched: list[frozenset[int]] = []
    while not search.done:
        running += search.asks(jobs - len(running))
        assert 0 < len(running) <= jobs
        ask = running.pop()
        those = frozenset(range(count)) - ask.active
        switched += [] if ask.build else [those]
        search.tell(ask, judge(those))
    return search.result(), switched


def needs(*sets: set[int]) -> Judge:
    return lambda switched: Verdict.GOOD if any(each <= switched for each in sets) else Verdict.BAD


@given(
    st.integers(2, 60).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=1, max_size=3)))
)
def test_the_answer_is_what_is_needed_and_never_were_all_switched(drawn: tuple[int, set[int]]) -> None:
    count, wanted = drawn
    answer, switched = searched(count, needs(wanted))
    assert frozenset(range(count)) not in switched
    assert len(set(switched)) == len(switched)
    if len(wanted) < count:
        assert answer.status is Status.CERTIFIED
        assert answer.culprits == (frozenset(wanted),)


@pytest.mark.parametrize("wanted", [0, 511, 1023])
def test_one_of_a_thousand_takes_two_probes_a_halving_at_most(wanted: int) -> None:
    _, switched = searched(1024, needs({wanted}))
    assert len(switched) <= 1 + 2 * 10


@given(st.integers(2, 40), st.integers(2, 5), st.data())
def test_several_at_once_give_the_same_answer(count: int, jobs: int, data: st.DataObject) -> None:
    sets = data.draw(st.lists(st.sets(st.integers(0, count - 1), min_size=1, max_size=3), min_size=1, max_size=3))
    alone, one_by_one = searched(count, needs(*sets))
    together, switched = searched(count, needs(*sets), jobs=jobs)
    assert (together.status, together.why, together.culprits) == (alone.status, alone.why, alone.culprits)
    assert set(one_by_one) <= set(switched)
    assert len(set(switched)) == len(switched)
    assert frozenset(range(count)) not in switched


def test_several_at_once_keep_to_the_limit() -> None:
    for limit in range(1, 12):
        answer, switched = searched(64, needs({5, 40}), limit=limit, jobs=4)
        assert len(switched) <= limit
        assert answer.status is Status.INCONCLUSIVE


def test_either_of_two_is_enough() -> None:
    answer, _ = searched(20, needs({3}, {15, 16}))
    assert answer.culprits in {(frozenset({3}),), (frozenset({15, 16}),)}


def test_where_only_all_would_do_it_says_so() -> None:
    answer, switched = searched(4, needs({0, 1, 2, 3}))
    assert answer.status is Status.INCONCLUSIVE
    assert "never" in answer.why
    assert max(map(len, switched)) == 3


def test_what_is_good_as_it_is_needs_nothing() -> None:
    assert searched(5, lambda _: Verdict.GOOD)[0].status is Status.NOT_REPRODUCED


def test_what_cannot_be_judged_as_it_is_leaves_the_search_inconclusive() -> None:
    answer, _ = searched(5, lambda _: Verdict.UNRESOLVED)
    assert answer.status is Status.INCONCLUSIVE
    assert "cannot be judged as it is" in answer.why
    assert "--retry-unresolved" in answer.why


def test_an_unresolved_neighbour_leaves_the_answer_uncertified() -> None:
    def judge(switched: frozenset[int]) -> Verdict:
        return Verdict.UNRESOLVED if switched == {2} else needs({2, 5})(switched)

    answer, _ = searched(8, judge)
    assert answer.status is Status.NAMED
    assert answer.culprits == (frozenset({2, 5}),)


def test_a_limit_ends_it() -> None:
    answer, switched = searched(64, needs({1, 40}), limit=5)
    assert answer.status is Status.INCONCLUSIVE
    assert len(switched) == 5


@for_each("wrong", [set(), {2}, {5}, {2, 5}], ids=str)
def test_what_decides_is_built_twice(wrong: set[int]) -> None:
    search, second = FewestSearch(8), []
    while not search.done:
        (ask,) = search.asks()
        switched = frozenset(range(8)) - ask.active
        second += [switched] if ask.build else []
        verdict = needs({2, 5})(switched)
        other = {Verdict.GOOD: Verdict.BAD, Verdict.BAD: Verdict.GOOD}[verdict]
        search.tell(ask, other if ask.build and switched == wrong else verdict)
    expected = [{2, 5}, {5}, {2}]
    assert [set(each) for each in second] == expected[: expected.index(wrong) + 1 if wrong else 3]
    assert search.result().status is (Status.INCONCLUSIVE if wrong else Status.CERTIFIED)
    assert not wrong or "this looks flaky: use --repeat" in search.result().why


@for_each(
    ("verdict", "status", "why"),
    [
        (Verdict.GOOD, Status.NOT_REPRODUCED, "the build is good as it is"),
        (Verdict.UNRESOLVED, Status.INCONCLUSIVE, "the build cannot be judged as it is"),
    ],
)
def test_a_build_that_is_not_bad_as_it_is_is_the_only_probe(verdict: Verdict, status: Status, why: str) -> None:
    answer, switched = searched(4, lambda _: verdict)
    assert (answer.status, answer.culprits, answer.suspects) == (status, (), frozenset(range(4)))
    assert answer.why.startswith(why)
    assert switched == [frozenset()]
    assert [each.active for each in answer.evidence] == [frozenset(range(4))]
