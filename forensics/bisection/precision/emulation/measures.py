"""Measures of an output against its reference. The script that checks repairs on a GPU carries this: NumPy alone."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]

_PSNR_CAP = 300.0
"""Decibels for equal outputs, since infinity is no JSON number."""

_MISMATCH = 1e-2
"""A float value mismatches if it is off by more than this share of the output's largest magnitude."""

_SMALL_SAMPLE = 1e-3
"""A sample below this share of the output's range is measured against the range: what is left of it is noise."""


def scores_of(
    reference: Values, output: Values, *, peak: float | None = None, lowest: float = -math.inf, masked: bool = False
) -> dict[str, float] | None:
    """Measure one output against its reference; None if it is not finite where the reference is.

    ``max-abs`` is the largest difference, ``max-rel`` that as a share of the reference's largest magnitude, ``rel-l2``
    the length of the difference as a share of the reference's. ``cosine`` is of the angle between both, ``psnr`` in
    decibels, its peak the largest magnitude; ``mismatch`` the share of values that are off by over 1 % of that.

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
    return _floating(wanted, wanted - difference, peak) if wanted.size else dict(EQUAL)


def is_floating(values: Values) -> bool:
    """Whether an array holds floating-point values; numpy has kinds of its own for 16-bit types from elsewhere."""
    return values.dtype.kind in "fV"


def peak_of(values: Values, lowest: float = -math.inf) -> float:
    """Return the largest finite magnitude, of values from ``lowest`` on; 0 if there is none."""
    wide = np.asarray(values, np.float64)
    return float(np.abs(wide).max(initial=0.0, where=np.isfinite(wide) & (wide >= lowest)))


EQUAL = {"max-rel": 0.0, "rel-l2": 0.0, "max-abs": 0.0, "cosine": 1.0, "psnr": _PSNR_CAP, "mismatch": 0.0}
"""The scores of equal outputs."""


def _exact(reference: Values, output: Values) -> dict[str, float]:
    """Measure integers and booleans: the share of unequal values, and the other measures as far as they apply."""
    if not reference.size:
        return dict(EQUAL)
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
