"""Scores of outputs, and what is near a tolerance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.for_each import for_each
from trtforensics.bisection.precision.emulation.judging import METRICS
from trtforensics.bisection.precision.emulation.measures import scores_of

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
            "rel-l2": 0.4 / math.sqrt(21),
            "max-abs": 0.4,
            "cosine": 22.6 / math.sqrt(21 * (5 + 4.4**2)),
            "psnr": 20 * math.log10(4 / 0.2),
            "mismatch": 0.25,
        }
    )


def test_nan_of_the_reference_has_no_score_unless_masked() -> None:
    broken = np.array([1.0, np.nan, 4.0, 0.0], np.float32)
    assert scores_of(ONES, broken) is None
    assert scores_of(broken, broken) is None
    masked = scores_of(broken, ONES, masked=True)
    assert masked is not None
    assert masked["max-abs"] == 0.0


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinities_of_the_reference_must_be_the_same(value: float) -> None:
    wanted = np.array([1.0, value, 4.0, 0.0], np.float32)
    assert scores_of(ONES, wanted) is None
    assert scores_of(wanted, ONES) is None
    assert scores_of(wanted, -wanted) is None
    equal = scores_of(wanted, wanted)
    assert equal is not None
    assert equal["max-rel"] == 0.0


@for_each(("seen", "error"), [(-np.inf, 0.0), (-65504.0, 0.0), (-65000.0, 504.0 / 4.0), (2.0, 65506 / 4)])
def test_masked_positions_must_stay_masked_and_are_no_part_of_the_range(seen: float, error: float) -> None:
    wanted = np.array([1.0, -3.4e38, 4.0, 0.0], np.float32)
    scores = scores_of(wanted, np.array([1.0, seen, 4.0, 0.0], np.float32), lowest=-65504.0, peak=4.0)
    assert scores is not None
    assert scores["max-rel"] == pytest.approx(error)


def test_samples_share_a_range_but_each_has_its_own_length() -> None:
    small = scores_of(ONES * 0.1, ONES * 0.1 + np.float32(0.01), peak=4.0)
    assert small is not None
    assert small["max-rel"] == pytest.approx(0.01 / 4.0)
    assert small["rel-l2"] == pytest.approx(0.02 / (0.1 * math.sqrt(21)))
    nothing = scores_of(ONES * 0, ONES * 0 + np.float32(1e-3), peak=4.0)
    assert nothing is not None
    assert nothing["rel-l2"] == pytest.approx(1e-3 / 4e-3)


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


@for_each("name", METRICS)
def test_noise_of_half_to_twice_the_tolerance_is_near(name: str) -> None:
    metric = METRICS[name]
    tolerance = metric.score_of(1e-2)
    near = [metric.is_near(metric.score_of(1e-2 * factor), tolerance) for factor in (0.4, 0.6, 1.9, 2.1)]
    assert near == [False, True, True, False]
    assert metric.error_of(tolerance) == pytest.approx(1e-2)
    assert metric.passes(metric.score_of(0.99e-2), tolerance)
    assert not metric.passes(metric.score_of(1.01e-2), tolerance)
    assert not metric.is_near(None, tolerance)
