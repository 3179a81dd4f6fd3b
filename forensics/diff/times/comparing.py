"""Compares the times of two sides: what was run otherwise, the totals, the layers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from statistics import median
from typing import TYPE_CHECKING

from trtforensics.diff.builds.runs import TOTALS, Circumstance, Measured
from trtforensics.diff.times.deltas import LayerTimes, layer_times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.diff.builds.runs import RunView
    from trtforensics.diff.builds.views import BuildView

_BLOCKS = ("version", "device", "build", "inference", "system", "model")
_FILES = {"Model", "Plugins", "Loaded static plugins", "dynamicPlugins", "setPluginsToSerialize"}
"""Options that name files; only the name of the file tells whether they differ."""


@dataclass(frozen=True, slots=True)
class OtherCircumstance:
    """Something that the sides were built or run with otherwise; each side's values, without those both sides have."""

    block: str
    name: str
    good: tuple[Circumstance, ...]
    bad: tuple[Circumstance, ...]


@dataclass(frozen=True, slots=True)
class TotalDelta:
    """A total on both sides: over several builds of a side the median, with the width of all."""

    key: str
    good: Measured
    bad: Measured

    @property
    def delta(self) -> float:
        """How much larger it is in bad."""
        return self.bad.value - self.good.value

    @property
    def noise(self) -> float | None:
        """The larger spread of the two sides; None where no side tells one."""
        return max((m.spread for m in (self.good, self.bad) if m.spread is not None), default=None)

    @property
    def within_noise(self) -> bool:
        """Whether the difference is no larger than the spread of single inferences."""
        return self.noise is not None and abs(self.delta) <= self.noise


@dataclass(frozen=True, slots=True)
class TimeComparison:
    """Why it is slower, as far as the sources tell. ``layers`` is None where the sides have no times in common."""

    circumstances: tuple[OtherCircumstance, ...]
    totals: tuple[TotalDelta, ...]
    layers: LayerTimes | None

    @property
    def tells(self) -> bool:
        """Whether anything was timed on both sides."""
        return bool(self.totals or self.layers)


def compare_times(good: Sequence[BuildView], bad: Sequence[BuildView]) -> TimeComparison:
    """Compare the times of two sides, each with at least one build."""
    runs = tuple([build.run for build in side if build.run is not None] for side in (good, bad))
    totals = tuple(_totals(*runs))
    of_first = [side for total in totals[:1] for side in (total.good, total.bad)]
    spreads = [one.spread / one.value for one in of_first if one.spread is not None and one.value > 0]
    return TimeComparison(tuple(_circumstances(*runs)), totals, layer_times(good, bad, max(spreads, default=None)))


def _totals(good: Sequence[RunView], bad: Sequence[RunView]) -> Iterator[TotalDelta]:
    for key in TOTALS:
        ours, theirs = ([run.totals[key] for run in side if key in run.totals] for side in (good, bad))
        if ours and theirs:
            yield TotalDelta(key, _joined(ours), _joined(theirs))


def _joined(several: Sequence[Measured]) -> Measured:
    """Return the median of several builds; its spread also covers how far the builds lie apart."""
    if len(several) == 1:
        return several[0]
    values = [one.value for one in several]
    spreads = [one.spread for one in several if one.spread is not None]
    return Measured(median(values), max(max(values) - min(values), *spreads, 0.0), several[0].span)


def _circumstances(good: Sequence[RunView], bad: Sequence[RunView]) -> Iterator[OtherCircumstance]:
    """Yield what both sides state, and state otherwise, in the order of the blocks."""
    stated: list[dict[tuple[str, str], dict[str, Circumstance]]] = []
    for side in (good, bad):
        found: dict[tuple[str, str], dict[str, Circumstance]] = {}
        for run in side:
            for one in run.circumstances:
                found.setdefault((one.block, one.name), {}).setdefault(_value(one), one)
        stated.append(found)
    ours, theirs = stated
    common = [key for key in ours if key in theirs and ours[key].keys() != theirs[key].keys()]
    for key in sorted(common, key=lambda key: _BLOCKS.index(key[0]) if key[0] in _BLOCKS else len(_BLOCKS)):
        yield OtherCircumstance(*key, tuple(ours[key].values()), tuple(theirs[key].values()))


def _value(one: Circumstance) -> str:
    return PurePath(one.value).name if one.name in _FILES else one.value
