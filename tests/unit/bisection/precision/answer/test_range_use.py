"""What a scale does to the values that it quantises, in numbers that a person can add up."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.for_each import for_each
from trtforensics.bisection.precision.answer.range_use import Grid, RangeUse, rank_of, use_of


def _grid(scale: float = 1.0, zero: float = 0.0, low: float = -128.0) -> Grid:
    return Grid(np.array([scale]), np.array([zero]), low, 127.0 if low else 255.0)


def _use(snr_db: float | None, fitted_db: float | None, used: float = 1.0) -> RangeUse:
    return RangeUse(0.0, 1.0, 1.0, 1.0, used, snr_db, fitted_db, (), 1.0, "")


@for_each(
    ("values", "clipped", "largest", "end"),
    [
        ([127.0, -128.0], 0.0, 127.0, 127.0),
        ([127.4, 1.0], 0.0, 127.4, 127.0),
        ([127.6, 1.0], 0.5, 127.6, 127.0),
        ([-129.0, 1.0, 2.0, 3.0], 0.25, -129.0, -128.0),
    ],
)
def test_values_that_round_to_a_step_beyond_the_ends_are_clipped(
    values: list[float], clipped: float, largest: float, end: float
) -> None:
    use = use_of([np.array(values, np.float32)], _grid())
    assert (use.clipped, use.largest, use.end) == pytest.approx((clipped, largest, end))


def test_the_noise_of_a_grid_is_a_ratio_to_its_values() -> None:
    use = use_of([np.array([0.5, 10.25], np.float32)], _grid())  # rounded to 0 and 10
    assert use.snr_db == pytest.approx(10 * np.log10((0.25 + 105.0625) / (0.25 + 0.0625)))
    assert use_of([np.array([1.0, 2.0], np.float32)], _grid()).snr_db is None
    assert use_of([np.zeros(4, np.float32)], _grid()).snr_db is None
    assert use_of([np.zeros(4, np.float32)], _grid(zero=-10.0, low=0.0)).snr_db is None  # which become 10


def test_a_side_without_a_range_uses_none_of_it() -> None:
    use = use_of([np.array([100.0, -1.0], np.float32)], _grid(low=0.0))
    assert (use.used, use.end, use.largest) == pytest.approx((100 / 255, 0.0, -1.0))
    assert use.clipped == 0.5


@for_each(
    ("use", "excess", "is_at_fault"),
    [
        (_use(None, 40.0), 0.0, False),
        (_use(30.0, 40.0), 5.0, False),
        (_use(26.0, 40.0), 9.0, True),
        (_use(26.01, 40.0), 8.99, False),
        (_use(26.0, 30.0), 4.0, False),
        (_use(20.0, None), 15.0, True),
        (_use(20.0, 60.0, used=0.35), 15.0, True),
        (_use(20.0, 60.0, used=0.34), 40.0, True),
    ],
)
def test_a_range_is_at_fault_from_nine_decibels_on(use: RangeUse, excess: float, *, is_at_fault: bool) -> None:
    assert use.excess_db == pytest.approx(excess)
    assert use.is_at_fault is is_at_fault


def test_scales_at_fault_come_first_and_the_worst_of_them() -> None:
    worst, bad, good = _use(10.0, 40.0), _use(20.0, 40.0), _use(35.0, 40.0)
    ranks = [rank_of(use, 1.0, gained, 0.0) for use, gained in ((worst, 0.0), (bad, 9.0), (good, 8.0), (None, 7.0))]
    assert ranks == sorted(ranks)
    assert len({*ranks}) == 4


def test_channels_far_beyond_the_others_are_named() -> None:
    values = np.ones((1, 16, 4), np.float32)
    values[0, 3] = 8.1
    use = use_of([values], _grid(8.1 / 127), (1,))
    assert use.outliers == (3,)
    assert use.stretch == pytest.approx(8.1)
    values[0, 3] = 7.9
    assert use_of([values], _grid(8.1 / 127), (1,)).outliers == ()
