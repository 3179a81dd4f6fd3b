"""Which offer a plan takes, at what cost, and which layers stay."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pin_slots import HALF, SINGLE, kernel, offer, pinnable, slot
from tests.support.property_settings import examples
from trtforensics.model.data_types import Accumulator
from trtforensics.pin.conditions import PinConditions
from trtforensics.pin.plan import PinState, plan
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog
    from trtforensics.pin.pinnable import PinOffer, PinSlot

    Load = Callable[[str], BuildLog]

LINE = "[11/21/2026-10:00:00] [V] [TRT] Original: 1 layers\n"
SINGLE_WANTED = PinConditions(Accumulator.FP32)


def product(name: str = "a", half: float = 1.0, single: float = 1.1) -> PinSlot:
    return slot(name, offer(1, kernel(HALF), half), offer(2, kernel(SINGLE), single), offer(3, kernel(SINGLE), 9.0))


def states(load: Load, conditions: PinConditions, *slots: PinSlot) -> list[tuple[PinState, int]]:
    found = plan(pinnable(load(LINE), *slots), conditions)
    return [(one.state, one.offer.tactic) for one in found.pinned]


def test_without_conditions_everything_stays_as_it_won(load: Load) -> None:
    found = plan(pinnable(load(LINE), product()), PinConditions())
    assert [(one.state, one.offer.tactic, one.cost_ms) for one in found.pinned] == [(PinState.KEPT, 1, 0.0)]
    assert found.cost_ms == 0.0


def test_the_fastest_offer_that_fits_is_taken_and_its_cost_is_told(load: Load) -> None:
    found = plan(pinnable(load(LINE), product()), SINGLE_WANTED)
    (one,) = found.pinned
    assert (one.state, one.offer.tactic, one.why) == (PinState.CHANGED, 2, "it accumulates in Half")
    assert one.cost_ms == pytest.approx(0.1)
    assert found.cost_ms == pytest.approx(0.1)


def test_a_layer_without_a_fitting_offer_stays_and_says_why(load: Load) -> None:
    alone, others = slot("a", offer(1, kernel(HALF))), slot("b", offer(1, kernel(HALF)), offer(2, kernel(HALF, 64)))
    found = plan(pinnable(load(LINE), alone, others), SINGLE_WANTED)
    assert [one.why for one in found.of(PinState.STAYS)] == [
        "it accumulates in Half, and no log shows another tactic",
        "it accumulates in Half, and the only other timed tactic does not fit",
    ]


def test_a_foreign_node_stays(load: Load) -> None:
    assert states(load, PinConditions(refused=("0x*",)), slot("{ForeignNode[a...b]}", offer(0), offer(1))) == [
        (PinState.STAYS, 0)
    ]


def test_a_bound_holds_a_layer_back(load: Load) -> None:
    bound = PinConditions(Accumulator.FP32, within=(0.1, 1.0))
    assert states(load, bound, product("a", single=1.1), product("b", single=1.11)) == [
        (PinState.CHANGED, 2),
        (PinState.STAYS, 1),
    ]


def test_the_bound_in_all_is_spent_on_the_cheapest_changes(load: Load) -> None:
    bound = PinConditions(Accumulator.FP32, within=(1.0, 0.1))
    slots = [product("a", single=1.25), product("b", single=1.1), product("c", single=1.15)]
    assert states(load, bound, *slots) == [(PinState.STAYS, 1), (PinState.CHANGED, 2), (PinState.CHANGED, 2)]


def test_a_preference_gives_way_where_nothing_else_is_offered(load: Load) -> None:
    split = f"{kernel(HALF)}_execute_split_k_kernel"
    wish = PinConditions(prefer="deterministic")
    both = slot("a", offer(1, split), offer(2, kernel(HALF)))
    assert states(load, wish, both, slot("b", offer(1, split))) == [(PinState.CHANGED, 2), (PinState.KEPT, 1)]


def test_an_operation_outside_the_engine_costs_nothing(load: Load) -> None:
    outside = replace(product(), in_engine=False)
    assert plan(pinnable(load(LINE), outside), SINGLE_WANTED).cost_ms == 0.0


offers = st.lists(
    st.tuples(st.sampled_from([HALF, SINGLE]), st.none() | st.floats(0.5, 3)), min_size=1, max_size=5
).map(lambda rows: [offer(index, kernel(types, 2**index), ms) for index, (types, ms) in enumerate(rows)])


@given(st.lists(offers, min_size=1, max_size=5), st.floats(0, 1), st.floats(0, 1))
@examples(200)
def test_bounds_are_never_exceeded_and_only_fitting_offers_replace_what_won(
    rows: list[list[PinOffer]], layer: float, whole: float
) -> None:
    slots = [slot(str(index), *each) for index, each in enumerate(rows)]
    conditions = PinConditions(Accumulator.FP32, within=(layer, whole))
    total = sum(one.won.time_ms or 0.0 for one in slots)
    found = plan(pinnable(_LOG, *slots), conditions)
    assert [one.slot for one in found.pinned] == slots
    for one in found.pinned:
        assert one.offer in one.slot.offers
        assert (one.state is PinState.CHANGED) == (one.offer is not one.slot.won)
        if one.state is PinState.CHANGED:
            assert one.offer.facts.accumulator == "Float"
            assert one.cost_ms is not None
            assert one.cost_ms <= layer * (one.slot.won.time_ms or 0.0) + 1e-6
    assert sum(max(one.cost_ms or 0.0, 0.0) for one in found.pinned) <= whole * total + 1e-6


def _log() -> BuildLog:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "build.log"
        path.write_text(LINE)
        return load_build_log([str(path)])


_LOG = _log()
