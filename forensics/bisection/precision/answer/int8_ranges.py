"""How an integer grid suits the values that are quantized to it: what it clips, what it leaves unused, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

_CLIPS = 0.01
"""More values than calibration by percentiles and entropy cuts off."""
_NOISY_DB = 20.0
_UNUSED = 0.25
_OUTLIER = 8.0
_FEW = 8
"""One channel of eight, at most, is an outlier."""
_IMAGE_RANK = 4


@dataclass(frozen=True, slots=True)
class Grid:
    """A scale, or one for each index of ``axis``, the zero point, and the ends of the integers."""

    scale: npt.NDArray[Any]
    zero: npt.NDArray[Any]
    low: float
    high: float
    axis: int = 1

    def over(self, rank: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return scale and zero point so that they broadcast over values of a rank."""
        shape = [1] * rank
        if self.scale.size > 1:
            shape[self.axis] = self.scale.size
        return self.scale.reshape(shape), np.broadcast_to(self.zero.ravel(), self.scale.size).reshape(shape)


@dataclass(frozen=True, slots=True)
class RangeUse:
    """What a grid does to the values of all samples.

    ``clipped`` is the share of values beyond it; ``used`` the largest share of its range that a value takes; ``snr_db``
    the signal-to-noise ratio in decibels, None without noise. ``outliers`` are the channels, along the second axis of
    images and the last of others, that exceed the median channel eightfold. ``reason`` says what is wrong, or nothing.
    """

    clipped: float
    largest: float
    end: float
    used: float
    snr_db: float | None
    outliers: tuple[int, ...]
    reason: str


def use_of(arrays: Sequence[npt.NDArray[Any]], grid: Grid) -> RangeUse:
    """Quantize the values of some samples. A grid without steps gives NaN or infinity, which no model has."""
    beyond = count = signal = noise = clipping = used = 0.0
    for values in arrays:
        exact = np.asarray(values, np.float64)
        scale, zero = grid.over(exact.ndim)
        steps = np.rint(exact / scale) + zero
        lost = np.square((np.clip(steps, grid.low, grid.high) - zero) * scale - exact)
        outside = (steps < grid.low) | (steps > grid.high)
        beyond, count = beyond + np.count_nonzero(outside), count + exact.size
        signal, noise = signal + np.square(exact).sum(), noise + lost.sum()
        clipping += lost[outside].sum()
        ends = np.where(exact < 0, zero - grid.low, grid.high - zero) * scale
        used = max(used, float(np.max(np.abs(exact) / np.maximum(ends, 1e-300), initial=0.0)))
    largest = max((float(np.max(np.abs(values), initial=0.0)) for values in arrays), default=0.0)
    end = float(np.max(grid.scale * max(abs(grid.high - grid.zero.max()), abs(grid.low - grid.zero.min()))))
    ratio = float(10.0 * np.log10(signal / noise)) if noise > 0.0 < signal else None
    clipped = beyond / max(count, 1.0)
    outliers = _outliers(arrays) if grid.scale.size == 1 else ()
    harmful = clipping > noise / 2 and ratio is not None and ratio < _NOISY_DB
    reason = ""
    if clipped >= _CLIPS or harmful:
        reason = f"clips {clipped:.1%} of the values: they reach {largest:.3g}, its range ends at {end:.3g}"
    elif outliers:
        reason = f"has one scale, and {_channels(outliers)} far beyond the other channels (up to {largest:.3g})"
    elif used < _UNUSED:
        reason = f"uses {used:.1%} of its range: the values reach {largest:.3g}, it ends at {end:.3g}"
    return RangeUse(clipped, largest, end, used, ratio, outliers, reason)


def _outliers(arrays: Sequence[npt.NDArray[Any]]) -> tuple[int, ...]:
    ranks = {values.ndim for values in arrays}
    if len(ranks) != 1 or ranks <= {0, 1}:
        return ()
    rank = ranks.pop()
    axis = 1 if rank == _IMAGE_RANK else rank - 1
    others = tuple(each for each in range(rank) if each != axis)
    if len({values.shape[axis] for values in arrays}) > 1 or not all(values.size for values in arrays):
        return ()
    peaks = np.max([np.abs(values).max(axis=others) for values in arrays], axis=0)
    beyond = np.flatnonzero(peaks > _OUTLIER * np.median(peaks))
    return tuple(map(int, beyond)) if 0 < len(beyond) <= len(peaks) / _FEW else ()


def _channels(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_FEW])) + (", …" if len(numbers) > _FEW else "")
    return f"channel {shown} is" if len(numbers) == 1 else f"channels {shown} are"
