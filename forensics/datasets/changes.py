"""Finds since which run a series has another level, and how sure that is.

Each split of a series is a two-sample test: of van der Waerden's normal scores for numbers, which keep the power of
means against normal noise and are not misled by a single slow run, and Fisher's exact test for what is there or not.
The best split counts, and its probability under "no change" is multiplied by the number of splits and of series tested
(Bonferroni), so that the chance of any false change in a set of series is at most ``alpha``. Either side of a change is
searched again. It needs no permutations, and no library: NumPy and the normal distribution. Runs must be exchangeable
where nothing changed: a slow drift is reported as changes.
"""

from collections.abc import Iterator
from math import erfc, exp, lgamma, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Series = npt.NDArray[np.float64]

ALPHA = 0.01
"""How likely one false change may be in a set of series without any."""
_LEAST = 3
"""Runs on either side of a change."""
_HANSEN = 7.35
"""The 95 % quantile of the ratio: B. E. Hansen, Sample splitting and threshold estimation, Econometrica 68 (2000)."""


class LevelChange(NamedTuple):
    """A change between the values of a series at ``first - 1`` and ``first``.

    With 95 % confidence it is from ``earliest`` to ``latest`` (Hansen's likelihood ratio). ``chance`` is that of such a
    change where there is none.
    """

    first: int
    earliest: int
    latest: int
    chance: float


def changes(values: Series, series: int, alpha: float = ALPHA) -> list[LevelChange]:
    """Return the changes of a series without gaps, in order; ``series`` are tested together."""
    levels = sorted(_within(values, 0, len(values), series, alpha))
    bounds = [0, *(change.first for change in levels), len(values)]
    exact = (_split(values, begin, end) for begin, end in zip(bounds, bounds[2:], strict=False))
    return [each._replace(chance=old.chance) for each, old in zip(exact, levels, strict=True) if each is not None]


def _within(values: Series, begin: int, end: int, series: int, alpha: float) -> Iterator[LevelChange]:
    change = _split(values, begin, end)
    if change is not None and (chance := min(1.0, change.chance * (end - begin - 1) * series)) <= alpha:
        yield change._replace(chance=chance)
        yield from _within(values, begin, change.first, series, alpha)
        yield from _within(values, change.first, end, series, alpha)


def _split(values: Series, begin: int, end: int) -> LevelChange | None:
    """Return the best split of a part, its chance that of this split alone; None where the part has none."""
    part = values[begin:end]
    if len(part) < 2 * _LEAST or (part == part[0]).all():
        return None
    is_flag = bool(np.isin(part, (0.0, 1.0)).all())
    scores = part - part.mean() if is_flag else _normal_scores(part)
    lengths = np.arange(1, len(part))
    sums = np.cumsum(scores)[:-1]
    variance = (scores @ scores) / (len(part) - 1) * lengths * (len(part) - lengths) / len(part)
    z = np.abs(sums) / np.sqrt(variance)
    z[: _LEAST - 1] = z[len(z) - _LEAST + 1 :] = 0.0
    best = int(z.argmax())
    chance = _fisher(part, best + 1) if is_flag else erfc(float(z[best]) / sqrt(2))
    rest = 1.0 - z**2 / (len(part) - 1)  # the variance that a split leaves, of the whole
    likely = np.flatnonzero((z > 0) & (len(part) * (rest - rest[best]) <= _HANSEN * rest[best])) + begin + 1
    first = begin + best + 1
    return LevelChange(first, int(min([first, *likely])), int(max([first, *likely])), chance)


def _normal_scores(values: Series) -> Series:
    """Return the normal quantiles of ranks, equal for equal values."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - (counts - 1) / 2
    quantile = NormalDist().inv_cdf
    scores: Series = np.array([quantile(float(rank) / (len(values) + 1)) for rank in middles])[places]
    centred: Series = scores - scores.mean()
    return centred


def _fisher(flags: Series, split: int) -> float:
    """Return the two-sided probability of so uneven a number of ones in the first ``split`` values."""
    n, ones, seen = len(flags), int(flags.sum()), int(flags[:split].sum())
    possible = range(max(0, ones - (n - split)), min(ones, split) + 1)
    tail = possible[seen - possible[0] :] if seen * n > ones * split else possible[: seen - possible[0] + 1]
    logs = [_choose(ones, k) + _choose(n - ones, split - k) - _choose(n, split) for k in tail]
    return min(1.0, 2 * sum(map(exp, logs)))


def _choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
