"""Change points: planted ones are found where they are, and chance gives hardly any."""

from __future__ import annotations

import numpy as np
import pytest

from trtforensics.datasets.trends import changes


def noisy(seed: int, runs: int, spread: float = 0.02) -> np.ndarray:
    return 1 + spread * np.random.default_rng(seed).standard_normal(runs)


def test_a_planted_step_is_found_within_what_noise_allows() -> None:
    near = covered = 0
    for seed in range(40):
        values = noisy(seed, 2000)
        values[1500:] *= 1.03
        (change,) = changes(values, series=20)
        near += abs(change.first - 1500) <= 3
        covered += change.earliest <= 1500 <= change.latest
        assert change.chance < 1e-9
    assert near >= 32  # the most likely place itself is farther in one of nine draws
    assert covered >= 36


def test_no_change_is_no_alarm() -> None:
    numbers = sum(bool(changes(noisy(seed, 200), series=1)) for seed in range(100))
    draws = [np.random.default_rng(seed).random(200) < 0.2 for seed in range(100)]
    assert numbers + sum(bool(changes(each.astype(float), series=1)) for each in draws) <= 4


def test_single_slow_runs_are_no_change_and_hide_none() -> None:
    values = noisy(3, 300)
    values[::37] *= 40
    assert changes(values, series=1) == []
    values[200:] *= 1.05
    (change,) = changes(values, series=1)
    assert abs(change.first - 200) <= 3


def test_several_steps_are_found_each_at_its_place() -> None:
    values = noisy(5, 900)
    values[300:600] *= 1.2
    assert [change.first for change in changes(values, series=1)] == [300, 600]


@pytest.mark.parametrize(("split", "runs"), [(700, 1000), (8, 16), (3, 400)])
def test_what_is_there_from_a_run_on_is_exact(split: int, runs: int) -> None:
    flags = np.zeros(runs)
    flags[split:] = 1
    (change,) = changes(flags, series=1)
    assert (change.first, change.earliest, change.latest) == (split, split, split)


def test_few_or_equal_runs_tell_nothing() -> None:
    assert changes(np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0]), series=1) == []
    assert changes(np.ones(100), series=1) == []
    assert changes(np.zeros(0), series=1) == []
