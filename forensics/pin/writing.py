"""Makes of a plan what a build reads: a replay, or the keys of a timing cache."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.model.replay import Replay, ReplayForm
from trtforensics.render.cache import to_json
from trtforensics.replay.writing import to_text

if TYPE_CHECKING:
    from trtforensics.model.log import MyelinOperation
    from trtforensics.model.replay import ReplayEntry
    from trtforensics.model.timing_cache import TimingCache
    from trtforensics.pin.plan import PinnedSlot, PinPlan


def replay_of_plan(plan: PinPlan) -> Replay:
    """Return the replay of a plan over layers; an entry's span is that of the offer."""
    ids = plan.pinnable.runner_ids
    entries = (_entry(one, one.slot.entry, ids.get(one.offer.runner)) for one in plan.pinned if one.slot.entry)
    return Replay(plan.pinnable.log.source, ReplayForm.F5, "", tuple(entries))


def _entry(one: PinnedSlot, entry: ReplayEntry, runner_id: int | None) -> ReplayEntry:
    if one.offer is one.slot.won or runner_id is None:
        return entry
    return replace(entry, implementation=runner_id, tactic=one.offer.tactic, span=one.offer.span)


def keys_of_plan(plan: PinPlan, base: TimingCache) -> TimingCache:
    """Return the timing cache of a plan over the keys of ``base``; candidates stay with their keys."""
    keys = tuple(_key(one, one.slot.key) for one in plan.pinned if one.slot.key)
    return replace(base, keys=keys)


def _key(one: PinnedSlot, key: MyelinOperation) -> MyelinOperation:
    return replace(key, selected=one.offer.tactic, time_ms=one.offer.time_ms)


def text_of_plan(plan: PinPlan) -> str:
    """Return the file of a plan."""
    if plan.pinnable.base is not None:
        return to_json(keys_of_plan(plan, plan.pinnable.base))
    return to_text(replay_of_plan(plan).entries)
