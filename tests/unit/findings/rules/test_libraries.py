"""Calls of CUDA that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import report_on
from trtforensics.findings.finding import Severity
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        ("2", ": out of memory: GPU memory ran out"),
        ("35", ": the driver is older than the CUDA runtime needs"),
        ("100", ": no CUDA device is seen"),
        ("700", ": an illegal memory access"),
        ("12345", ""),
    ],
)
def test_the_number_of_a_cuda_error_is_given_its_meaning(code: str, meaning: str, tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(f"Cuda failure: {code}\n", encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (finding,) = [finding for finding in judge(Inputs([log]), Suppression()).findings if finding.code == "TF622"]
    assert finding.title == f"A CUDA call failed with error {code}{meaning}"


def test_what_another_process_wrote_into_a_line_is_none_of_cudas_words(tmp_path: Path) -> None:
    start = "[08/06/2026-17:50:46] [TRT] [E] [defaultAllocator.cpp::deallocate::64] Error Code 1: "
    lines = [f"{start}Cuda Runtime (initialization error){behind}" for behind in ("", "06", "]", "46[TRT] [E]")]
    (tmp_path / "b.log").write_text("\n".join(lines), encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (finding,) = [finding for finding in judge(Inputs([log]), Suppression()).findings if finding.code == "TF622"]
    assert finding.title == "A CUDA call failed: initialization error"


@for_each(
    ("lines", "title"),
    [
        (
            [
                f"E IRefitter::f: Error Code 3: API Usage Error ({name}: The weights cannot be refitted. In g)"
                for name in ("conv1.weight", "conv1.bias")
            ],
            "TF604 Weights cannot be refitted: conv1.weight, conv1.bias",
        ),
        (
            ["| out of memory. Tried to allocate 2 MiB. GPU 1 has a total capacity of 9 GiB of which 1 MiB is free"],
            "TF314 Memory ran out: 2 MiB wanted, 1 MiB of 9 GiB free",
        ),
        (
            ["E Error Code 2: OutOfMemory (Requested size was 1073741824 bytes.)"],
            "TF314 Memory ran out: 1,024 MiB wanted",
        ),
        (
            ["| AssertionError: ", "| Not equal to tolerance rtol=1e-03, atol=0"],
            "TF216 An output differs from the reference",
        ),
        (
            ["E f.cpp::catchCudaError: Cuda Runtime (CUDA driver version is insufficient for CUDA runtime version)"],
            "TF310 CUDA cannot be used here: the driver is too old",
        ),
        (
            ["E f: Error Code 3: API Usage Error (fc: network does not have (or does not use) this layer)"],
            "TF604 The engine has no such layers, or no such weights of theirs: fc",
        ),
        (
            [
                "| ERROR: f: Error Code 6: API Usage Error",
                "| (CUDA initialization failure with error: 35.)",
            ],
            "TF310 CUDA cannot be used here: the driver is older than the CUDA runtime needs (error 35)",
        ),
        (
            [f"| ERROR: trt failed to bind event {n}.5 of stream {n}" for n in range(3)],
            "TF915 trt failed to bind event 0.5 of stream 0",
        ),
    ],
)
def test_errors_that_are_alike_are_one_finding_with_what_they_name(
    lines: list[str], title: str, tmp_path: Path
) -> None:
    report = report_on(marked("\n".join(["I x", *lines])).text, tmp_path)
    assert [f"{one.code} {one.title}" for one in report.roots(0) if one.severity is Severity.ERROR] == [title]
