"""Both sides of a bisection from one log: bad is what the build chose, good is what a pinning would choose.

``--good pin:accumulate=fp32`` stands for the good side, and ``--bad`` names the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisection.levers.tactics import ReplaySide
from trtforensics.errors import UsageError
from trtforensics.pin.conditions import PinConditions, request_of
from trtforensics.pin.making import PinForm, keys_of_plan, make_plan, replay_of_plan
from trtforensics.pin.plan import PinPlan, PinState, plan
from trtforensics.render.cache import of_log
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.bisection.session.lever import Described
    from trtforensics.model.engine import TimingCache
    from trtforensics.pin.pinnable import PinOffer

    Sides = tuple[Mapping[str, Described], Mapping[str, Described]]
    """By layer, kernel, accumulator and time in ms of good's and of bad's tactic, where the log names them."""


def pinned_replays(log: str, request: str, *, max_bytes: int) -> tuple[ReplaySide, ReplaySide, Sides]:
    """Return the good and the bad replay of a log and a ``pin:…`` request, and what the log says about their tactics.

    Raises:
        SourceError: the log, or that of ``same-as``, cannot be read.
        ForensicsError: the log shows no tactics that a replay can pin, or the request cannot be read.
        UsageError: the request changes no tactic.
    """
    good, bad = _plans(log, request, PinForm.REPLAY, max_bytes)
    known = tuple({row.slot.name: _known(row.offer) for row in side.pinned} for side in (good, bad))
    return ReplaySide((replay_of_plan(good),)), ReplaySide((replay_of_plan(bad),)), (known[0], known[1])


def pinned_caches(log: str, request: str, *, max_bytes: int) -> tuple[TimingCache, TimingCache]:
    """Return the good and the bad keys of a log and a ``pin:…`` request.

    Raises:
        SourceError: the log, or that of ``same-as``, cannot be read.
        ForensicsError: the log prints no keys, or the request cannot be read.
        UsageError: the request changes no tactic.
    """
    good, bad = _plans(log, request, PinForm.CACHE, max_bytes)
    base = of_log(bad.pinnable.log)
    return keys_of_plan(good, base), keys_of_plan(bad, base)


def _plans(path: str, request: str, form: PinForm, max_bytes: int) -> tuple[PinPlan, PinPlan]:
    log = load_build_log([path], max_bytes=max_bytes)
    good = make_plan([log], request_of(request), form, max_bytes=max_bytes)
    if not good.of(PinState.CHANGED):
        stays = good.of(PinState.STAYS)
        why = f": what stays ({len(stays)}) is such as {stays[0].slot.name} ({stays[0].why})" if stays else ""
        raise UsageError(request, f"changes no tactic of {path}{why}", "Ask for less, or give good builds with --good")
    return good, plan(good.pinnable, PinConditions())


def _known(offer: PinOffer) -> Described:
    known: Described = {}
    if offer.kernel:
        known["kernel"] = offer.kernel
    if offer.facts.accumulator:
        known["accumulator"] = offer.facts.accumulator
    if offer.time_ms is not None:
        known["time_ms"] = offer.time_ms
    return known
