"""How a scale suits the values that it quantizes: what it clips, what it leaves unused, which channels stretch it.

A calibrator sees other values than the samples are, and may cut off a tail. What it leaves is seldom more than 8 dB
below what a range that ends at the largest value leaves (1,100 pairs of eight networks; the least is one of 35 dB).
Beyond that a scale is at fault, whatever the network does with the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from trtforensics.onnx_models.samples import Values

_CLIPS = 0.01
"""More values than calibration by percentiles and entropy cuts off."""
_NOISY_DB = 20.0
_USUAL_DB = 35.0
"""What 8 bits leave of most tensors: what a sparse one has beyond it may be lost."""
_FAULTY_DB = 9.0
_UNUSED = 0.35
_OUTLIER = 8.0
_FEW = 8
"""One channel of eight, at most, is an outlier."""
_IMAGE_RANK = 4
UNSUITED = "does not suit its values"
"""The reason where nothing else is seen to be wrong."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A scale, or one for each index of ``axis``, the zero point, and the ends of the integers."""

    scale: Values
    zero: Values
    low: float
    high: float
    axis: int = 1

    def over(self, rank: int) -> tuple[Values, Values]:
        """Return scale and zero point so that they broadcast over values of a rank."""
        shape = [1] * rank
        if self.scale.size > 1:
            shape[self.axis] = self.scale.size
        return self.scale.reshape(shape), np.broadcast_to(self.zero.ravel(), self.scale.size).reshape(shape)

    def values(self, steps: Values) -> Values:
        """Return what integers stand for."""
        scale, zero = self.over(steps.ndim)
        return np.asarray((np.clip(steps, self.low, self.high) - zero) * scale)

    def lost(self, exact: Values, stored: Values | None = None) -> tuple[Values, Values]:
        """Return the squared error of each value, as ``stored`` or rounded, and which of them are beyond the ends."""
        scale, zero = self.over(exact.ndim)
        steps = np.rint(exact / scale) + zero if stored is None else stored
        return np.square(self.values(steps) - exact), (steps < self.low) | (steps > self.high)

    def fitted(self, arrays: Sequence[Values]) -> Grid:
        """Return the grid of as many scales that ends at the largest values; with a zero point if this one has it."""
        low = high = np.zeros(self.scale.size)
        for values in arrays:
            single = self.scale.size == 1
            rows = values.reshape(1, -1) if single else np.moveaxis(values, self.axis, 0).reshape(self.scale.size, -1)
            low = np.minimum(low, rows.min(axis=1, initial=0.0))
            high = np.maximum(high, rows.max(axis=1, initial=0.0))
        symmetric = self.low < 0.0 and not self.zero.any()
        steps = np.maximum(low / self.low, high / self.high) if symmetric else (high - low) / (self.high - self.low)
        steps = np.where(steps > 0.0, steps, self.scale)
        zero = np.zeros(1) if symmetric else np.rint(self.low - low / steps)
        return Grid(steps, zero, self.low, self.high, self.axis)


@dataclass(frozen=True, slots=True)
class RangeUse:
    """What a grid does to the values of all samples.

    ``clipped`` is the share of values beyond it; ``largest`` the value that is furthest beyond, or nearest to, the end
    of its side, ``end``; ``peak`` the largest absolute value; ``used`` the largest share of its side that one takes;
    ``snr_db`` the signal-to-noise ratio in decibels, ``fitted_db`` that of a range that ends at the largest value, None
    without noise. ``outliers`` are channels that exceed the median of those with values eightfold, the largest
    ``stretch`` times. ``reason`` says what is wrong, or nothing.
    """

    clipped: float
    largest: float
    end: float
    peak: float
    used: float
    snr_db: float | None
    fitted_db: float | None
    outliers: tuple[int, ...]
    stretch: float
    reason: str

    @property
    def excess_db(self) -> float:
        """How much better a range that ends at the largest value is."""
        enough = _USUAL_DB if self.fitted_db is None else self.fitted_db
        wanted = enough if self.used < _UNUSED else min(enough, _USUAL_DB)
        return 0.0 if self.snr_db is None else wanted - self.snr_db

    @property
    def is_at_fault(self) -> bool:
        """Whether that is more than calibration costs."""
        return self.excess_db >= _FAULTY_DB


def rank_of(use: RangeUse | None, usual: float, gained_db: float, alone_db: float) -> tuple[int, float]:
    """Return what sorts scales: at fault, the worst first; then by what the model gains without them.

    An outlier counts by how much further than usual it stretches the scale of the other channels, and by ``alone_db``,
    what its pair alone costs beyond the median one, where that is more: weights may foresee it, and errors may cancel.
    """
    if use is not None and use.is_at_fault:
        return 0, -use.excess_db
    if use is not None and use.outliers and use.stretch > usual:
        return 1, -max(gained_db, 20.0 * np.log10(use.stretch / usual) + alone_db)
    return 1, -gained_db


def use_of(arrays: Sequence[Values], grid: Grid, axes: Sequence[int] = (), stored: Values | None = None) -> RangeUse:
    """Quantize values whose channels lie along ``axes``; ``stored`` are the integers that a constant has instead."""
    beyond = count = signal = noise = clipping = used = least = furthest = largest = end = peak = 0.0
    fitted = grid.fitted(arrays)
    for values in arrays:
        exact = np.asarray(values, np.float64)
        lost, outside = grid.lost(exact, stored)
        beyond, count = beyond + np.count_nonzero(outside), count + exact.size
        signal, noise = signal + np.square(exact).sum(), noise + lost.sum()
        clipping, least = clipping + lost[outside].sum(), least + fitted.lost(exact)[0].sum()
        scale, zero = grid.over(exact.ndim)
        ends = np.where(exact < 0, zero - grid.low, grid.high - zero) * scale
        shares = np.divide(np.abs(exact), ends, out=np.zeros_like(exact), where=ends > 0)
        used = max(used, float(np.max(shares, initial=0.0)))
        peak = max(peak, float(np.max(np.abs(exact), initial=0.0)))
        beyond_ends = np.where(outside, 1.0 + (np.abs(exact) - ends) / scale, shares)
        if exact.size and beyond_ends.max() > furthest:
            place = np.unravel_index(beyond_ends.argmax(), exact.shape)
            furthest, largest = float(beyond_ends[place]), float(exact[place])
            end = float(np.copysign(ends[place], largest) + 0.0)
    ratio, best = _decibels(signal, noise), _decibels(signal, least)
    clipped = beyond / max(count, 1.0)
    outliers, stretch = _outliers(arrays, axes) if grid.scale.size == 1 else ((), 1.0)
    use = RangeUse(clipped, largest, end, peak, used, ratio, best, outliers, stretch, "")
    harmful = clipping > noise / 2 and ratio is not None and (use.is_at_fault or ratio < _NOISY_DB)
    return replace(use, reason=_reason(use, clips=clipped >= _CLIPS or harmful))


def _reason(use: RangeUse, *, clips: bool) -> str:
    reasons = []
    if clips:
        ends = f"they reach {use.largest:.3g}, its range ends at {use.end:.3g}"
        reasons.append(f"clips {use.clipped:.1%} of the values: {ends}")
    elif use.used < _UNUSED:
        return f"uses {use.used:.1%} of its range: the values reach {use.largest:.3g}, it ends at {use.end:.3g}"
    if use.outliers and (clips or not use.is_at_fault):
        shown = ", ".join(map(str, use.outliers[:_FEW])) + (", …" if len(use.outliers) > _FEW else "")
        channels = f"channel {shown} is" if len(use.outliers) == 1 else f"channels {shown} are"
        reasons.append(f"has one scale, and {channels} far beyond the other channels (up to {use.peak:.3g})")
    return "; it ".join(reasons) or (UNSUITED if use.is_at_fault else "")


def _decibels(signal: float, noise: float) -> float | None:
    return float(10.0 * np.log10(signal / noise)) if noise > 0.0 < signal else None


def _outliers(arrays: Sequence[Values], axes: Sequence[int]) -> tuple[tuple[int, ...], float]:
    """Return the channels that are outliers, and how often the largest exceeds the median one, along the worst axis."""
    ranks = {values.ndim for values in arrays}
    if len(ranks) != 1 or ranks <= {0, 1}:
        return (), 1.0
    rank = ranks.pop()
    along = axes or ((1,) if rank == _IMAGE_RANK else (-1,))
    return max((_outliers_along(axis % rank, arrays) for axis in along), key=lambda found: found[1])


def _outliers_along(axis: int, arrays: Sequence[Values]) -> tuple[tuple[int, ...], float]:
    others = tuple(each for each in range(arrays[0].ndim) if each != axis)
    if len({values.shape[axis] for values in arrays}) > 1 or not all(values.size for values in arrays):
        return (), 1.0
    peaks = np.max([np.abs(values).max(axis=others) for values in arrays], axis=0)
    alive = peaks[peaks > 0.0]  # the median of many dead channels is 0, and says nothing of the others
    if not alive.size:
        return (), 1.0
    stretch, beyond = float(peaks.max() / np.median(alive)), np.flatnonzero(peaks > _OUTLIER * np.median(alive))
    return (tuple(map(int, beyond)) if 0 < len(beyond) <= len(alive) / _FEW else ()), stretch
