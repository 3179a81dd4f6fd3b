"""Weights that do not fit into FP16 are counted once each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on

if TYPE_CHECKING:
    from pathlib import Path

SUBNORMAL = "W - 2 weights are affected by this issue: Detected subnormal FP16 values."
TOO_SMALL = "W - 1 weights are affected by this issue: Detected values less than smallest positive FP16 subnormal value"
OVERFLOW = "W - 1 weights are affected by this issue: Detected finite FP32 values which would overflow in FP16"
LISTED = "V   List of affected weights: {}"


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (SUBNORMAL, "2 weight tensors became subnormal or too small"),
        (f"{SUBNORMAL}\n{TOO_SMALL}", "2 to 3 weight tensors became subnormal or too small"),
        (
            "\n".join([SUBNORMAL, LISTED.format("a.bias, b.weight"), TOO_SMALL, LISTED.format("a.bias")]),
            "2 weight tensors became subnormal or too small",
        ),
        (OVERFLOW, "1 weight tensor overflowed"),
    ],
)
def test_a_weight_with_two_issues_counts_once(lines: str, title: str, tmp_path: Path) -> None:
    (found,) = of_code(report_on(marked(lines).text, tmp_path), "TF208")
    assert found.title.startswith(f"{title} when converted to FP16")
