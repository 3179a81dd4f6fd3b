"""Six measures of how far an output is from the reference, and the rules of what passes.

Every measure of every output is computed and stored, so that another ``--metric`` or ``--tolerance`` needs no new run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Values = npt.NDArray[Any]

_PSNR_CAP = 300.0
"""Decibels for equal outputs, since infinity is no JSON number."""

_MISMATCH = 1e-2
"""A float value mismatches if it is off by more than this share of the output's largest magnitude."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure by name. ``higher`` says that more is better; ``meaning`` explains it to the user."""

    name: str
    higher: bool
    meaning: str

    def worse(self, score: float, other: float) -> float:
        """Return the worse of two scores."""
        return min(score, other) if self.higher else max(score, other)

    def passes(self, score: float | None, tolerance: float) -> bool:
        """Whether a score is good enough; None stands for values that are not finite."""
        if score is None:
            return False
        return score >= tolerance if self.higher else score <= tolerance

    def error_of(self, score: float) -> float:
        """Return a score on a scale where noise of twice the size is twice the value; 0 is equal."""
        if self.name == "cosine":
            return math.sqrt(max(1.0 - score, 0.0))
        return 10.0 ** (-score / 20.0) if self.name == "psnr" else score

    def score_of(self, error: float) -> float:
        """Return the score of an error, as :meth:`error_of` scales it."""
        if self.name == "cosine":
            return 1.0 - error**2
        return -20.0 * math.log10(error) if self.name == "psnr" else error

    def is_near(self, score: float | None, tolerance: float) -> bool:
        """Whether rounding noise alone could have turned the verdict: within a factor of two of the tolerance."""
        limit = self.error_of(tolerance)
        return score is not None and limit > 0 and limit / 2.0 <= self.error_of(score) <= limit * 2.0


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("max-rel", higher=False, meaning="largest difference, as a share of the reference's largest magnitude"),
        Metric("rel-l2", higher=False, meaning="length of the difference, as a share of the reference's length"),
        Metric("max-abs", higher=False, meaning="largest difference"),
        Metric("cosine", higher=True, meaning="cosine of the angle between the outputs; 1 is equal"),
        Metric("psnr", higher=True, meaning="peak signal to noise ratio in decibels, peak being the largest magnitude"),
        Metric("mismatch", higher=False, meaning="share of values that are off by over 1 % of the largest magnitude"),
    )
}
DEFAULT_METRICS = ("max-rel", "rel-l2")
"""Both must pass: one sees a single value far off, the other sees many that are a little off."""

EXACT_METRICS = ("mismatch",)
"""For outputs of integers and booleans, a few of which may change by any amount when their input is rounded."""

_SMALL_SAMPLE = 1e-3
"""A sample below this share of the output's range is measured against the range: what is left of it is noise."""


def scores_of(
    reference: Values,
    output: Values,
    *,
    peak: float | None = None,
    lowest: float = -math.inf,
    masked: bool = False,
) -> dict[str, float] | None:
    """Measure one output against its reference; None if it is not finite where the reference is.

    ``peak`` is the largest magnitude of the reference over all samples, if there are others. Values of the reference
    below ``lowest`` mark masked positions: there the output must be that low too, and their size is no part of the
    range. Infinities of the reference must be the same in the output. ``masked`` leaves out the values that are not
    finite in the reference.

    Raises:
        ValueError: The shapes differ.
    """
    if reference.shape != output.shape:
        raise ValueError(f"shape {output.shape} where the reference has {reference.shape}")
    if not is_floating(reference):
        return _exact(reference, output)
    wanted, compared = (np.asarray(array, np.float64).ravel() for array in (reference, output))
    low = wanted < lowest
    wanted, compared = (np.where(low, np.maximum(array, lowest), array) for array in (wanted, compared))
    finite = np.isfinite(wanted)
    if not masked and not np.array_equal(wanted[~finite], compared[~finite]):
        return None
    wanted, compared, low = wanted[finite], compared[finite], low[finite]
    if not np.isfinite(compared).all():
        return None
    difference = wanted - compared
    wanted[low] = 0.0
    return _floating(wanted, wanted - difference, peak) if wanted.size else dict(_EQUAL)


def is_floating(values: Values) -> bool:
    """Whether an array holds floating-point values; numpy has kinds of its own for 16-bit types from elsewhere."""
    return values.dtype.kind in "fV"


def peak_of(values: Values, lowest: float = -math.inf) -> float:
    """Return the largest finite magnitude, of values from ``lowest`` on; 0 if there is none."""
    wide = np.asarray(values, np.float64)
    return float(np.abs(wide).max(initial=0.0, where=np.isfinite(wide) & (wide >= lowest)))


_EQUAL: Mapping[str, float] = {
    "max-rel": 0.0,
    "rel-l2": 0.0,
    "max-abs": 0.0,
    "cosine": 1.0,
    "psnr": _PSNR_CAP,
    "mismatch": 0.0,
}


def _exact(reference: Values, output: Values) -> dict[str, float]:
    """Measure integers and booleans: the share of unequal values, and the other measures as far as they apply."""
    if not reference.size:
        return dict(_EQUAL)
    scores = _floating(reference.astype(np.float64).ravel(), output.astype(np.float64).ravel(), None)
    return {**scores, "mismatch": float(np.mean(reference != output))}


def _floating(wanted: Values, output: Values, peak: float | None) -> dict[str, float]:
    difference = np.abs(wanted - output)
    peak = peak_of(wanted) if peak is None else peak
    worst = float(difference.max())
    error = math.sqrt(float(np.mean(difference**2)))
    size = max(math.sqrt(float(np.mean(wanted**2))), peak * _SMALL_SAMPLE)
    return {
        "max-rel": worst / peak if peak else worst,
        "rel-l2": error / size if size else error,
        "max-abs": worst,
        "cosine": _cosine(wanted, output),
        "psnr": min(_PSNR_CAP, 20.0 * math.log10((peak or 1.0) / error)) if error else _PSNR_CAP,
        "mismatch": float(np.mean(difference > _MISMATCH * peak)),
    }


def _cosine(wanted: Values, output: Values) -> float:
    lengths = float(np.linalg.norm(wanted)) * float(np.linalg.norm(output))
    if not lengths:
        return float(np.array_equal(wanted, output))
    return float(np.clip(np.dot(wanted, output) / lengths, -1.0, 1.0))
