"""Whatever the culprits are, the search names exactly them, proves it, and keeps its promise of builds."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from tests.support.searches import builds
from trtforensics.bisection.search import Ask, Item, Search, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

Sets = tuple[frozenset[int], ...]
EQUAL = st.just(1.0)
MANY = examples(150)


@dataclass
class Case:
    """Items with disjoint culprit sets."""

    items: list[Item]
    sets: Sets
    asked: list[Ask] = field(default_factory=list)

    def verdict(self, ask: Ask) -> Verdict:
        """Build a subset: bad where a whole set is active."""
        self.asked.append(ask)
        return Verdict.BAD if any(culprits <= ask.active for culprits in self.sets) else Verdict.GOOD


@st.composite
def cases(draw: st.DrawFn, weights: st.SearchStrategy[float] = EQUAL) -> Case:
    count = draw(st.integers(1, 60))
    order = draw(st.permutations(range(count)))
    sets, start = [], 0
    for size in draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)):
        if start + size <= count:
            sets.append(frozenset(order[start : start + size]))
            start += size
    sets = sets or [frozenset(order[:1])]
    items = [Item(str(index), draw(weights)) for index in range(count)]
    return Case(items, tuple(sets))


WEIGHTED = cases(st.floats(0.001, 1000))
JOBS = st.integers(1, 5)


def run(search: Search, verdict: Callable[[Ask], Verdict], room: int = 1, shuffle: int | None = None) -> list[Ask]:
    """Run a search to its end; with ``shuffle`` verdicts come in any order."""
    draw = random.Random(shuffle)
    asked: list[Ask] = []
    waiting: list[Ask] = []
    while not search.done:
        asks = search.asks(room - len(waiting))
        assert asks or waiting, "a search that is not done asks for something"
        assert len(asks) <= room - len(waiting)
        asked += asks
        waiting += asks
        told = waiting.pop(draw.randrange(len(waiting)) if shuffle is not None else 0)
        search.tell(told, verdict(told))
    return asked


def certificate_was_seen(case: Case, search: Search) -> bool:
    """Return whether each set alone, without each member of several, and the rest were built twice."""
    rest = frozenset(range(len(case.items))).difference(*case.sets)
    deciding = {*case.sets, rest, *(set_ - {item} for set_ in case.sets if len(set_) > 1 for item in set_)}
    looks = {(ask.active, ask.build) for ask in case.asked}
    seen = {(active, build) for active in deciding for build in (0, 1)}
    return seen <= looks and deciding <= {ask.active for ask in search.result().evidence}


def promised(case: Case, search: Search) -> int:
    """Return the builds that a new search promises, for sets like the case's."""
    most = search.outlook().worst - 6 + 1
    return 2 + len(case.sets) + sum(map(len, case.sets)) * most + sum(len(culprits) - 1 for culprits in case.sets)


@MANY
@given(WEIGHTED)
def test_the_answer_is_exact_and_certified_and_what_decides_was_seen_twice(case: Case) -> None:
    search = Search(case.items)
    asked = run(search, case.verdict)
    result = search.result()
    assert result.status is Status.CERTIFIED
    assert set(result.culprits) == set(case.sets)
    assert all(result.minimal)
    assert not result.unsearched
    assert certificate_was_seen(case, search)
    assert len({(ask.active, ask.build) for ask in asked}) == len(asked)
    assert not result.suspects
    assert search.outlook().worst == 0


@MANY
@given(cases() | cases(st.integers(1, 64).map(float)) | WEIGHTED)
def test_a_search_takes_no_more_builds_than_promised_whatever_is_suspected(case: Case) -> None:
    search = Search(case.items)
    most = promised(case, search)
    assert builds(run(search, case.verdict)) <= most


@MANY
@given(WEIGHTED)
def test_one_culprit_takes_no_more_builds_than_the_outlook_says_at_any_time(case: Case) -> None:
    one = Case(case.items, (frozenset({min(case.sets[0])}),))
    search = Search(case.items)
    ends: list[int] = []
    while not search.done:
        ends.append(len(one.asked) + search.outlook().worst)
        for ask in search.asks():
            search.tell(ask, one.verdict(ask))
    assert len(one.asked) <= min(ends)
    assert ends[0] <= 6 + (len(case.items) - 1).bit_length() + 2


@MANY
@given(cases())
def test_one_culprit_is_named_and_certified_as_promised(case: Case) -> None:
    culprit = min(case.sets[0])
    one = Case(case.items, (frozenset({culprit}),))
    search = Search(case.items)
    named = 0
    while not search.done:
        named += len(search.outlook().suspects) > 1
        for ask in search.asks():
            search.tell(ask, one.verdict(ask))
    depth = (len(case.items) - 1).bit_length()
    assert named <= 2 + depth
    assert builds(one.asked) <= 4 + depth


@MANY
@given(WEIGHTED, JOBS, st.integers(0, 99))
def test_several_builds_at_once_in_any_order_give_the_same_answer(case: Case, room: int, seed: int) -> None:
    search = Search(case.items)
    asked = run(search, case.verdict, room, shuffle=seed)
    assert search.result().status is Status.CERTIFIED
    assert set(search.result().culprits) == set(case.sets)
    assert len({(ask.active, ask.build) for ask in asked}) == len(asked)


@MANY
@given(WEIGHTED, st.integers(0, 40))
def test_a_search_told_again_what_it_was_told_goes_on_with_the_same_asks(case: Case, stop: int) -> None:
    straight = run(Search(case.items), case.verdict)
    again = Search(case.items)
    for known in straight[:stop]:
        assert again.asks() == (known,)
        again.tell(known, case.verdict(known))
    assert straight[:stop] + run(again, case.verdict) == straight
    assert set(again.result().culprits) == set(case.sets)


@MANY
@given(cases(), st.integers(0, 30))
def test_a_budget_is_never_exceeded_and_what_is_left_holds_a_culprit(case: Case, most: int) -> None:
    search = Search(case.items, max_builds=most)
    asked = run(search, case.verdict)
    result = search.result()
    assert builds(asked) <= most
    assert set(result.culprits) <= set(case.sets)
    if result.status is not Status.CERTIFIED:
        assert result.status is Status.INCONCLUSIVE
        missing = [culprits for culprits in case.sets if culprits not in result.culprits]
        assert not missing or any(culprits <= result.suspects for culprits in missing)
        assert all(culprits <= result.suspects | result.unsearched for culprits in missing)


@MANY
@given(cases())
def test_finding_the_first_set_stops_there_and_says_whether_there_are_more(case: Case) -> None:
    search = Search(case.items, find="first")
    run(search, case.verdict)
    result = search.result()
    assert len(result.culprits) == 1
    assert result.culprits[0] in case.sets
    assert (result.status is Status.CERTIFIED) == (len(case.sets) == 1)


@MANY
@given(st.integers(2, 12), st.integers(0, 10**6))
def test_outcomes_of_any_kind_end_in_sets_seen_to_fail_and_a_rest_seen_to_pass(count: int, seed: int) -> None:
    table: dict[frozenset[int], Verdict] = {}

    def arbitrary(ask: Ask) -> Verdict:
        first = Verdict.GOOD if random.Random(f"{seed} {sorted(ask.active)}").random() < 0.6 else Verdict.BAD
        ends = {0: Verdict.GOOD, count: Verdict.BAD}
        return table.setdefault(ask.active, ends.get(len(ask.active), first))

    search = Search([Item(str(index)) for index in range(count)])
    run(search, arbitrary)
    result = search.result()
    rest = frozenset(range(count)).difference(*result.culprits)
    assert result.status is Status.CERTIFIED
    assert all(table[culprits] is Verdict.BAD for culprits in result.culprits)
    assert table[rest] is Verdict.GOOD
    good = [active for active, verdict in table.items() if verdict is Verdict.GOOD]
    bad = [active for active, verdict in table.items() if verdict is Verdict.BAD]
    if any(inner < outer for inner in bad for outer in good):
        assert "not monotone" in result.why
    for culprits in result.culprits:
        assert all(table[culprits - {item}] is Verdict.GOOD for item in culprits)


@MANY
@given(st.integers(2, 40), st.integers(0, 10**6), st.floats(0, 0.5), st.booleans())
def test_refused_mixes_never_lead_to_a_wrong_name(count: int, seed: int, refused: float, linked: bool) -> None:  # noqa: FBT001 - drawn
    culprit = random.Random(seed).randrange(count)

    def verdict(ask: Ask) -> Verdict:
        mixed = 0 < len(ask.active) < count
        if mixed and random.Random(f"{seed} {sorted(ask.active)}").random() < refused:
            return Verdict.UNRESOLVED
        return Verdict.BAD if culprit in ask.active else Verdict.GOOD

    edges = [(index, index + 1) for index in range(count - 1)] if linked else []
    search = Search([Item(str(index)) for index in range(count)], edges=edges)
    run(search, verdict)
    result = search.result()
    assert result.culprits == (frozenset({culprit}),) or culprit in result.suspects
    assert result.status is not Status.NOT_REPRODUCED


@examples(25)
@given(st.integers(2, 60), st.integers(0, 10**6), st.sampled_from([1.0, 0.9, 0.6]), JOBS)
def test_noise_seldom_misleads_and_the_asks_are_repeatable(count: int, seed: int, shown: float, room: int) -> None:
    culprit = random.Random(seed).randrange(count)

    def verdict(ask: Ask) -> Verdict:
        name = f"{seed} {sorted(ask.active)} {ask.build}"
        bad = culprit in ask.active and random.Random(name).random() < shown
        flipped = random.Random(f"{name} {ask.check}").random() < 0.05
        return Verdict.BAD if bad != flipped else Verdict.GOOD

    items = [Item(str(index)) for index in range(count)]
    first, second = (Search(items, confidence=0.999) for _ in range(2))
    asked = run(first, verdict, room)
    assert run(second, verdict, room) == asked
    assert len({(ask.active, ask.build, ask.check) for ask in asked}) == len(asked)
    assert first.result().culprits == (frozenset({culprit}),)
    assert first.result().confidence >= 0.99


@examples(25)
@given(st.integers(2, 30), st.integers(0, 10**6), st.floats(0, 0.4), JOBS)
def test_noise_and_refused_mixes_together_end_and_name_no_other_item(
    count: int, seed: int, refused: float, room: int
) -> None:
    culprit = random.Random(seed).randrange(count)

    def verdict(ask: Ask) -> Verdict:
        name = f"{seed} {sorted(ask.active)}"
        if 0 < len(ask.active) < count and random.Random(name).random() < refused:
            return Verdict.UNRESOLVED
        flipped = random.Random(f"{name} {ask.build} {ask.check}").random() < 0.05
        return Verdict.BAD if (culprit in ask.active) != flipped else Verdict.GOOD

    search = Search([Item(str(index)) for index in range(count)], confidence=0.999)
    run(search, verdict, room)
    result = search.result()
    assert result.culprits == (frozenset({culprit}),) or culprit in result.suspects


def test_before_anything_is_built_the_outlook_is_that_of_one_culprit() -> None:
    outlook = Search([Item(str(index)) for index in range(1000)]).outlook()
    assert (outlook.worst, outlook.second) == (16, 2)
    assert 15.5 < outlook.expected <= 16
    assert len(outlook.suspects) == len(outlook.atoms) == 1000


def test_every_small_monotone_function_of_one_or_two_sets_is_answered() -> None:
    pool = range(5)
    subsets = [frozenset(chosen) for size in (1, 2, 3) for chosen in combinations(pool, size)]
    pairs = [(one,) for one in subsets] + [(one, two) for one, two in combinations(subsets, 2) if not one & two]
    for sets in pairs:
        case = Case([Item(str(index)) for index in pool], sets)
        search = Search(case.items)
        run(search, case.verdict)
        assert set(search.result().culprits) == set(sets)
