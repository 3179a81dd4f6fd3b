"""Versions of TensorRT."""

from __future__ import annotations

from tests.support.for_each import for_each
from trtforensics.findings.versions import Version


@for_each(
    ("since", "before", "has"),
    [
        ("", "", True),
        ("10.8", "", True),
        ("10.12", "", True),
        ("10.13", "", False),
        ("", "11", True),
        ("", "10.12", False),
    ],
)
def test_versions_compare_number_by_number(since: str, before: str, has: bool) -> None:  # noqa: FBT001 - a column
    assert Version((10, 12, 0)).has(since, before) is has
