"""Judges the scores of a probe by the rules, and says how it was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisect.precision.emulation.rules import tolerance_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.bisect.precision.casting.storage import Storage
    from trtforensics.bisect.precision.emulation.oracle import Oracle, Scores
    from trtforensics.bisect.precision.emulation.rules import OutputRule, Tolerance


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


def rules_document(judge: OutputJudge) -> dict[str, object]:
    """Return how each output is judged, for ``result.json``: by its first metric, and by others besides."""
    document: dict[str, object] = {}
    for name, (first, *others) in judge.tolerances.items():
        document[name] = {**_document(first), "also": [_document(each) for each in others]}
    return document


def _document(tolerance: Tolerance) -> dict[str, object]:
    return {
        "metric": tolerance.metric.name,
        "tolerance": tolerance.value,
        "default": tolerance.cap is not None,
        "rounding_floor": tolerance.floor,
        "cap": tolerance.cap,
        "below_floor": tolerance.is_below_floor,
    }


def rules_text(judged: Mapping[str, object], precision: str, samples: str) -> list[str]:
    """Return lines that say how each output was judged, from the part of ``result.json``."""
    lines = []
    for name, rule in judged.items():
        if not isinstance(rule, dict):
            continue
        lines.append(f"Judged on {samples}: {name} by {' and '.join(map(_spelled, (rule, *rule['also'])))}.")
        below = [each for each in (rule, *rule["also"]) if each["below_floor"]]
        if any(each["default"] for each in below):
            costs = ", ".join(f"{each['metric']} {_number(each['rounding_floor'])}" for each in below)
            lines.append(
                f"The rounding of {precision.upper()} alone costs {name} more than the cap ({costs}): "
                "this is a loss of precision, whatever overflows besides."
            )
        elif below:
            lines.append(
                f"That is less than rounding alone costs {name} in {precision}: no few nodes stand out, "
                "and which pass is a matter of luck."
            )
    return lines


def _spelled(rule: Mapping[str, object]) -> str:
    floor = _number(rule["rounding_floor"])
    if not rule["default"]:
        origin = f"given; rounding floor {floor}"
    elif rule["below_floor"]:
        origin = f"default: the cap, below the rounding floor {floor}"
    else:
        origin = f"default: from the rounding floor {floor}, at most {_number(rule['cap'])}"
    return f"{rule['metric']}, tolerance {_number(rule['tolerance'])} ({origin})"


def _number(value: object) -> str:
    return format(value, ".4g") if isinstance(value, float) else "not finite"
