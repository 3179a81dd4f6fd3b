"""Rows whose largest value moves, and rows that lead by too little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.support.zoo.net import Net
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.oracle import Oracle, TopRows, top_rows
from trtforensics.onnx_models.reading import prepare

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
    assert top_rows(oracle, caster.kept(())) == {"y": TopRows(4, 3, 2)}
    assert top_rows(oracle, caster.kept(caster.candidates)) == {"y": TopRows(4, 3, 3)}
