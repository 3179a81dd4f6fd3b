"""Rows whose largest value moves, and rows that lead by too little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.support.zoo.net import Net
from trtforensics.bisect.precision.casting.caster import Caster
from trtforensics.bisect.precision.casting.preparation import prepare
from trtforensics.bisect.precision.casting.storage import FP16
from trtforensics.bisect.precision.emulation.oracle import Oracle
from trtforensics.bisect.precision.emulation.top_rows import top_rows, top_text

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")


def test_undecided_rows_are_counted_apart(tmp_path: Path) -> None:
    net = Net()
    large = net.node("Add", "/up", ["x", net.tensor("offset", 30000.0)])
    model = net.model(net.node("Sub", "/down", [large, "offset"]), {"x": (4, 3)}, (4, 3))
    onnx.save(model, tmp_path / "model.onnx")
    # FP16 keeps multiples of 16 near 30,000: it moves the second row's largest value, and ties the third's
    rows = [[100.0, 0.0, -100.0], [5.0, 7.9, 0.0], [1.0, 0.0, 0.0], [-50.0, -50.0, 40.0]]
    caster = Caster(prepare(str(tmp_path / "model.onnx")), FP16)
    oracle = Oracle(caster, [{"x": np.asarray(rows, np.float32)}])
    assert top_rows(oracle, caster.kept(())) == {"y": {"rows": 4, "decided": 3, "agree": 2}}
    assert top_rows(oracle, caster.kept(caster.candidates)) == {"y": {"rows": 4, "decided": 3, "agree": 3}}
    assert top_text({"y": {"rows": 4, "decided": 3, "agree": 2}}) == [
        "The largest value of a row stays where it is in 2 of 3 decided rows of y; 1 more lead by too little to tell."
    ]


def test_rows_that_all_lead_by_too_little_are_no_share_of_nothing() -> None:
    (line,) = top_text({"y": {"rows": 12, "decided": 0, "agree": 0}})
    assert line == "In no row of y does the largest value lead by enough to tell whether it stays there."
