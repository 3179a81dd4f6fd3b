"""Ranges of tensors: masks left out, bodies of Loop and If included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.support.zoo import ZooModel, models
from trtforensics.bisect.precision.casting.caster import Caster
from trtforensics.bisect.precision.casting.preparation import prepare
from trtforensics.bisect.precision.casting.storage import FP16
from trtforensics.bisect.precision.emulation.oracle import Oracle
from trtforensics.bisect.precision.tensors.ranges import TensorRanges, tensor_ranges

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

ZOO = {model.name: model for model in models()}


def ranges(zoo: ZooModel, folder: Path) -> TensorRanges:
    onnx.save(zoo.build(), folder / "model.onnx")
    return tensor_ranges(Oracle(Caster(prepare(str(folder / "model.onnx")), FP16), zoo.samples))


def test_every_tensor_has_its_largest_magnitude(tmp_path: Path) -> None:
    zoo = ZOO["cancellation"]
    found = ranges(zoo, tmp_path).by_tensor
    assert found["x"].largest == pytest.approx(max(np.abs(sample["x"]).max() for sample in zoo.samples))
    assert 3000 < found["/up_output_0"].largest < 3010


def test_masked_positions_do_not_count(tmp_path: Path) -> None:
    zoo = ZOO["mask times finfo.min"]
    found = ranges(zoo, tmp_path)
    padded = sum(int((sample["attention_mask"] == 0).sum()) for sample in zoo.samples)
    assert found.masked == {"/mask/Mul_output_0": padded, "/attention/Add_output_0": padded * 8}
    assert found.by_tensor["/mask/Mul_output_0"].largest == 0.0
    assert found.by_tensor["/attention/Add_output_0"].largest < 100
    assert found.empty_rows == {}


def test_a_row_without_keys_is_counted_and_its_mask_counts(tmp_path: Path) -> None:
    found = ranges(ZOO["row without keys"], tmp_path)
    assert found.empty_rows == {"/attention/Softmax": 8}
    assert found.by_tensor["/attention/Add_output_0"].largest > 1e38
    assert found.masked == {}


@pytest.mark.parametrize(("name", "tensor"), [("Loop", "/loop/up"), ("If", "/then/up")])
def test_tensors_of_bodies_have_ranges(name: str, tensor: str, tmp_path: Path) -> None:
    found = ranges(ZOO[name], tmp_path).by_tensor
    assert 65504 < found[tensor].largest < 1e6
    assert found[tensor.replace("up", "down")].largest < 10
