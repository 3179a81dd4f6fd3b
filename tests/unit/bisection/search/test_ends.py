"""Every search ends: whatever is refused, whichever items have edges, in whatever order the answers come."""

from __future__ import annotations

import random
from functools import partial
from itertools import combinations, product
from typing import TYPE_CHECKING, Literal

import pytest

from tests.support.searches import items
from trtforensics.bisection.search import FewestSearch, Item, Result, Search, Status, Verdict
from trtforensics.bisection.search.ledger import Ledger, Wish
from trtforensics.bisection.search.probing import SubsetSearch
from trtforensics.reduce.shrinking import ReductionSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trtforensics.bisection.search import Ask
    from trtforensics.bisection.search.ledger import Steps

GOOD, BAD, UNRESOLVED = Verdict.GOOD, Verdict.BAD, Verdict.UNRESOLVED
MOST_PROBES = 60
MOST_LOOKS = 20_000
"""Looks at the ledger of one search over three items; without an end there would be no last one."""


class Chooser:
    """Takes every sequence of choices in turn: 0 first, then from the last choice back."""

    def __init__(self) -> None:
        self._course: list[tuple[int, int]] = []
        self._place = 0

    def choose(self, count: int) -> int:
        """Return one of ``count`` choices."""
        if self._place == len(self._course):
            self._course.append((0, count))
        choice, _ = self._course[self._place]
        self._place += 1
        return choice

    def courses(self) -> Iterator[None]:
        """Yield once for each sequence of choices."""
        while True:
            self._place = 0
            yield
            while self._course and self._course[-1][0] + 1 == self._course[-1][1]:
                self._course.pop()
            if not self._course:
                return
            choice, count = self._course.pop()
            self._course.append((choice + 1, count))


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how often the ledger was looked at since the list was set to [0]; too often fails."""
    count = [0]
    seen = Ledger.seen

    def counted(self: Ledger, mask: int) -> Verdict | None:
        count[0] += 1
        assert count[0] < MOST_LOOKS, "the search does not end"
        return seen(self, mask)

    monkeypatch.setattr(Ledger, "seen", counted)
    return count


def every_course(
    search_of: Callable[[], Search | FewestSearch | ReductionSearch],
    ends: dict[frozenset[int], Verdict],
    room: int,
    looks: list[int],
    tables: list[dict[frozenset[int], Verdict]] | None = None,
) -> int:
    """Run a search with every verdict of every subset, answered in every order; return how many runs that are.

    The verdicts of each run are added to ``tables``.
    """
    chooser, runs = Chooser(), 0
    for _ in chooser.courses():
        runs, looks[0] = runs + 1, 0
        search, table = search_of(), dict(ends)
        pending: list[Ask] = []
        probes = 0
        while not search.done:
            pending += search.asks(room - len(pending))
            assert pending, "a round without a probe or an answer"
            probes += 1
            assert probes < MOST_PROBES
            ask = pending.pop(chooser.choose(len(pending)))
            if ask.active not in table:
                table[ask.active] = (GOOD, BAD, UNRESOLVED)[chooser.choose(3)]
            search.tell(ask, table[ask.active])
        if tables is not None:
            tables.append(table)
    return runs


PAIRS = tuple(combinations(range(3), 2))
EDGES = [tuple(pair for pair, taken in zip(PAIRS, flags, strict=True) if taken) for flags in product((0, 1), repeat=3)]


def all_of(count: int) -> dict[frozenset[int], Verdict]:
    return {frozenset(): GOOD, frozenset(range(count)): BAD}


@pytest.mark.parametrize(
    "edges", [edges if edges == PAIRS[:2] else pytest.param(edges, marks=pytest.mark.slow) for edges in EDGES], ids=str
)
def test_a_search_over_three_items_ends_whatever_is_refused(
    edges: tuple[tuple[int, int], ...], looks: list[int]
) -> None:
    finds: tuple[Literal["first", "all"], ...] = "first", "all"
    for find, weight in product(finds, (1.0, 5.0)):
        three = [Item("0", weight), Item("1"), Item("2")]
        search_of = partial(Search, three, edges=edges, find=find)
        assert every_course(search_of, all_of(3), 1, looks) > 3**4


@pytest.mark.parametrize("room", [2, 3])
def test_a_search_ends_in_whatever_order_the_answers_come(room: int, looks: list[int]) -> None:
    assert every_course(partial(Search, items(2), edges=[(0, 1)]), all_of(2), room, looks) > 3**2


@pytest.mark.slow
def test_a_search_over_three_items_ends_in_whatever_order_the_answers_come(looks: list[int]) -> None:
    assert every_course(partial(Search, items(3), edges=[(0, 1), (0, 2)]), all_of(3), 2, looks) > 3**6


@pytest.mark.slow
@pytest.mark.parametrize("room", [1, 2])
def test_a_search_for_the_fewest_ends(room: int, looks: list[int]) -> None:
    assert every_course(partial(FewestSearch, 3), {}, room, looks) > 3**3


@pytest.mark.parametrize("reads", [[()], [(), (0,)], [(), (0,), (1,)], [(), (0,), (0, 1)]], ids=str)
def test_a_reduction_ends_and_certifies_only_what_was_seen(reads: list[tuple[int, ...]], looks: list[int]) -> None:
    searches: list[ReductionSearch] = []

    def search_of() -> ReductionSearch:
        searches.append(ReductionSearch([frozenset(each) for each in reads]))
        return searches[-1]

    tables: list[dict[frozenset[int], Verdict]] = []
    assert every_course(search_of, {}, 1, looks, tables) > 3 ** len(reads)
    certified = [pair for pair in zip(searches, tables, strict=True) if pair[0].result().status is Status.CERTIFIED]
    assert certified
    for search, table in certified:
        (left,) = search.result().culprits
        assert (table[left], GOOD in table.values()) == (BAD, True)
        assert len(left) == 1 or {table[left - {index}] for index in left} == {GOOD}


def test_a_reduction_ends_where_probes_fail_and_pass_by_chance(looks: list[int]) -> None:
    """Of seeds 0 to 299: seven nodes and more fail together, else each look has a verdict of its own."""
    for seed in range(300):
        chance = random.Random(f"by chance {seed}")
        looks[0] = 0
        search = ReductionSearch([frozenset()] * chance.randrange(2, 13))
        while not search.done:
            for ask in search.asks():
                search.tell(ask, BAD if len(ask.active) > 6 or chance.random() < 0.2 else GOOD)
        assert search.result().status in Status


def test_a_search_that_wants_nothing_and_waits_for_nothing_has_ended() -> None:
    class Idle(SubsetSearch):
        def _run(self) -> Steps[Result]:
            while True:
                yield (Wish(1, ""),)

        def _suspected(self) -> int:
            return self._all

        def _ended(self, status: Status, why: str) -> Result:
            return Result(status, why, (), frozenset(), 1.0, 0, ())

    search = Idle(2, None)
    (ask,) = search.asks()
    assert not search.done
    search.tell(ask, GOOD)
    assert search.done
    assert search.result() == Result(Status.INCONCLUSIVE, "no further probe tells more", (), frozenset(), 1.0, 0, ())
