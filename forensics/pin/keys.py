"""The timing-cache keys that a verbose log prints (TensorRT 10.8 and later), with the tactics timed for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import Choice
from trtforensics.parsers.builds.views import Spans
from trtforensics.pin.slots import Pinnable, PinOffer, PinSlot, merged, total_ms
from trtforensics.render.cache import of_log
from trtforensics.replay.from_log import LeftOut, final_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trtforensics.model.log import Build, BuildLog, CachedResult, MyelinOperation

    _Finals = Mapping[str, Choice | CachedResult]


def pinnable_keys(logs: Sequence[BuildLog]) -> Pinnable:
    """Return the keys of the first log's last build that prints any; the other logs widen the offers.

    Raises:
        UsageError: the first log prints no keys.
    """
    log = logs[0]
    base = of_log(log)
    build = next(build for build in reversed(log.builds) if build.timing_cache_keys)
    finals = final_results(build)
    tables = [_timed(log) for log in logs]
    slots = tuple(
        _slot(key, tables, in_engine=_in_engine(key, finals)) for key in base.keys if key.selected is not None
    )
    whole = total_ms(final.time_ms for final in finals.values())
    held = sum(slot.won.time_ms or 0.0 for slot in slots if slot.in_engine)
    left = None if whole is None else max(whole - held, 0.0)
    left_out = tuple(_left_out(build, finals))
    untimed = sum(layer.layer not in finals for layer in left_out)
    return Pinnable(log, build, slots, left_out, whole, left, untimed, {}, base)


def _timed(log: BuildLog) -> dict[str, list[PinOffer]]:
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


def _slot(key: MyelinOperation, tables: Sequence[Mapping[str, Sequence[PinOffer]]], *, in_engine: bool) -> PinSlot:
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
