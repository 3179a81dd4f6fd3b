"""Judges the scores of a probe by the metrics and the tolerance of each output, by default or from the command line.

A default tolerance is four times the rounding floor, but never above a cap: a model that rounding alone makes useless
must not pass because nothing else makes it worse. The caps are what healthy networks of 48 layers stay a factor of two
or three below, and what failures by overflow exceed tenfold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisection.precision.emulation.metrics import DEFAULT_METRICS, EXACT_METRICS, METRICS
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.bisection.precision.casting.storage import Storage
    from trtforensics.bisection.precision.emulation.metrics import Metric
    from trtforensics.bisection.precision.emulation.oracle import Oracle, Scores

FLOOR_FACTOR = 4.0
"""Rounding moves the score by a factor of up to 2 either way as nodes change precision; overflow moves it more."""

_UNITS = 2.0
"""A default tolerance is never tighter than this many units of rounding, which a network of one node needs."""

_CAPS: Mapping[str, Mapping[str, float]] = {
    "fp16": {"max-rel": 1e-2, "rel-l2": 1e-2, "max-abs": 1e-2, "cosine": 0.9999, "psnr": 40.0, "mismatch": 1e-3},
    "bf16": {"max-rel": 5e-2, "rel-l2": 5e-2, "max-abs": 5e-2, "cosine": 0.999, "psnr": 26.0, "mismatch": 1e-2},
}
"""Of each metric; that of ``max-abs`` is a share of the output's largest magnitude."""


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
    """What an output must reach by one metric. ``floor`` is the score of rounding alone, None where not finite.

    ``cap`` is the loosest default, and None where the user gave the tolerance.
    """

    metric: Metric
    value: float
    floor: float | None
    cap: float | None

    @property
    def is_below_floor(self) -> bool:
        """Whether rounding alone fails."""
        return not self.metric.passes(self.floor, self.value)


def tolerance_of(metric: Metric, given: float | None, floor: float | None, peak: float, storage: Storage) -> Tolerance:
    """Return the tolerance of one metric: the given one, or ``min(cap, max(4 * floor, 2 * unit of rounding))``.

    ``peak`` is the largest magnitude of the output's reference.
    """
    if given is not None:
        return Tolerance(metric, given, floor, None)
    scale = (peak or 1.0) if metric.name == "max-abs" else 1.0
    cap = cap_of(metric, storage) * scale
    least = 0.0 if metric.name == "mismatch" else _UNITS * storage.half_unit * scale
    wanted = math.inf if floor is None else max(FLOOR_FACTOR * metric.error_of(floor), least)
    return Tolerance(metric, metric.score_of(min(cap, wanted)), floor, metric.score_of(cap))


def cap_of(metric: Metric, storage: Storage) -> float:
    """Return the loosest default as an error; of ``max-abs``, as a share of the output's largest magnitude."""
    return metric.error_of(_CAPS[storage.name][metric.name])


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
class Judgement:
    """Whether a probe passes, whether a score is near its tolerance, the worst scores, and why it fails.

    ``worst`` has the score of each output's first metric.
    """

    passed: bool
    near: bool
    worst: Mapping[str, float | None]
    why: str


@dataclass(frozen=True, slots=True)
class OutputJudge:
    """Judges by tolerances: some for each output, all of which must be reached."""

    tolerances: Mapping[str, tuple[Tolerance, ...]]

    def judge(self, scores: Scores) -> Judgement:
        """Judge the scores of one probe."""
        worst, failures, near = {}, [], False
        for name, tolerances in self.tolerances.items():
            worst[name] = scores.worst(name, tolerances[0].metric)
            if worst[name] is None:
                failures.append(f"{name} is not finite where the FP32 model is")
                continue
            for tolerance in tolerances:
                metric = tolerance.metric
                score = scores.worst(name, metric)
                near |= metric.is_near(score, tolerance.value)
                if score is not None and not metric.passes(score, tolerance.value):
                    failures.append(f"{name}: {metric.name} {score:.3g}, tolerance {tolerance.value:.3g}")
        return Judgement(not failures, near, worst, "; ".join(failures))

    @property
    def floors_above(self) -> Mapping[str, tuple[Tolerance, ...]]:
        """The default tolerances that rounding alone exceeds, by output."""
        above = {
            name: tuple(each for each in tolerances if each.cap is not None and each.is_below_floor)
            for name, tolerances in self.tolerances.items()
        }
        return {name: each for name, each in above.items() if each}


def judge_for(oracle: Oracle, rules: Mapping[str, OutputRule], storage: Storage) -> OutputJudge:
    """Return the judge of an oracle's scores."""
    return OutputJudge(
        {
            name: tuple(
                tolerance_of(metric, rule.tolerance, oracle.floor.worst(name, metric), oracle.peaks[name], storage)
                for metric in rule.metrics
            )
            for name, rule in rules.items()
        }
    )
