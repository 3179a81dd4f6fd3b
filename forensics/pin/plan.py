"""From logs and a request to a plan, and from a plan to what a build reads: a replay, or the keys of a timing cache.

A plan says of every slot which offer is pinned: what won, or the fastest one that the conditions allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trtforensics.errors import UsageError
from trtforensics.model.engine import TimingCache
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import BuildLog
from trtforensics.model.older_python import StrEnum
from trtforensics.model.replay import Replay, ReplayEntry, ReplayForm
from trtforensics.model.timings import is_near_tie
from trtforensics.pin.conditions import PinConditions, request_of
from trtforensics.pin.pinnable import Pinnable, PinOffer, PinSlot, pinnable_keys, pinnable_layers, total_ms
from trtforensics.render.cache import to_json
from trtforensics.replay.writing import to_text
from trtforensics.sources.build_log import load_build_log

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
        return any(is_near_tie(self.slot.won.time_ms, offer.time_ms) for offer in self.slot.offers[1:])


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
        return total_ms(pinned.cost_ms for pinned in self.pinned)


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


class PinForm(StrEnum):
    """What a pinning is written as."""

    REPLAY = "replay"
    CACHE = "cache"


def form_of(log: BuildLog) -> PinForm:
    """Return the form that a build can be pinned by: its keys if the log prints any, else its layers."""
    keyed = any(build.timing_cache_keys for build in log.builds)
    return PinForm.CACHE if keyed else PinForm.REPLAY


def make_plan(logs: Sequence[BuildLog], request: PinConditions, form: PinForm, *, max_bytes: int) -> PinPlan:
    """Plan the pinning of the first log's build; the other logs widen what is offered.

    Raises:
        SourceError: the log of ``same_as`` cannot be read.
        ForensicsError: a log shows nothing that can be pinned in this form, or the request cannot be read.
    """
    conditions = request
    if request.same_as is not None:
        other = _pinnable([load_build_log([request.same_as], max_bytes=max_bytes)], form)
        conditions = replace(request, chosen={slot.identity: slot.won.algorithm for slot in other.slots})
    pinnable = _pinnable(logs, form)
    path = pinnable.log.source.path
    if not pinnable.slots:
        why = next((f": {layer.why} ({layer.span})" for layer in pinnable.left_out), "")
        raise UsageError(path, f"shows nothing that can be pinned{why}", "Give the verbose log of another build of it")
    if conditions.layers is not None and not any(map(conditions.names, pinnable.slots)):
        what = f"{conditions.layers.pattern!r} matches no layer of {path} that can be pinned"
        raise UsageError("--layers", what, "`trtforensics table LOG --of choices` lists their names")
    return plan(pinnable, conditions)


def _pinnable(logs: Sequence[BuildLog], form: PinForm) -> Pinnable:
    return pinnable_keys(logs) if form is PinForm.CACHE else pinnable_layers(logs)


def plans_of(path: str, request: str, form: PinForm, *, max_bytes: int) -> tuple[PinPlan, PinPlan]:
    """Return the plan of a ``pin:…`` request for a log, and the plan of what the build chose.

    Raises:
        SourceError: the log, or that of ``same-as``, cannot be read.
        ForensicsError: the log shows nothing that can be pinned in this form, or the request cannot be read.
        UsageError: the request changes no tactic.
    """
    log = load_build_log([path], max_bytes=max_bytes)
    asked = make_plan([log], request_of(request), form, max_bytes=max_bytes)
    if not asked.of(PinState.CHANGED):
        stays = asked.of(PinState.STAYS)
        why = f": what stays ({len(stays)}) is such as {stays[0].slot.name} ({stays[0].why})" if stays else ""
        raise UsageError(request, f"changes no tactic of {path}{why}", "Ask for less, or give good builds with --good")
    return asked, plan(asked.pinnable, PinConditions())


def replay_of_plan(made: PinPlan) -> Replay:
    """Return the replay of a plan over layers; an entry's span is that of the offer."""
    ids = made.pinnable.runner_ids
    entries = (
        _entry(pinned, pinned.slot.entry, ids.get(pinned.offer.runner)) for pinned in made.pinned if pinned.slot.entry
    )
    return Replay(made.pinnable.log.source, ReplayForm.F5, "", tuple(entries))


def _entry(pinned: PinnedSlot, entry: ReplayEntry, runner_id: int | None) -> ReplayEntry:
    if pinned.offer is pinned.slot.won or runner_id is None:
        return entry
    return replace(entry, implementation=runner_id, tactic=pinned.offer.tactic, span=pinned.offer.span)


def keys_of_plan(made: PinPlan, base: TimingCache) -> TimingCache:
    """Return the timing cache of a plan over the keys of ``base``; candidates stay with their keys."""
    keys = (
        replace(pinned.slot.key, selected=pinned.offer.tactic, time_ms=pinned.offer.time_ms)
        for pinned in made.pinned
        if pinned.slot.key
    )
    return replace(base, keys=tuple(keys))


def text_of_plan(made: PinPlan) -> str:
    """Return the file of a plan."""
    if made.pinnable.base is not None:
        return to_json(keys_of_plan(made, made.pinnable.base))
    return to_text(replay_of_plan(made).entries)
