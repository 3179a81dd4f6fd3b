"""Numbers as text."""

from __future__ import annotations

from trtforensics.console.counting import milliseconds


def test_durations_keep_four_digits_or_so() -> None:
    spelled = [milliseconds(ms) for ms in (None, 0.0, 0.00290231, 0.0290231, 0.1234567, 1.5, 12.3456, 123.456)]
    assert spelled == ["-", "0.000000", "0.002902", "0.02902", "0.1235", "1.500", "12.35", "123.5"]
