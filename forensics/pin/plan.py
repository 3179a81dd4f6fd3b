"""Decides for every slot which offer is pinned: what won, or the fastest one that the conditions allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.older_python import StrEnum
from trtforensics.model.timings import NEAR_TIE_RATIO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.pin.conditions import PinConditions
    from trtforensics.pin.pinnable import Pinnable, PinOffer, PinSlot

_ENOUGH = 1e-9
"""Shares of a bound that rounding may add."""


class PinState(StrEnum):
    """How a slot is pinned: as it won; as the conditions ask; or as it won although the conditions ask otherwise."""

    KEPT = "kept"
    CHANGED = "changed"
    STAYS = "stays"


@dataclass(frozen=True, slots=True)
class PinnedSlot:
    """A slot and the offer that is pinned. ``why`` says why a slot stays, or what the conditions object to."""

    slot: PinSlot
    offer: PinOffer
    state: PinState
    why: str = ""

    @property
    def cost_ms(self) -> float | None:
        """How much slower the offer is than what won; None where a time is not known, 0 where nothing changes."""
        if self.state is not PinState.CHANGED or not self.slot.in_engine:
            return 0.0
        return _cost(self.slot, self.offer)

    @property
    def near_tie(self) -> bool:
        """Whether another offer is within 2 % of what won, so that noise may choose it in a build without the pin."""
        mine = self.slot.won.time_ms
        others = (offer.time_ms for offer in self.slot.offers[1:])
        return mine is not None and any(time is not None and time <= mine * NEAR_TIE_RATIO for time in others)


@dataclass(frozen=True, slots=True)
class PinPlan:
    """What is pinned of a build."""

    pinnable: Pinnable
    conditions: PinConditions
    pinned: tuple[PinnedSlot, ...]

    def of(self, state: PinState) -> list[PinnedSlot]:
        """Return the slots of a state, in the log's order."""
        return [pinned for pinned in self.pinned if pinned.state is state]

    @property
    def cost_ms(self) -> float | None:
        """How much slower the engine is by the log's times; None where the cost of a change is not known."""
        costs = [pinned.cost_ms for pinned in self.pinned]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


def plan(pinnable: Pinnable, conditions: PinConditions) -> PinPlan:
    """Choose an offer for every slot; the bound in all is spent on the cheapest changes first."""
    wanted = [_wanted(slot, conditions) for slot in pinnable.slots]
    return PinPlan(pinnable, conditions, tuple(_within_whole(wanted, pinnable, conditions)))


def _wanted(slot: PinSlot, conditions: PinConditions) -> PinnedSlot:
    if not conditions.concerns(slot):
        return PinnedSlot(slot, slot.won, PinState.KEPT)
    objection = conditions.objection(slot, slot.won)
    fitting = [offer for offer in slot.offers if not conditions.objection(slot, offer)]
    if conditions.prefer is not None:
        fitting.sort(key=lambda offer: bool(offer.facts.split_k))
        objection = objection or ("it splits K" if slot.won.facts.split_k else "")
    if not objection or (fitting and fitting[0] is slot.won):
        return PinnedSlot(slot, slot.won, PinState.KEPT)
    if is_foreign_node(slot.name) and slot.key is None:
        return PinnedSlot(slot, slot.won, PinState.STAYS, f"{objection}; a ForeignNode is one entry of a replay")
    if not fitting:
        return PinnedSlot(slot, slot.won, PinState.STAYS, f"{objection}, and {_none(slot)}")
    best, bound = fitting[0], conditions.within and conditions.within[0]
    cost = _cost(slot, best)
    if bound is not None and (cost is None or cost > bound * (slot.won.time_ms or 0.0) + _ENOUGH):
        by = "by a time that the log does not tell"
        if cost is not None:
            by = f"by {cost / slot.won.time_ms:.1%}" if slot.won.time_ms else f"by {cost:.6g} ms"
        return PinnedSlot(slot, slot.won, PinState.STAYS, f"{objection}; the best that fits is slower {by}")
    return PinnedSlot(slot, best, PinState.CHANGED, objection)


def _within_whole(wanted: Sequence[PinnedSlot], pinnable: Pinnable, conditions: PinConditions) -> Sequence[PinnedSlot]:
    if conditions.within is None:
        return wanted
    whole = pinnable.total_ms
    if whole is None:
        whole = sum(slot.won.time_ms or 0.0 for slot in pinnable.slots if slot.in_engine)
    left, kept = conditions.within[1] * whole + _ENOUGH, set()
    changes = [pinned for pinned in wanted if pinned.state is PinState.CHANGED]
    for slot in sorted(changes, key=lambda slot: slot.cost_ms or 0.0):
        if (slot.cost_ms or 0.0) <= left:
            left -= max(slot.cost_ms or 0.0, 0.0)
            kept.add(slot.slot.identity)
    why = "{}; cheaper changes have used up the bound in all"
    return [
        PinnedSlot(pinned.slot, pinned.slot.won, PinState.STAYS, why.format(pinned.why))
        if pinned.state is PinState.CHANGED and pinned.slot.identity not in kept
        else pinned
        for pinned in wanted
    ]


def _cost(slot: PinSlot, offer: PinOffer) -> float | None:
    if offer.time_ms is None or slot.won.time_ms is None:
        return None
    return offer.time_ms - slot.won.time_ms


def _none(slot: PinSlot) -> str:
    others = len(slot.offers) - 1
    if not others:
        return "no log shows another tactic"
    return (
        f"none of the {others} other timed tactics fits" if others > 1 else "the only other timed tactic does not fit"
    )
