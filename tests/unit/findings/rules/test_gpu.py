"""How bad tactics are that were skipped for want of workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on
from trtforensics.findings.finding import Severity

if TYPE_CHECKING:
    from pathlib import Path

GIBIBYTE = 1 << 30


@pytest.mark.parametrize(
    ("timed", "skipped", "available", "severity"),
    [
        (20, 1, GIBIBYTE, Severity.NOTE),
        (19, 1, GIBIBYTE, Severity.WARNING),
        (20, 2, GIBIBYTE, Severity.WARNING),
        (100, 2, GIBIBYTE, Severity.NOTE),
        (20, 1, 1024, Severity.WARNING),
    ],
)
def test_few_skipped_tactics_are_a_note_where_the_limit_is_ample(
    timed: int, skipped: int, available: int, severity: Severity, tmp_path: Path
) -> None:
    lines = [f"V Tactic: 0x{place:016x} Time: 0.25" for place in range(timed)]
    lines += [
        f"V Tactic: {place} skipped. Scratch requested: {8 * GIBIBYTE}, available: {available}"
        for place in range(skipped)
    ]
    text = marked("\n".join(["V --------------- Timing Runner: c (CaskConvolution[0x80000009])", *lines])).text
    found = of_code(report_on(text, tmp_path), "TF304")
    assert [one.severity for one in found] == [severity]
