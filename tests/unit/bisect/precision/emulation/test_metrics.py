"""Scores, tolerances and the rules of the command line."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trtforensics.bisect.precision.emulation.metrics import METRICS, rules_for, scores_of
from trtforensics.errors import UsageError

ONES = np.array([1.0, -2.0, 4.0, 0.0], np.float32)


def test_equal_outputs_have_perfect_scores() -> None:
    scores = scores_of(ONES, ONES)
    assert scores is not None
    assert all(
        metric.passes(scores[name], 1.0 if metric.higher and name == "cosine" else 0.0)
        for name, metric in METRICS.items()
    )


def test_each_measure_of_one_difference() -> None:
    scores = scores_of(ONES, ONES + np.array([0, 0, 0.4, 0], np.float32))
    assert scores == pytest.approx(
        {
            "max-rel": 0.1,
            "max-abs": 0.4,
            "cosine": 22.6 / math.sqrt(21 * (5 + 4.4**2)),
            "psnr": 20 * math.log10(4 / 0.2),
            "mismatch": 0.25,
        }
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_has_no_score_unless_the_reference_is_not_either(value: float) -> None:
    broken = np.array([1.0, value, 4.0, 0.0], np.float32)
    assert scores_of(ONES, broken) is None
    assert scores_of(broken, broken) is None
    masked = scores_of(broken, ONES, masked=True)
    assert masked is not None
    assert masked["max-abs"] == 0.0


def test_integers_and_booleans_are_compared_exactly() -> None:
    scores = scores_of(np.array([1, 2, 3, 4]), np.array([1, 2, 3, 40]))
    assert scores is not None
    assert scores["mismatch"] == 0.25
    booleans = scores_of(np.array([True, False]), np.array([True, True]))
    assert booleans is not None
    assert booleans["mismatch"] == 0.5


def test_another_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match="shape"):
        scores_of(ONES, ONES[:2])


@pytest.mark.parametrize("name", METRICS)
def test_the_default_tolerance_lets_the_floor_pass_with_room_and_near_is_near(name: str) -> None:
    metric = METRICS[name]
    rng = np.random.default_rng(0)
    wanted = rng.standard_normal(1000).astype(np.float32)
    noise = rng.standard_normal(1000).astype(np.float32) * 1e-3
    measured = [(scores_of(wanted, wanted + noise * factor) or {})[name] for factor in (1, 2.2, 3.9, 20)]
    tolerance = metric.default_tolerance(measured[0], 2.0**-11)
    passes = [metric.passes(score, tolerance) for score in measured]
    assert passes == [True, True, True, False]
    if name != "mismatch":
        assert [metric.is_near(score, tolerance) for score in measured] == [False, True, True, False]


def test_rules_go_from_all_outputs_to_one() -> None:
    rules = rules_for({"y": True, "n": False}, ["cosine", "y:psnr"], ["0.5", "y:40"])
    assert (rules["y"].metric.name, rules["y"].tolerance) == ("psnr", 40.0)
    assert (rules["n"].metric.name, rules["n"].tolerance) == ("cosine", 0.5)
    assert rules_for({"y": True, "n": False}, [], [])["n"].metric.name == "mismatch"


@pytest.mark.parametrize(
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
