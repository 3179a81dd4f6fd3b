"""The rules of what passes, and judged scores."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.for_each import for_each
from trtforensics.bisection.precision.casting.storage import BF16, FP16, Storage
from trtforensics.bisection.precision.emulation.judging import (
    METRICS,
    OutputJudge,
    Scores,
    rules_for,
    tolerance_of,
)
from trtforensics.bisection.precision.emulation.measures import EQUAL, scores_of
from trtforensics.errors import UsageError


@for_each("name", METRICS)
def test_a_default_tolerance_lets_the_floor_pass_with_room(name: str) -> None:
    metric = METRICS[name]
    random = np.random.default_rng(0)
    wanted = random.standard_normal(1000).astype(np.float32)
    noise = random.standard_normal(1000).astype(np.float32) * np.float32(3e-4)
    measured = [(scores_of(wanted, wanted + noise * factor) or {})[name] for factor in (1, 2.2, 3.9, 20)]
    tolerance = tolerance_of(metric, None, measured[0], float(np.abs(wanted).max()), FP16)
    assert [metric.passes(score, tolerance.tolerance) for score in measured] == [True, True, True, name == "mismatch"]
    assert not tolerance.below_floor


@for_each("storage", [FP16, BF16], ids=lambda storage: storage.name)
@for_each("name", METRICS)
@for_each("error", [0.2, 0.765, 5.0, None])
def test_no_default_tolerance_is_looser_than_its_cap(name: str, error: float | None, storage: Storage) -> None:
    metric = METRICS[name]
    floor = None if error is None else metric.score_of(error * (7.0 if name == "max-abs" else 1.0))
    tolerance = tolerance_of(metric, None, floor, 7.0, storage)
    caps = {"fp16": (1e-2, 0.9999, 40.0, 1e-3), "bf16": (5e-2, 0.999, 26.0, 1e-2)}[storage.name]
    expected = {"max-abs": 7.0 * caps[0], "cosine": caps[1], "psnr": caps[2], "mismatch": caps[3]}.get(name, caps[0])
    assert tolerance.tolerance == pytest.approx(expected)
    assert tolerance.cap == pytest.approx(expected)
    assert tolerance.below_floor


@pytest.mark.parametrize("storage", [FP16, BF16], ids=lambda storage: storage.name)
def test_no_default_tolerance_is_tighter_than_two_units_of_rounding(storage: Storage) -> None:
    assert tolerance_of(METRICS["max-rel"], None, 0.0, 1.0, storage).tolerance == 2.0 * storage.half_unit
    assert tolerance_of(METRICS["max-abs"], None, 0.0, 3.0, storage).tolerance == 6.0 * storage.half_unit
    assert tolerance_of(METRICS["cosine"], None, 1.0, 1.0, storage).tolerance == 1.0 - (2.0 * storage.half_unit) ** 2
    assert tolerance_of(METRICS["mismatch"], None, 0.0, 1.0, storage).tolerance == 0.0


@for_each("storage", [FP16, BF16], ids=lambda storage: storage.name)
@for_each("name", METRICS)
@for_each("error", [0.0, 1e-6, 1e-3, 0.5, None])
def test_no_floor_gives_a_tighter_tolerance_than_that_of_equal_outputs(
    name: str, error: float | None, storage: Storage
) -> None:
    metric = METRICS[name]
    floor = EQUAL[name] if error == 0.0 else None if error is None else metric.score_of(error)
    strictest = tolerance_of(metric, None, EQUAL[name], 7.0, storage)
    assert metric.passes(strictest.tolerance, tolerance_of(metric, None, floor, 7.0, storage).tolerance)


def test_a_given_tolerance_is_taken_as_it_is() -> None:
    given = tolerance_of(METRICS["max-rel"], 3.0, math.inf, 1.0, FP16)
    assert (given.tolerance, given.cap, given.below_floor) == (3.0, None, True)


def test_rules_go_from_all_outputs_to_one() -> None:
    rules = rules_for({"y": True, "n": False}, ["cosine", "y:psnr"], ["0.5", "y:40"])
    assert ([metric.name for metric in rules["y"].metrics], rules["y"].tolerance) == (["psnr"], 40.0)
    assert (rules["n"].metric.name, rules["n"].tolerance) == ("cosine", 0.5)
    default = rules_for({"y": True, "n": False}, [], [])
    assert [metric.name for metric in default["y"].metrics] == ["max-rel", "rel-l2"]
    assert [metric.name for metric in default["n"].metrics] == ["mismatch"]


@for_each(
    ("metrics", "tolerances", "says"),
    [
        (["euclid"], [], "is not a metric"),
        (["z:cosine"], [], "no output 'z'"),
        ([], ["much"], "is not a number"),
        ([], ["nan"], "is not a number"),
    ],
)
def test_what_makes_no_rule_is_refused(metrics: list[str], tolerances: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        rules_for({"y": True}, metrics, tolerances)


FINE = {"max-rel": 1e-3, "rel-l2": 1e-3}


def judge(floor: float = 5e-4, given: float | None = None) -> OutputJudge:
    return OutputJudge(
        {"y": tuple(tolerance_of(METRICS[name], given, floor, 1.0, FP16) for name in ("max-rel", "rel-l2"))}
    )


@pytest.mark.parametrize("name", ["max-rel", "rel-l2"])
def test_one_metric_that_fails_is_enough(name: str) -> None:
    assert judge().judge(Scores({"y": (FINE,)})).passes
    failed = judge().judge(Scores({"y": (FINE, {**FINE, name: 0.5})}))
    assert not failed.passes
    assert failed.why == f"y: {name} 0.5, tolerance 0.002"


def test_what_is_not_finite_fails_and_is_named() -> None:
    failed = judge().judge(Scores({"y": (FINE, None)}))
    assert (failed.passes, failed.scores, failed.near) == (False, {"y": None}, False)
    assert failed.why == "y is not finite where the FP32 model is"


def test_either_metric_may_be_near() -> None:
    assert judge().judge(Scores({"y": ({"max-rel": 1e-4, "rel-l2": 1.1e-3},)})).near
    assert not judge().judge(Scores({"y": ({"max-rel": 1e-4, "rel-l2": 9e-4},)})).near


@pytest.mark.parametrize("floor", [0.765, 0.011])
def test_a_floor_above_the_cap_is_known(floor: float) -> None:
    assert judge(floor).floors_above
    assert not judge(given=1e-5).floors_above
    assert not judge().floors_above
