"""The search for the smallest failing model, on simulated models."""

import random
from collections.abc import Callable

import pytest

from tests.support.for_each import for_each
from trtforensics.bisection.search import Ask, Status, Verdict
from trtforensics.reduce.shrinking import ReductionSearch, enough

Judge = Callable[[frozenset[int]], Verdict]
CONTROLS = 2


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


@for_each("room", [1, 3])
@for_each("seed", range(30))
def test_any_needed_nodes_are_found_and_each_was_left_out(seed: int, room: int) -> None:
    chance = random.Random(seed)
    count = chance.randrange(2, 200)
    needed = frozenset(chance.choices(range(count), k=chance.randrange(1, 5)))
    asked = judged(search := ReductionSearch(grown(count, chance)), needing(needed), room)
    result = search.result()
    assert (result.status, result.culprits) == (Status.CERTIFIED, (needed,))
    assert result.minimal == (True,)
    if len(needed) > 1:
        assert {needed - {index} for index in needed} <= {ask.active for ask in asked}


def test_one_node_of_thousands_takes_a_halving() -> None:
    chain = [frozenset({index - 1} if index else ()) for index in range(4000)]
    asked = judged(search := ReductionSearch(chain), needing(frozenset({2345})))
    assert search.result().culprits == (frozenset({2345}),)
    assert len(asked) <= 12 + 4 + CONTROLS


def test_a_named_node_is_tried_first() -> None:
    chain = [frozenset({index - 1} if index else ()) for index in range(4000)]
    asked = judged(search := ReductionSearch(chain, hints=lambda: [2345]), needing(frozenset({2345})))
    whole, control, named = frozenset(range(4000)), frozenset[int](), frozenset({2345})
    assert [(ask.active, ask.build) for ask in asked] == [
        (whole, 0),
        (control, 0),
        (named, 0),
        (named, 1),
        (control, 1),
    ]
    assert search.result().status is Status.CERTIFIED


def test_a_named_node_leads_to_what_it_reads_and_to_its_readers() -> None:
    chain = [frozenset({index - 1} if index else ()) for index in range(4000)]
    for needed in ({2344, 2345}, {2345, 2346}):
        search = ReductionSearch(chain, hints=lambda: [2345])
        asked = judged(search, needing(frozenset(needed)))
        assert search.result().culprits == (frozenset(needed),)
        assert len(asked) <= 13 + CONTROLS


def test_a_wrong_hint_costs_a_few_probes_only() -> None:
    chain = [frozenset({index - 1} if index else ()) for index in range(4000)]
    asked = judged(search := ReductionSearch(chain, hints=lambda: [17]), needing(frozenset({2345})))
    assert search.result().culprits == (frozenset({2345}),)
    assert len(asked) <= 12 + 4 + 8 + CONTROLS


def test_an_original_that_does_not_fail_is_not_reduced() -> None:
    search = ReductionSearch([frozenset()] * 5)
    assert len(judged(search, lambda _: Verdict.GOOD)) == 1
    assert (search.result().status, search.result().culprits) == (Status.NOT_REPRODUCED, ())


def test_an_original_that_cannot_be_judged_says_so() -> None:
    search = ReductionSearch([frozenset()] * 5)
    judged(search, lambda _: Verdict.UNRESOLVED)
    assert search.result().status is Status.INCONCLUSIVE
    assert "cannot be judged" in search.result().why


def test_what_fails_otherwise_without_a_node_is_named_and_not_certified() -> None:
    needed = frozenset({3, 4})

    def judge(active: frozenset[int]) -> Verdict:
        if needed <= active:
            return Verdict.BAD
        return Verdict.UNRESOLVED if 4 in active else Verdict.GOOD

    judged(search := ReductionSearch([frozenset()] * 9), judge)
    assert (search.result().status, search.undecided) == (Status.NAMED, frozenset({3}))
    assert search.result().minimal == (False,)


def test_an_answer_that_fails_only_once_is_inconclusive() -> None:
    looks: list[frozenset[int]] = []

    def judge(active: frozenset[int]) -> Verdict:
        looks.append(active)
        return Verdict.BAD if 2 in active and looks.count(active) == 1 else Verdict.GOOD

    judged(search := ReductionSearch([frozenset()] * 9), judge)
    assert search.result().status is Status.INCONCLUSIVE
    assert search.result().why == "the answer does not fail each time it is built: bad, good, good"


def test_simplifications_that_the_failure_needs_stay() -> None:
    nodes, needed = 20, frozenset({7, 9, 22, 25})
    search = ReductionSearch([frozenset()] * nodes, simplifications=8, relevant=lambda _: frozenset(range(20, 27)))
    asked = judged(search, needing(needed))
    assert (search.result().status, search.result().culprits) == (Status.CERTIFIED, (needed,))
    assert {needed - {7}, needed - {9}} <= {ask.active for ask in asked}


def test_a_node_that_only_a_size_needed_goes_with_it() -> None:
    def judge(active: frozenset[int]) -> Verdict:
        needed = {7, 9} if 20 in active else {7}
        return Verdict.BAD if active >= needed else Verdict.GOOD

    search = ReductionSearch([frozenset()] * 20, simplifications=1, relevant=lambda _: frozenset({20}))
    judged(search, judge)
    assert search.result().culprits == (frozenset({7}),)


def test_simplifications_that_change_nothing_are_not_asked_about() -> None:
    search = ReductionSearch([frozenset()] * 20, simplifications=8)
    asked = judged(search, needing(frozenset({7})))
    assert search.result().culprits == (frozenset({7}),)
    assert all(not ask.active & frozenset(range(20, 28)) for ask in asked if len(ask.active) == 1)


def of_file() -> ReductionSearch:
    return ReductionSearch([frozenset()] * 9, simplifications=5, rewritings=3, rewriting="2 inputs left out")


"""Nine nodes, two simplifications (9, 10), the file as it is (11) and two parts of it (12, 13)."""


def test_the_rewritten_file_is_the_second_probe() -> None:
    asked = judged(search := of_file(), needing(frozenset({4})))
    assert [ask.active for ask in asked[:2]] == [frozenset(range(14)), frozenset(range(11))]
    assert search.result().culprits == (frozenset({4}),)


@pytest.mark.parametrize("needed", [{4, 12}, {4, 13}, {4, 12, 13}])
def test_what_the_failure_needs_of_the_file_stays(needed: set[int]) -> None:
    judged(search := of_file(), needing(frozenset(needed)))
    assert (search.result().status, search.result().culprits) == (Status.CERTIFIED, (frozenset(needed),))


@pytest.mark.parametrize(
    ("rewritten", "status", "why"),
    [
        (Verdict.GOOD, Status.NOT_REPRODUCED, "the failure is lost by rewriting: 2 inputs left out"),
        (
            Verdict.UNRESOLVED,
            Status.INCONCLUSIVE,
            "rewritten, the model fails otherwise or was not judged: 2 inputs left out",
        ),
    ],
)
def test_only_a_rewritten_model_that_passes_has_lost_the_failure(rewritten: Verdict, status: Status, why: str) -> None:
    judged(search := of_file(), lambda active: Verdict.BAD if 11 in active else rewritten)
    result = search.result()
    assert (result.status, result.culprits, result.why) == (status, (), why)


@pytest.mark.parametrize("again", [Verdict.GOOD, Verdict.UNRESOLVED])
def test_an_original_that_fails_only_once_is_not_said_to_be_lost(again: Verdict) -> None:
    looks: list[frozenset[int]] = []

    def judge(active: frozenset[int]) -> Verdict:
        looks.append(active)
        return Verdict.BAD if len(looks) == 1 else again

    judged(search := of_file(), judge)
    assert search.result().status is Status.INCONCLUSIVE
    assert search.result().why == f"the original failed once, and run again it was {again}"


def test_the_rewritten_file_gets_a_second_look_behind_that_at_the_original() -> None:
    looks: list[frozenset[int]] = []

    def judge(active: frozenset[int]) -> Verdict:
        looks.append(active)
        return Verdict.UNRESOLVED if len(looks) == 2 else needing(frozenset({4}))(active)

    asked = judged(search := of_file(), judge)
    assert [(len(ask.active), ask.build) for ask in asked[:4]] == [(14, 0), (11, 0), (14, 1), (11, 1)]
    assert search.result().culprits == (frozenset({4}),)


def test_a_limit_ends_the_search_with_the_smallest_so_far() -> None:
    search = ReductionSearch([frozenset()] * 300, limit=4)
    assert len(judged(search, needing(frozenset({200})))) == 4
    result = search.result()
    assert result.status is Status.INCONCLUSIVE
    assert 200 in result.culprits[0]
    assert len(result.culprits[0]) < 300


@pytest.mark.parametrize("nodes", [1, 2, 300])
def test_a_check_that_fails_on_the_control_too_ends_the_search_at_once(nodes: int) -> None:
    asked = judged(search := ReductionSearch([frozenset()] * nodes), lambda _: Verdict.BAD)
    assert [(len(ask.active), ask.build) for ask in asked] == [(nodes, 0), (0, 0), (0, 1)]
    result = search.result()
    assert (result.status, result.culprits, search.smallest) == (Status.INCONCLUSIVE, (), frozenset())
    assert result.why.startswith("this check fails on everything that was tried: is the command right? If it fails on ")


def test_a_single_node_is_certified_by_a_control_that_passed_twice() -> None:
    asked = judged(search := ReductionSearch([frozenset()]), needing(frozenset({0})))
    assert [(len(ask.active), ask.build) for ask in asked] == [(1, 0), (0, 0), (1, 1), (0, 1)]
    assert search.result().status is Status.CERTIFIED
    assert {(ask.purpose, ask.build) for ask in search.result().evidence if not ask.active} == {
        ("the control", 0),
        ("the control", 1),
    }


@pytest.mark.parametrize("nodes", [1, 2, 40])
def test_without_any_probe_that_passed_nothing_is_certified(nodes: int) -> None:
    """What does not fail cannot be judged, the control included."""
    judged(
        search := ReductionSearch([frozenset()] * nodes),
        lambda active: Verdict.BAD if 0 in active else Verdict.UNRESOLVED,
    )
    assert (search.result().status, search.smallest) == (Status.NAMED, frozenset({0}))
    assert search.result().why == "nothing was seen to pass for certain, the control included"


def test_another_probe_that_passes_twice_stands_for_a_control_that_cannot_be_judged() -> None:
    def judge(active: frozenset[int]) -> Verdict:
        return needing(frozenset({7}))(active) if active else Verdict.UNRESOLVED

    asked = judged(search := ReductionSearch([frozenset()] * 40), judge)
    assert search.result().status is Status.CERTIFIED
    again = [ask.active for ask in asked if ask.build and judge(ask.active) is Verdict.GOOD]
    assert len(again) == 1


@pytest.mark.slow
def test_checks_that_miss_one_failure_in_five_leave_a_needless_node_in_one_certificate_of_a_hundred() -> None:
    """Of seeds 0 to 599; where nothing is missed, looking again costs a few probes."""
    certified = needless = probes = once = 0
    for seed in range(600):
        chance = random.Random(f"flaky checks {seed}")
        reads = grown(chance.randrange(2, 60), chance)
        needed = frozenset(chance.choices(range(len(reads)), k=chance.randrange(1, 5)))
        asked = judged(ReductionSearch(reads), needing(needed))
        probes, once = probes + len(asked), once + len({ask.active for ask in asked})

        def flaky(active: frozenset[int], needed: frozenset[int] = needed, chance: random.Random = chance) -> Verdict:
            return Verdict.BAD if needed <= active and chance.random() >= 0.2 else Verdict.GOOD

        judged(search := ReductionSearch(reads), flaky)
        if search.result().status is Status.CERTIFIED:
            (left,) = search.result().culprits
            certified += 1
            needless += len(left - needed)
            assert needed <= left
    assert certified > 350
    assert needless <= certified / 200
    assert probes <= once + 6 * 600


def test_cuts_that_pass_again_are_no_missed_failures() -> None:
    """Everything but node 3 passes, though less fails: that is looked at again, and then counts as it is."""
    needed, without = frozenset({7, 9}), frozenset(range(40)) - {3}

    def judge(active: frozenset[int]) -> Verdict:
        return Verdict.GOOD if active == without else needing(needed)(active)

    search = ReductionSearch([frozenset({index - 1}) - {-1} for index in range(40)])
    judged(search, judge)
    assert search.result().status is Status.CERTIFIED
    assert search.misses[0] == 0


@for_each(("missed", "failed", "looks"), [(0, 2, 5), (0, 10, 4), (0, 20, 2), (1, 40, 5), (4, 12, 6), (9, 18, 8)])
def test_the_oftener_a_check_missed_a_failure_the_more_looks_a_pass_gets(missed: int, failed: int, looks: int) -> None:
    """At most 5 in 10,000 that no miss was seen so far, and that so many looks miss."""
    assert enough(missed, failed) == looks
    rate = max(0.2, (missed + 1) / (missed + failed + 2)) if missed else 0.2
    unseen = 1.0 if missed else 0.8**failed
    assert unseen * rate**looks <= 0.0005
    assert looks == 2 or unseen * rate ** (looks - 1) > 0.0005
