"""Weights that do not fit into FP16 are counted once each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

SUBNORMAL = "W - 2 weights are affected by this issue: Detected subnormal FP16 values."
TOO_SMALL = "W - 1 weights are affected by this issue: Detected values less than smallest positive FP16 subnormal value"
OVERFLOW = "W - 1 weights are affected by this issue: Detected finite FP32 values which would overflow in FP16"
LISTED = "V   List of affected weights: {}"


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (SUBNORMAL, "2 weight tensors hold values too small for FP16"),
        (f"{SUBNORMAL}\n{TOO_SMALL}", "At least 2 weight tensors hold values too small for FP16"),
        (
            "\n".join([SUBNORMAL, LISTED.format("a.bias, b.weight"), TOO_SMALL, LISTED.format("a.bias")]),
            "2 weight tensors hold values too small for FP16",
        ),
        (f"{SUBNORMAL}\n{LISTED.format('a.bias')}", "2 weight tensors hold values too small for FP16: a.bias"),
        (OVERFLOW, "1 weight tensor holds values too large for FP16"),
    ],
)
def test_a_weight_with_two_issues_counts_once(lines: str, title: str, tmp_path: Path) -> None:
    (found,) = of_code(report_on(marked(lines).text, tmp_path), "TF208")
    assert found.title.startswith(title)


def test_weights_that_do_not_fit_into_fp16_are_named(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    weights = ["conv1 + relu1.weight", "MatMul_7.bias"]
    text = "[W] [TRT] Weights [name={}] had the following issues when converted to FP16:\n"
    log.write_text("[V] [TRT] x\n" + "".join(map(text.format, weights)), encoding="utf-8")
    read = read_log(str(log), max_bytes=1 << 30, on_progress=lambda _: None)
    (found,) = (one for one in judge(Inputs([read]), Suppression()).findings if one.code == "TF208")
    assert all(name in found.title for name in weights)
    assert list(found.layers) == weights
