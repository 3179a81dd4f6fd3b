"""A log that stops is an error where a program kept it, and only a note where somebody pasted a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.findings.rules.test_examples import report_on
from trtforensics.findings.finding import Severity

if TYPE_CHECKING:
    from pathlib import Path

STOPPED = (
    "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --int8",
    "[W] [TRT] Calibrator is not being used. Users must provide dynamic range for all tensors that are not Int32.",
    "[11/22/2026-09:36:03] [I] [TRT] Detected 1 inputs and 1 output network tensors.",
)


@pytest.mark.parametrize("front", ["", "2026-11-22T09:36:04.1234567Z "])
def test_a_log_that_stops_is_an_error(front: str, tmp_path: Path) -> None:
    (first, *_) = report_on("".join(f"{front}{line}\n" for line in STOPPED), tmp_path).findings
    assert (first.code, first.severity, first.title) == ("TF701", Severity.ERROR, "The log stops without a verdict")


@pytest.mark.parametrize("front", ["> ", "| ", "- "])
def test_what_somebody_pasted_may_stop_anywhere(front: str, tmp_path: Path) -> None:
    findings = report_on("".join(f"{front}{line}\n" for line in STOPPED), tmp_path).findings
    assert [one.code for one in findings][:2] == ["TF212", "TF701"]
    assert findings[1].severity is Severity.NOTE
