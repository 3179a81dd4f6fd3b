"""What of a build can be pinned: layers by a replay, operations inside ForeignNodes by the keys of a timing cache.

A replay pins layers of TensorRT 8.6 to 10.x. Only tactics of the combination of formats that won are offers there:
another combination changes the layers around it. Verbose logs print keys since TensorRT 10.8.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trtforensics.errors import UsageError
from trtforensics.model.engine import TimingCache
from trtforensics.model.kernel import KernelFacts
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import Build, BuildLog, CachedResult, Choice, MyelinOperation
from trtforensics.model.replay import ReplayEntry
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.builds.views import Spans
from trtforensics.parsers.notation.kernels import read_tactic
from trtforensics.render.cache import of_log
from trtforensics.replay.from_log import LeftOut, final_results, replay_of

Algorithm = tuple[str, int]
"""A runner's name and a tactic; operations inside a ForeignNode have no runner."""
_Finals = Mapping[str, Choice | CachedResult]
_Combination = tuple[str, tuple[str, ...], tuple[str, ...]]
_Offers = dict[_Combination, list["PinOffer"]]


@dataclass(frozen=True, slots=True)
class PinOffer:
    """A tactic that was timed for a slot. ``time_ms`` is on the scale of the first log.

    ``splits`` is into how many parts its line says that the reduction is split, None where the line does not say.
    """

    runner: str
    tactic: int
    kernel: str
    time_ms: float | None
    span: SourceSpan
    splits: int | None = None

    @property
    def facts(self) -> KernelFacts:
        """What the kernel's name and its line tell."""
        return read_tactic(self.kernel, self.splits)

    @property
    def algorithm(self) -> Algorithm:
        """What tells the offer from the slot's others."""
        return self.runner, self.tactic


@dataclass(frozen=True, slots=True)
class PinSlot:
    """One choice that can be pinned: of a layer (``entry``), or of a timing-cache key (``key``).

    ``offers`` begin with what won; the others follow, fastest first. An operation of a combination of formats that lost
    is not ``in_engine``: pinning it costs nothing.
    """

    name: str
    offers: tuple[PinOffer, ...]
    entry: ReplayEntry | None = None
    key: MyelinOperation | None = None
    in_engine: bool = True

    @property
    def won(self) -> PinOffer:
        """What the build chose."""
        return self.offers[0]

    @property
    def identity(self) -> str:
        """The layer, or the key."""
        return self.key.key if self.key is not None else self.name


@dataclass(frozen=True, slots=True)
class Pinnable:
    """What can be pinned of a build, and what cannot.

    ``total_ms`` is the tuned time of the engine's layers, ``left_ms`` that of what is left out; None where the log does
    not tell. ``untimed`` counts what is left out and has no time in the log: both sums lack it. ``base`` is the export
    that the keys are from, None for layers.
    """

    log: BuildLog
    build: Build
    slots: tuple[PinSlot, ...]
    left_out: tuple[LeftOut, ...]
    total_ms: float | None
    left_ms: float | None
    untimed: int
    runner_ids: Mapping[str, int]
    base: TimingCache | None = None


def merged(won: PinOffer, tables: Sequence[Sequence[PinOffer]]) -> tuple[PinOffer, ...]:
    """Return the offers of several logs as one list that begins with what won; the first log's time of a tactic holds.

    A tactic that only a later log timed costs as much more than what won as it does there, where that log timed both.
    """
    offers: dict[Algorithm, PinOffer] = {}
    for table in tables:
        scale = _scale(won, table) if table is not tables[0] else 1.0
        for offer in table:
            time = None if offer.time_ms is None else offer.time_ms * scale
            known = offers.get(offer.algorithm)
            if known is None or (known.time_ms is None and time is not None):
                offers[offer.algorithm] = replace(offer, time_ms=time)
            elif not known.kernel and offer.kernel:
                offers[offer.algorithm] = replace(known, kernel=offer.kernel, splits=offer.splits)
    best = offers.pop(won.algorithm, won)
    best = replace(best, time_ms=won.time_ms if won.time_ms is not None else best.time_ms, span=won.span)
    return best, *sorted(offers.values(), key=lambda each: (each.time_ms is None, each.time_ms or 0.0, each.span.line))


def _scale(won: PinOffer, table: Iterable[PinOffer]) -> float:
    """Return by what factor the first log's times differ from another's, as the tactic tells that won."""
    there = next((offer.time_ms for offer in table if offer.algorithm == won.algorithm), None)
    return won.time_ms / there if won.time_ms and there else 1.0


def total_ms(times: Iterable[float | None]) -> float | None:
    """Add up times; None where there are none or one is not known."""
    every = list(times)
    known = [time for time in every if time is not None]
    return sum(known) if known and len(known) == len(every) else None


def pinnable_layers(logs: Sequence[BuildLog]) -> Pinnable:
    """Return the layers of the first log's last tuned build; the other logs widen the offers."""
    builds = [tuned_build(log) for log in logs]
    log, build = logs[0], builds[0]
    replay, left_out = replay_of(build, log.source)
    finals = final_results(build)
    tables = [_timed_layers(build, of) for build, of in zip(builds, logs, strict=True)]
    ids = {name: number for build in reversed(builds) for name, number in build.runner_ids.items()}
    slots = tuple(_layer_slot(entry, finals[entry.layer], tables, ids) for entry in replay.entries)
    held = (finals[slot.name].time_ms for slot in slots if not is_foreign_node(slot.name))
    return Pinnable(log, build, slots, left_out, *_times(finals, held, left_out), ids)


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
    """Return the keys of the first log's last build that prints any; the other logs widen the offers."""
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
