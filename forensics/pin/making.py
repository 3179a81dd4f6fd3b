"""From logs and a request to a plan, and from a plan to what a build reads: a replay, or the keys of a timing cache."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.errors import UsageError
from trtforensics.model.older_python import StrEnum
from trtforensics.model.replay import Replay, ReplayForm
from trtforensics.pin.pinnable import pinnable_keys, pinnable_layers
from trtforensics.pin.plan import plan
from trtforensics.render.cache import to_json
from trtforensics.replay.writing import to_text
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.engine import TimingCache
    from trtforensics.model.log import BuildLog
    from trtforensics.model.replay import ReplayEntry
    from trtforensics.pin.conditions import PinConditions
    from trtforensics.pin.pinnable import Pinnable
    from trtforensics.pin.plan import PinnedSlot, PinPlan


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
