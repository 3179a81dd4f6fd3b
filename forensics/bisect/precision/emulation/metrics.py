"""Five measures of how far an output is from the reference, and the rules of what passes.

Every measure of every output is computed and stored, so that another ``--metric`` or ``--tolerance`` needs no new run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Values = npt.NDArray[Any]

FLOOR_FACTOR = 4.0
"""The default tolerance is this many times the error of rounding alone.

Rounding moves the score by a factor of up to 2 either way as nodes change precision; overflow moves it a hundredfold.
"""

_PEAK_TO_MEAN = 8.0
"""By how much, at most, the mean error of one rounding is smaller than the largest."""

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

    def worse(self, one: float, other: float) -> float:
        """Return the worse of two scores."""
        return min(one, other) if self.higher else max(one, other)

    def passes(self, score: float | None, tolerance: float) -> bool:
        """Whether a score is good enough; None stands for values that are not finite."""
        if score is None:
            return False
        return score >= tolerance if self.higher else score <= tolerance

    def default_tolerance(self, floor: float, half_unit: float) -> float:
        """Return the tolerance that rounding alone stays well within; never tighter than one rounding."""
        mean = half_unit / _PEAK_TO_MEAN
        if self.name == "cosine":
            return 1.0 - max(1.0 - floor, mean**2) * FLOOR_FACTOR**2
        if self.name == "psnr":
            return min(floor, -20.0 * math.log10(mean)) - 20.0 * math.log10(FLOOR_FACTOR)
        least = half_unit if self.name == "max-rel" else 0.0
        return max(floor * FLOOR_FACTOR, least)

    def is_near(self, score: float | None, tolerance: float) -> bool:
        """Whether rounding noise alone could have turned the verdict: within a factor of two of the tolerance."""
        if score is None or not (self.higher or tolerance):
            return False
        if self.name == "cosine":
            score, tolerance = math.sqrt(max(1.0 - score, 0.0)), math.sqrt(max(1.0 - tolerance, 0.0))
        elif self.name == "psnr":
            score, tolerance = 10.0 ** (-score / 20.0), 10.0 ** (-tolerance / 20.0)
        return tolerance / 2.0 <= score <= tolerance * 2.0


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("max-rel", higher=False, meaning="largest difference, as a share of the reference's largest magnitude"),
        Metric("max-abs", higher=False, meaning="largest difference"),
        Metric("cosine", higher=True, meaning="cosine of the angle between the outputs; 1 is equal"),
        Metric("psnr", higher=True, meaning="peak signal to noise ratio in decibels, peak being the largest magnitude"),
        Metric("mismatch", higher=False, meaning="share of values that are off by over 1 % of the largest magnitude"),
    )
}
DEFAULT_METRIC = "max-rel"
EXACT_METRIC = "mismatch"
"""For outputs of integers and booleans, a few of which may change by any amount when their input is rounded."""


def scores_of(reference: Values, output: Values, *, masked: bool = False) -> dict[str, float] | None:
    """Measure one output against its reference; None if it is not finite where the reference is.

    ``masked`` leaves out the values that are not finite in the reference.

    Raises:
        ValueError: The shapes differ.
    """
    if reference.shape != output.shape:
        raise ValueError(f"shape {output.shape} where the reference has {reference.shape}")
    if reference.dtype.kind not in "fV":
        return _exact(reference, output)
    wanted, seen = (np.asarray(array, np.float64).ravel() for array in (reference, output))
    if masked:
        finite = np.isfinite(wanted)
        wanted, seen = wanted[finite], seen[finite]
    if not np.isfinite(seen).all():
        return None
    return _floating(wanted, seen) if wanted.size else _exact(wanted, seen)


def _exact(reference: Values, output: Values) -> dict[str, float]:
    """Measure integers and booleans: the share of unequal values, and the other measures as far as they apply."""
    if not reference.size:
        return {"max-rel": 0.0, "max-abs": 0.0, "cosine": 1.0, "psnr": _PSNR_CAP, "mismatch": 0.0}
    if reference.dtype.kind in "biu":
        scores = _floating(reference.astype(np.float64).ravel(), output.astype(np.float64).ravel())
    else:
        scores = {"max-rel": 0.0, "max-abs": 0.0, "cosine": 1.0, "psnr": _PSNR_CAP}
    return {**scores, "mismatch": float(np.mean(reference != output))}


def _floating(wanted: Values, seen: Values) -> dict[str, float]:
    difference = np.abs(wanted - seen)
    peak = float(np.abs(wanted).max())
    worst = float(difference.max())
    error = math.sqrt(float(np.mean(difference**2)))
    return {
        "max-rel": worst / peak if peak else worst,
        "max-abs": worst,
        "cosine": _cosine(wanted, seen),
        "psnr": min(_PSNR_CAP, 20.0 * math.log10((peak or 1.0) / error)) if error else _PSNR_CAP,
        "mismatch": float(np.mean(difference > _MISMATCH * peak)),
    }


def _cosine(wanted: Values, seen: Values) -> float:
    lengths = float(np.linalg.norm(wanted)) * float(np.linalg.norm(seen))
    if not lengths:
        return float(np.array_equal(wanted, seen))
    return float(np.clip(np.dot(wanted, seen) / lengths, -1.0, 1.0))


@dataclass(frozen=True, slots=True)
class OutputRule:
    """The metric and tolerance of an output; a ``tolerance`` of None is the default."""

    metric: Metric
    tolerance: float | None


def rules_for(outputs: Mapping[str, bool], metrics: Sequence[str], tolerances: Sequence[str]) -> dict[str, OutputRule]:
    """Read metrics (``NAME`` or ``OUTPUT:NAME``) and tolerances (``VALUE`` or ``OUTPUT:VALUE``); later ones win.

    ``outputs`` says of each output whether it holds floating-point values.

    Raises:
        UsageError: there is no such metric or output, or a tolerance is no number.
    """
    rules = {
        name: OutputRule(METRICS[DEFAULT_METRIC if floating else EXACT_METRIC], None)
        for name, floating in outputs.items()
    }
    for text in metrics:
        for name, word in _addressed(text, rules, "--metric"):
            if word not in METRICS:
                raise UsageError("--metric", f"{word!r} is not a metric", f"Choose from {', '.join(METRICS)}")
            rules[name] = OutputRule(METRICS[word], rules[name].tolerance)
    for text in tolerances:
        for name, word in _addressed(text, rules, "--tolerance"):
            rules[name] = OutputRule(rules[name].metric, _number(word))
    return rules


def _addressed(text: str, rules: Mapping[str, OutputRule], option: str) -> list[tuple[str, str]]:
    output, colon, word = text.rpartition(":")
    if not colon:
        return [(name, word) for name in rules]
    if output not in rules:
        raise UsageError(option, f"the model has no output {output!r}", f"Its outputs are {', '.join(rules)}")
    return [(output, word)]


def _number(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError("--tolerance", f"{word!r} is not a number", "Give one such as 0.001 or logits:0.001")
    return value
