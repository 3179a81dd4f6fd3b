"""Calls of CUDA that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
