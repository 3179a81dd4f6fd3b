"""Findings about FP16: which weights do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.engine import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path


def test_weights_that_do_not_fit_into_fp16_are_named(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    weights = ["conv1 + relu1.weight", "MatMul_7.bias"]
    text = "[W] [TRT] Weights [name={}] had the following issues when converted to FP16:\n"
    log.write_text("[V] [TRT] x\n" + "".join(map(text.format, weights)), encoding="utf-8")
    read = read_log(str(log), max_bytes=1 << 30, on_progress=lambda _: None)
    (found,) = (one for one in judge(Inputs([read]), Suppression()).findings if one.code == "TF208")
    assert all(name in found.title for name in weights)
    assert list(found.layers) == weights
