"""Measures how far outputs are from the reference, and judges that by metrics and tolerances, given or by default.

Every measure of every output is computed and stored, so that another ``--metric`` or ``--tolerance`` needs no new run.

A default tolerance is four times the rounding floor, but never above a cap: a model that rounding alone makes useless
must not pass because nothing else makes it worse. The caps are what healthy networks of 48 layers stay a factor of two
or three below, and what failures by overflow exceed tenfold.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trtforensics.bisection.precision.casting.storage import Storage
from trtforensics.errors import UsageError
from trtforensics.knowledge.table import rows


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
"""What each measures: see :func:`measures.scores_of`."""

DEFAULT_METRICS = ("max-rel", "rel-l2")
"""Both must pass: one sees a single value far off, the other sees many that are a little off."""

EXACT_METRICS = ("mismatch",)
"""For outputs of integers and booleans: rounding an input may change a few of them by any amount."""


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

    ``rounding_floor`` is that of rounding alone, None: not finite; ``cap`` the loosest default, None: not a default.
    """

    metric: str
    tolerance: float
    default: bool
    rounding_floor: float | None
    cap: float | None
    below_floor: bool


def tolerance_of(metric: Metric, given: float | None, floor: float | None, peak: float, storage: Storage) -> Tolerance:
    """Return the given tolerance, or ``min(cap, max(4 * floor, 2 * unit of rounding))``; ``peak`` is of FP32."""
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
    """Return the loosest default as an error, of ``max-abs`` as a share of the output's largest magnitude."""
    return metric.error_of(float(_ROWS[metric.name][storage.name]))


def rules_for(outputs: Mapping[str, bool], metrics: Sequence[str], tolerances: Sequence[str]) -> dict[str, OutputRule]:
    """Read metrics and tolerances, ``VALUE`` or ``OUTPUT:VALUE``, of ``outputs`` (floating or not); later ones win.

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
