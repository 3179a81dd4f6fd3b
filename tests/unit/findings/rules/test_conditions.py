"""Rules whose title or gravity depends on something else in the log, with it and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.examples import node
from tests.unit.findings.rules.test_examples import of_code, report_on
from trtforensics.findings.finding import Severity

if TYPE_CHECKING:
    from pathlib import Path

PASSING = (
    "E [checkMacros.cpp::catchCudaError::226] Error Code 1: Cuda Runtime (In catchCudaError (cudaError 35: CUDA driver "
    "version is insufficient for CUDA runtime version))"
)
FINAL = "E CUDA initialization failure with error: 100"
ON = "W Building goes on"


@pytest.mark.parametrize(
    ("lines", "severity"),
    [
        ([PASSING], Severity.ERROR),
        ([PASSING, ON], Severity.NOTE),
        ([PASSING, "E It ends"], Severity.ERROR),
        ([FINAL, ON], Severity.ERROR),
        ([PASSING, FINAL, ON], Severity.ERROR),
    ],
)
def test_a_build_that_goes_on_without_a_gpu_is_noted(lines: list[str], severity: Severity, tmp_path: Path) -> None:
    (found,) = of_code(report_on(marked("\n".join(lines)).text, tmp_path), "TF310")
    assert found.severity is severity


@pytest.mark.parametrize("nodes", ["", node("conv1")], ids=["unnamed", "named"])
def test_int8_without_calibration_is_certain_where_the_log_names_the_nodes(nodes: str, tmp_path: Path) -> None:
    options = "&& 8.6.1 --int8\nI === Build Options ===\nI Precision: FP32+INT8\nI Calibration: Dynamic\n"
    (found,) = of_code(report_on(marked(options + nodes).text, tmp_path), "TF219")
    assert ("has no Q/DQ" in found.title) is bool(nodes)
    assert bool(found.settle) is not bool(nodes)


@pytest.mark.parametrize(("reference", "ours", "tells"), [(0.4, 0.2, True), (0.002, 0.001, False)])
def test_what_the_reference_does_not_find_cannot_be_lost(
    reference: float, ours: float, tmp_path: Path, *, tells: bool
) -> None:
    text = f"| mAP of the PyTorch crow: {reference}\n| mAP of the TensorRT crow: {ours}\nI Loaded engine size: 7 MiB"
    assert bool(of_code(report_on(marked(text).text, tmp_path), "TF259")) is tells
