"""Offers of several logs become one list."""

from __future__ import annotations

import pytest

from tests.support.pin_slots import HALF, kernel, offer
from trtforensics.pin.pinnable import merged, total_ms


def test_what_won_comes_first_and_the_others_follow_by_their_times() -> None:
    won = offer(1, ms=0.5)
    found = merged(won, [[offer(3, ms=2.0), offer(2, ms=0.6), offer(1, kernel(HALF), 0.7), offer(4, ms=None)]])
    assert [one.tactic for one in found] == [1, 2, 3, 4]
    assert (found[0].time_ms, found[0].kernel, found[0].span) == (0.5, kernel(HALF), won.span)


def test_a_later_log_adds_tactics_on_the_scale_of_the_first() -> None:
    first, second = [offer(1, ms=1.0), offer(2, ms=1.5)], [offer(1, ms=2.0), offer(2, ms=9.0), offer(3, ms=2.2)]
    times = {one.tactic: one.time_ms for one in merged(offer(1, ms=1.0), [first, second])}
    assert times == {1: 1.0, 2: 1.5, 3: pytest.approx(1.1)}


def test_a_kernel_that_only_a_later_log_names_is_taken_from_it() -> None:
    assert merged(offer(1), [[offer(1)], [offer(1, kernel(HALF))]])[0].facts.accumulator == "Half"


def test_a_sum_of_times_is_known_where_all_are() -> None:
    assert (total_ms([1.0, 2.0]), total_ms([1.0, None]), total_ms([])) == (3.0, None, None)
