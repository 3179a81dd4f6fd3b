"""The search for repairs against known answers, without any model."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from tests.support.property_settings import examples
from tests.support.repair_chain import ATOMS, CHAIN, NODES, drive
from trtforensics.bisection.precision.items import Beyond, PrecisionItem
from trtforensics.bisection.precision.repair.smallest import RepairSearch
from trtforensics.bisection.search import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    Passes = Callable[[frozenset[str]], bool | None]


def repairs(search: RepairSearch) -> list[set[str]]:
    return [set(repair.nodes) for repair in search.repairs]


def test_a_tensor_needs_both_its_sides() -> None:
    search = RepairSearch(CHAIN, ATOMS, "FP16")
    asked = drive(search, lambda keep: keep >= {"n7", "n8"})
    assert search.result().status is Status.CERTIFIED
    assert repairs(search) == [{"n7", "n8"}]
    assert search.answer is not None
    assert search.needed == {"n7": True, "n8": True}
    assert len({ask.active for ask in asked}) == len(asked) <= 2 + 1 + 2 * 7


def test_a_node_that_the_tensor_covers_but_nobody_needs_is_dropped() -> None:
    search = RepairSearch(CHAIN, ATOMS, "FP16")
    drive(search, lambda keep: "n20" in keep)
    assert repairs(search) == [{"n20"}]


def test_alternatives_are_found_unless_one_is_enough() -> None:
    def either(keep: frozenset[str]) -> bool:
        return keep >= {"n3", "n4"} or keep >= {"n30", "n31"}

    search = RepairSearch(CHAIN, ATOMS, "FP16")
    drive(search, either)
    assert sorted(map(sorted, repairs(search))) == [["n3", "n4"], ["n30", "n31"]]
    both = {"n3", "n4"}, {"n30", "n31"}
    assert search.answer is not None
    assert set(search.needed.values()) == {False}
    first = RepairSearch(CHAIN, ATOMS, "FP16", every=False)
    asked = drive(first, either)
    assert repairs(first)[0] in both
    assert not any("but the repairs" in ask.purpose or "only " in ask.purpose for ask in asked)
    assert len(repairs(first)) == 1
    assert first.answer is not None
    assert first.answer.status is Status.CERTIFIED
    assert first.needed == {}


MANY = 125
LONG = [f"m{index:03}" for index in range(MANY)]


def overflowing(places: Collection[int]) -> list[PrecisionItem]:
    """Return an item a node of a long chain; some of them leave the range."""
    beyond = dict.fromkeys(places, Beyond.OVERFLOW)
    return [
        PrecisionItem((f"t{index}",), frozenset({node}), 1000.0 if index in beyond else 1.0, "", beyond.get(index))
        for index, node in enumerate(LONG)
    ]


@for_each("spare", [0, 1, 5, 12])
@for_each("jobs", [1, 4])
def test_a_long_repair_costs_little_more_than_its_proof(spare: int, jobs: int) -> None:
    needed = frozenset(LONG[:87])
    search = RepairSearch(overflowing(range(87 + spare)), {node: frozenset({node}) for node in LONG}, "FP16")
    asked = drive(search, lambda keep: keep >= needed, LONG, jobs)
    assert search.result().status is Status.CERTIFIED
    assert repairs(search) == [set(needed)]
    assert len(asked) <= 87 + 2 * log2(MANY) + 10 + (jobs - 1) * 5
    assert all(search.active(needed - {node}) in {ask.active for ask in asked} for node in needed)


def test_needless_nodes_anywhere_cost_no_more_than_a_second_proof() -> None:
    needed = frozenset(LONG[4:91])
    search = RepairSearch(overflowing(range(100)), {node: frozenset({node}) for node in LONG}, "FP16")
    assert len(drive(search, lambda keep: keep >= needed, LONG)) <= 200
    assert repairs(search) == [set(needed)]


def test_a_layer_that_does_not_matter_goes_at_once() -> None:
    layers = [frozenset(LONG[start : start + 5]) for start in range(0, 60, 5)]
    items = [PrecisionItem((f"l{i}",), layer, 1000.0, "", Beyond.OVERFLOW) for i, layer in enumerate(layers)]
    items += overflowing(())[60:]
    needed = frozenset().union(*layers[:4], *layers[9:])
    search = RepairSearch(items, {node: frozenset({node}) for node in LONG}, "FP16")
    assert len(drive(search, lambda keep: keep >= needed, LONG)) <= len(needed) + 2 * log2(MANY) + 10
    assert repairs(search) == [set(needed)]


def test_few_needed_among_many_suspects_are_found_by_halves() -> None:
    needed = frozenset({LONG[40], LONG[70]})
    search = RepairSearch(overflowing(range(MANY - 1)), {node: frozenset({node}) for node in LONG}, "FP16")
    assert len(drive(search, lambda keep: keep >= needed, LONG)) <= 2 + 2 * 2 * log2(MANY) + 10
    assert repairs(search) == [set(needed)]


def test_nothing_is_searched_where_the_ends_are_not_as_they_should() -> None:
    for passes, says in ((lambda _: True, "passes with every node in FP16"), (lambda _: False, "does not pass")):
        search = RepairSearch(CHAIN, ATOMS, "FP16")
        assert len(drive(search, passes)) == 2
        assert search.result().status is Status.NOT_REPRODUCED
        assert says in search.result().why


def test_an_end_that_cannot_be_judged_leaves_the_search_inconclusive() -> None:
    whole: frozenset[str] = frozenset(NODES)
    for unjudged, precision in ((whole, "FP32"), (frozenset[str](), "FP16")):
        search = RepairSearch(CHAIN, ATOMS, "FP16")
        assert len(drive(search, lambda keep, end=unjudged: None if keep == end else keep == whole)) == 2  # type: ignore[misc]
        assert search.result().status is Status.INCONCLUSIVE
        assert search.result().why.startswith(f"the model cannot be judged with every node in {precision}; ")
        assert "--retry-unresolved" in search.result().why
        assert not search.result().culprits


def test_a_certificate_that_cannot_be_judged_is_not_one() -> None:
    search = RepairSearch(CHAIN, ATOMS, "FP16")

    def passes(keep: frozenset[str]) -> bool | None:
        return None if keep == {"n8"} else keep >= {"n7", "n8"}

    drive(search, passes)
    assert search.result().status is Status.NAMED
    assert repairs(search) == [{"n7", "n8"}]


def test_a_budget_ends_the_search_with_its_suspects() -> None:
    search = RepairSearch(CHAIN, ATOMS, "FP16", limit=4)
    assert len(drive(search, lambda keep: keep >= {"n7", "n8"})) <= 4
    assert search.result().status is Status.INCONCLUSIVE
    assert "4 probes were not enough" in search.result().why
    assert {7, 8} <= search.result().suspects


@examples(60)
@given(st.lists(st.sets(st.sampled_from(NODES), min_size=1, max_size=4), min_size=1, max_size=3))
def test_every_repair_is_minimal_and_every_repair_is_one(wanted: list[set[str]]) -> None:
    def passes(keep: frozenset[str]) -> bool:
        return any(keep >= each for each in wanted)

    search = RepairSearch(CHAIN, ATOMS, "FP16")
    drive(search, passes)
    assert search.result().status is Status.CERTIFIED
    for nodes in repairs(search):
        assert passes(frozenset(nodes))
        assert not any(passes(frozenset(nodes - {node})) for node in nodes)
    used = frozenset(node for nodes in repairs(search) for node in nodes)
    assert not passes(frozenset(NODES) - used)
