"""What of a build can be pinned: layers by a replay, operations inside ForeignNodes by the keys of a timing cache.

A replay pins layers of TensorRT 8.6 to 10.x. Only tactics of the combination of formats that won are offers there:
another combination changes the layers around it. Verbose logs print keys since TensorRT 10.8.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from trtforensics.errors import UsageError
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import Choice
from trtforensics.parsers.builds.views import Spans
from trtforensics.pin.slots import Pinnable, PinOffer, PinSlot, merged, total_ms
from trtforensics.render.cache import of_log
from trtforensics.replay.from_log import LeftOut, final_results, replay_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trtforensics.model.log import Build, BuildLog, CachedResult, MyelinOperation
    from trtforensics.model.replay import ReplayEntry

    _Finals = Mapping[str, Choice | CachedResult]
    _Combination = tuple[str, tuple[str, ...], tuple[str, ...]]
    _Offers = dict[_Combination, list[PinOffer]]


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
    tables = [_timed_layers(build, of) for build, of in zip(builds, logs, strict=True)]
    ids = {name: number for build in reversed(builds) for name, number in build.runner_ids.items()}
    slots = tuple(_layer_slot(entry, finals[entry.layer], tables, ids) for entry in made.replay.entries)
    held = (finals[slot.name].time_ms for slot in slots if not is_foreign_node(slot.name))
    return Pinnable(log, build, slots, made.left_out, *_times(finals, held, made.left_out), ids)


def _times(
    finals: _Finals, held: Iterable[float | None], left_out: Iterable[LeftOut]
) -> tuple[float | None, float | None, int]:
    """Return the time of all final results in ms, that of those that no slot holds, and how many left out have none."""
    whole = total_ms(final.time_ms for final in finals.values())
    left = None if whole is None else max(whole - sum(time or 0.0 for time in held), 0.0)
    return whole, left, sum(layer.layer not in finals for layer in left_out)


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


def _timed_layers(build: Build, log: BuildLog) -> _Offers:
    """Return what was timed for each layer in each combination of formats, or came from the timing cache."""
    spans = Spans(log.source, log.line_starts)
    offers: _Offers = defaultdict(list)
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


def _layer_slot(
    entry: ReplayEntry, final: Choice | CachedResult, tables: Sequence[_Offers], ids: Mapping[str, int]
) -> PinSlot:
    """Return a layer with its offers; a runner whose id no log prints cannot stand in a replay."""
    timed = [[offer for offer in table.get(_combination(final), ()) if offer.runner in ids] for table in tables]
    return PinSlot(entry.layer, merged(_result(final), timed), entry=entry)


def pinnable_keys(logs: Sequence[BuildLog]) -> Pinnable:
    """Return the keys of the first log's last build that prints any; the other logs widen the offers.

    Raises:
        UsageError: the first log prints no keys.
    """
    log = logs[0]
    base = of_log(log)
    build = next(build for build in reversed(log.builds) if build.timing_cache_keys)
    finals = final_results(build)
    tables = [_timed_keys(log) for log in logs]
    slots = tuple(
        _key_slot(key, tables, in_engine=_in_engine(key, finals)) for key in base.keys if key.selected is not None
    )
    held = (slot.won.time_ms for slot in slots if slot.in_engine)
    left_out = tuple(_left_out(build, finals))
    return Pinnable(log, build, slots, left_out, *_times(finals, held, left_out), {}, base)


def _timed_keys(log: BuildLog) -> dict[str, list[PinOffer]]:
    spans = Spans(log.source, log.line_starts)
    offers: dict[str, list[PinOffer]] = {}
    for build in log.builds:
        for operation in build.timing_cache_keys:
            offers.setdefault(operation.key, []).extend(
                PinOffer("", candidate.tactic, candidate.kernel, candidate.time_ms, spans.of(candidate.line))
                for candidate in operation.candidates
                if candidate.tactic is not None
            )
    return offers


def _key_slot(key: MyelinOperation, tables: Sequence[Mapping[str, Sequence[PinOffer]]], *, in_engine: bool) -> PinSlot:
    won = PinOffer("", key.selected or 0, "", key.time_ms, key.span)
    offers = merged(won, [table.get(key.key, ()) for table in tables])
    return PinSlot(key.op, offers, key=key, in_engine=in_engine)


def _in_engine(key: MyelinOperation, finals: _Finals) -> bool:
    """Whether an operation was timed for a choice that the engine uses; True where the log does not tell."""
    final = finals.get(key.foreign_node)
    return not isinstance(final, Choice) or final.first_line <= key.span.line <= final.span.line


def _left_out(build: Build, finals: _Finals) -> Iterator[LeftOut]:
    """Give the layers and operations that have no key."""
    keyed = {key.foreign_node for key in build.timing_cache_keys}
    for final in finals.values():
        if not is_foreign_node(final.layer):
            yield LeftOut(
                final.layer, final.span, "the log prints no timing-cache key for a layer outside ForeignNodes"
            )
        elif final.layer not in keyed:
            why = "Myelin printed no table of tactics for this ForeignNode: nothing in it can be chosen"
            yield LeftOut(final.layer, final.span, why)
    for operation in build.myelin_operations:
        if not operation.key:
            yield LeftOut(operation.op, operation.span, "the log prints no timing-cache key for it")
