"""Measures how far outputs are from the reference, and judges that by metrics and tolerances, given or by default.

Every measure of every output is computed and stored, so that another ``--metric`` or ``--tolerance`` needs no new run.

A default tolerance is four times the rounding floor, but never above a cap: a model that rounding alone makes useless
must not pass because nothing else makes it worse. The caps are what healthy networks of 48 layers stay a factor of two
or three below, and what failures by overflow exceed tenfold.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trtforensics.bisection.precision.casting.storage import Storage
from trtforensics.errors import UsageError
from trtforensics.knowledge.table import rows
from trtforensics.onnx_models.samples import Values

_PSNR_CAP = 300.0
"""Decibels for equal outputs, since infinity is no JSON number."""

_MISMATCH = 1e-2
"""A float value mismatches if it is off by more than this share of the output's largest magnitude."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure by name. ``higher`` says that more is better."""

    name: str
    higher: bool

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


_ROWS = {row["metric"]: row for row in rows("metrics", "trtforensics.bisection.precision")}
METRICS = {name: Metric(name, higher=row["better"] == "higher") for name, row in _ROWS.items()}
"""What each measures: see :func:`scores_of`."""

DEFAULT_METRICS = ("max-rel", "rel-l2")
"""Both must pass: one sees a single value far off, the other sees many that are a little off."""

EXACT_METRICS = ("mismatch",)
"""For outputs of integers and booleans: rounding an input may change a few of them by any amount."""

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


def largest_of(arrays: Iterable[Values]) -> float:
    """Return the largest magnitude of some arrays; 0 if there is none."""
    return max((float(np.abs(each).max(initial=0.0)) for each in arrays), default=0.0)


EQUAL: Mapping[str, float] = {**dict.fromkeys(METRICS, 0.0), "cosine": 1.0, "psnr": _PSNR_CAP}
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


@dataclass(frozen=True, slots=True)
class Scores:
    """Every measure of every output, for each sample; None if the output is not finite where the reference is.

    Once that holds of every output, no further sample changes the worst scores: it is not run, and None too.
    """

    outputs: Mapping[str, tuple[Mapping[str, float] | None, ...]]

    def worst(self, output: str, metric: Metric) -> float | None:
        """Return the worst score of an output over the samples; None if a sample has none."""
        samples = [sample[metric.name] if sample is not None else None for sample in self.outputs[output]]
        scores = [score for score in samples if score is not None]
        if len(scores) < len(samples):
            return None
        return min(scores) if metric.higher else max(scores)


FLOOR_FACTOR = 4.0
"""Rounding moves the score by a factor of up to 2 either way as nodes change precision; overflow moves it more."""

_UNITS = 2.0
"""A default tolerance is never tighter than this many units of rounding, which a network of one node needs."""


@dataclass(frozen=True, slots=True)
class OutputRule:
    """The metrics of an output, all of which must pass; a ``tolerance`` of None is the default of each."""

    metrics: tuple[Metric, ...]
    tolerance: float | None

    @property
    def metric(self) -> Metric:
        """The first metric, whose scores are shown."""
        return self.metrics[0]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What an output must reach by one metric, as a score.

    ``rounding_floor`` is the score of rounding alone, None where not finite; ``below_floor``: it fails. ``cap`` is the
    loosest default, and None where the user gave the tolerance.
    """

    metric: str
    tolerance: float
    default: bool
    rounding_floor: float | None
    cap: float | None
    below_floor: bool


def tolerance_of(metric: Metric, given: float | None, floor: float | None, peak: float, storage: Storage) -> Tolerance:
    """Return the tolerance of one metric: the given one, or ``min(cap, max(4 * floor, 2 * unit of rounding))``.

    ``peak`` is the largest magnitude of the output's reference.
    """
    scale = (peak or 1.0) if metric.name == "max-abs" else 1.0
    cap = cap_of(metric, storage) * scale
    least = 0.0 if metric.name == "mismatch" else _UNITS * storage.half_unit * scale
    wanted = math.inf if floor is None else max(FLOOR_FACTOR * metric.error_of(floor), least)
    score = metric.score_of(min(cap, wanted)) if given is None else given
    return Tolerance(
        metric=metric.name,
        tolerance=score,
        default=given is None,
        rounding_floor=floor,
        cap=metric.score_of(cap) if given is None else None,
        below_floor=not metric.passes(floor, score),
    )


def cap_of(metric: Metric, storage: Storage) -> float:
    """Return the loosest default as an error; of ``max-abs``, as a share of the output's largest magnitude.

    That of 8 bits is 20 dB above the noise.
    """
    return metric.error_of(float(_ROWS[metric.name][storage.name]))


def rules_for(outputs: Mapping[str, bool], metrics: Sequence[str], tolerances: Sequence[str]) -> dict[str, OutputRule]:
    """Read metrics (``NAME`` or ``OUTPUT:NAME``) and tolerances (``VALUE`` or ``OUTPUT:VALUE``); later ones win.

    ``outputs`` says of each output whether it holds floating-point values.

    Raises:
        UsageError: there is no such metric or output, or a tolerance is no number.
    """
    rules = {
        name: OutputRule(tuple(METRICS[each] for each in (DEFAULT_METRICS if floating else EXACT_METRICS)), None)
        for name, floating in outputs.items()
    }
    for text in metrics:
        for name, word in _addressed(text, rules, "--metric"):
            if word not in METRICS:
                raise UsageError("--metric", f"{word!r} is not a metric", f"Choose from {', '.join(METRICS)}")
            rules[name] = OutputRule((METRICS[word],), rules[name].tolerance)
    for text in tolerances:
        for name, word in _addressed(text, rules, "--tolerance"):
            rules[name] = OutputRule(rules[name].metrics, _read_tolerance(word))
    return rules


def spelled(rules: Mapping[str, OutputRule]) -> str:
    """Return the rules in one line, as a directory keeps them."""
    return ", ".join(
        f"{name}: {' and '.join(metric.name for metric in rule.metrics)} "
        f"{'default' if rule.tolerance is None else format(rule.tolerance, 'g')}"
        for name, rule in rules.items()
    )


def _addressed(text: str, rules: Mapping[str, OutputRule], option: str) -> list[tuple[str, str]]:
    output, colon, word = text.rpartition(":")
    if not colon:
        return [(name, word) for name in rules]
    if output not in rules:
        raise UsageError(option, f"the model has no output {output!r}", f"Its outputs are {', '.join(rules)}")
    return [(output, word)]


def _read_tolerance(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError("--tolerance", f"{word!r} is not a number", "Give one such as 0.001 or logits:0.001")
    return value


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether outputs pass, the worst score of each by its first metric, and why they fail."""

    passes: bool
    scores: Mapping[str, float | None]
    why: str

    def __str__(self) -> str:
        return f"passes ({scores_text(self.scores)})" if self.passes else f"fails: {self.why}"


@dataclass(frozen=True, slots=True)
class Judgement(Judged):
    """The judgement of a probe, and whether a score is near its tolerance."""

    near: bool


def scores_text(scores: Mapping[str, float | None]) -> str:
    """Return the score of each output."""
    return ", ".join(
        f"{name} {'not finite' if score is None else format(score, '.3g')}" for name, score in scores.items()
    )


@dataclass(frozen=True, slots=True)
class OutputJudge:
    """Judges by tolerances: some for each output, all of which must be reached."""

    tolerances: Mapping[str, tuple[Tolerance, ...]]

    def judge(self, scores: Scores) -> Judgement:
        """Judge the scores of one probe."""
        worst, failures, near = {}, [], False
        for name, tolerances in self.tolerances.items():
            worst[name] = scores.worst(name, METRICS[tolerances[0].metric])
            if worst[name] is None:
                failures.append(f"{name} is not finite where the FP32 model is")
                continue
            for each in tolerances:
                metric = METRICS[each.metric]
                score = scores.worst(name, metric)
                near |= metric.is_near(score, each.tolerance)
                if score is not None and not metric.passes(score, each.tolerance):
                    failures.append(f"{name}: {metric.name} {score:.3g}, tolerance {each.tolerance:.3g}")
        return Judgement(not failures, worst, "; ".join(failures), near)

    @property
    def floors_above(self) -> list[str]:
        """The outputs with a default tolerance that rounding alone exceeds."""
        return [
            name
            for name, tolerances in self.tolerances.items()
            if any(each.default and each.below_floor for each in tolerances)
        ]
