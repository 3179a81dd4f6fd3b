"""Sizes of disks as errors say them."""

from __future__ import annotations

from tests.support.for_each import for_each
from trtforensics.bisection.runner.command import said_bytes


@for_each(("size", "said"), [(0, "0 KiB"), (106_496, "104 KiB"), (1 << 20, "1 MiB"), (3 << 30, "3,072 MiB")])
def test_a_size_is_said_in_a_unit_that_does_not_hide_it(size: int, said: str) -> None:
    assert said_bytes(size) == said
