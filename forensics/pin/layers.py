"""The layers that a replay can pin (TensorRT 8.6 to 10.x), with the tactics that logs timed for each.

Only tactics of the combination of formats that won are offers: another combination changes the layers around it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from trtforensics.errors import UsageError
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.parsers.builds.views import Spans
from trtforensics.pin.slots import Pinnable, PinOffer, PinSlot, merged, total_ms
from trtforensics.replay.from_log import final_results, replay_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.model.log import Build, BuildLog, CachedResult, Choice
    from trtforensics.model.replay import ReplayEntry

    _Combination = tuple[str, tuple[str, ...], tuple[str, ...]]
    _Tables = Mapping[_Combination, Sequence[PinOffer]]


def pinnable_layers(logs: Sequence[BuildLog]) -> Pinnable:
    """Return the layers of the first log's last tuned build; the other logs widen the offers.

    Raises:
        UsageError: a log holds no build.
        ForensicsError: the first log has no choices, or prints no ids of runners.
    """
    builds = [tuned_build(log) for log in logs]
    log, build = logs[0], builds[0]
    made = replay_of(build, log.source)
    finals = final_results(build)
    tables = [_timed(build, of) for build, of in zip(builds, logs, strict=True)]
    ids = {name: number for build in reversed(builds) for name, number in build.runner_ids.items()}
    slots = tuple(_slot(entry, finals[entry.layer], tables, ids) for entry in made.replay.entries)
    pinned = [finals[slot.name].time_ms for slot in slots if not is_foreign_node(slot.name)]
    whole, held = total_ms(final.time_ms for final in finals.values()), total_ms(pinned)
    left = None if whole is None else max(whole - (held or 0.0), 0.0)
    untimed = sum(layer.layer not in finals for layer in made.left_out)
    return Pinnable(log, build, slots, made.left_out, whole, left, untimed, ids)


def tuned_build(log: BuildLog) -> Build:
    """Return the last build that chose tactics.

    Raises:
        UsageError: there is none.
    """
    tuned = [build for build in log.builds if build.choices or build.cached]
    if not tuned:
        next_step = "Give the verbose log of a build, not of an engine that was loaded"
        raise UsageError(log.source.path, "has no autotuning, so no tactic to pin", next_step)
    return tuned[-1]


def _combination(tuned: Choice | CachedResult) -> _Combination:
    return tuned.layer, tuned.inputs, tuned.outputs


def _timed(build: Build, log: BuildLog) -> dict[_Combination, list[PinOffer]]:
    """Return what was timed for each layer in each combination of formats, or came from the timing cache."""
    spans = Spans(log.source, log.line_starts)
    offers: dict[_Combination, list[PinOffer]] = defaultdict(list)
    for choice in build.choices:
        offers[_combination(choice)] += [
            PinOffer(
                candidate.runner or choice.runner,
                candidate.tactic,
                candidate.kernel,
                candidate.time_ms,
                spans.of(candidate.line),
                candidate.splits,
            )
            for candidate in build.candidates(choice)
            if candidate.tactic is not None
        ]
    for cached in build.cached:
        if cached.tactic is not None:
            offers[_combination(cached)].append(_result(cached))
    return offers


def _result(tuned: Choice | CachedResult) -> PinOffer:
    return PinOffer(tuned.runner, tuned.tactic or 0, "", tuned.time_ms, tuned.span)


def _slot(
    entry: ReplayEntry, final: Choice | CachedResult, tables: Sequence[_Tables], ids: Mapping[str, int]
) -> PinSlot:
    """Return a layer with its offers; a runner whose id no log prints cannot stand in a replay."""
    timed = [[offer for offer in table.get(_combination(final), ()) if offer.runner in ids] for table in tables]
    return PinSlot(entry.layer, merged(_result(final), timed), entry=entry)
