"""What of a build can be pinned, and the tactics that logs show as timed for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trtforensics.parsers.notation.kernels import read_tactic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trtforensics.model.kernel import KernelFacts
    from trtforensics.model.log import Build, BuildLog, MyelinOperation
    from trtforensics.model.replay import ReplayEntry
    from trtforensics.model.span import SourceSpan
    from trtforensics.model.timing_cache import TimingCache
    from trtforensics.replay.from_log import LeftOut

    Algorithm = tuple[str, int]
    """A runner's name and a tactic; operations inside a ForeignNode have no runner."""


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
    return best, *sorted(
        offers.values(), key=lambda offer: (offer.time_ms is None, offer.time_ms or 0.0, offer.span.line)
    )


def _scale(won: PinOffer, table: Iterable[PinOffer]) -> float:
    """Return by what factor the first log's times differ from another's, as the tactic tells that won."""
    there = next((offer.time_ms for offer in table if offer.algorithm == won.algorithm), None)
    return won.time_ms / there if won.time_ms and there else 1.0


def total_ms(times: Iterable[float | None]) -> float | None:
    """Add up times; None where there are none or one is not known."""
    every = list(times)
    known = [time for time in every if time is not None]
    return sum(known) if known and len(known) == len(every) else None
