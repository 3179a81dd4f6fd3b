"""Ranges of tensors, and masks before a Softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.support.for_each import for_each
from tests.support.zoo import ZooModel, models
from tests.support.zoo.net import Net
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.bisection.precision.emulation.ranges import (
    TensorRanges,
    mask_notes,
    mask_paths,
    rows_without_keys,
    tensor_ranges,
)
from trtforensics.onnx_models.checked_graph import Survey
from trtforensics.onnx_models.reading import prepare

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
    assert found["x"] == pytest.approx(max(np.abs(sample["x"]).max() for sample in zoo.samples))
    assert 3000 < found["/up_output_0"] < 3010


def test_masked_positions_do_not_count(tmp_path: Path) -> None:
    zoo = ZOO["mask times finfo.min"]
    found = ranges(zoo, tmp_path)
    padded = sum(int((sample["attention_mask"] == 0).sum()) for sample in zoo.samples)
    assert found.masked == {"/mask/Mul_output_0": padded, "/attention/Add_output_0": padded * 8}
    assert found.by_tensor["/mask/Mul_output_0"] == 0.0
    assert found.by_tensor["/attention/Add_output_0"] < 100
    assert found.empty_rows == {}


def test_a_row_without_keys_is_counted_and_its_mask_counts(tmp_path: Path) -> None:
    found = ranges(ZOO["row without keys"], tmp_path)
    assert found.empty_rows == {"/attention/Softmax": 8}
    assert found.by_tensor["/attention/Add_output_0"] > 1e38
    assert found.masked == {}


@pytest.mark.parametrize(("name", "tensor"), [("Loop", "/loop/up"), ("If", "/then/up")])
def test_tensors_of_bodies_have_ranges(name: str, tensor: str, tmp_path: Path) -> None:
    found = ranges(ZOO[name], tmp_path).by_tensor
    assert 65504 < found[tensor] < 1e6
    assert found[tensor.replace("up", "down")] < 10


LOW = -65504.0


def attention(*, other_reader: bool = False) -> onnx.ModelProto:
    net = Net()
    bias = net.node("Mul", "/Mul", ["mask", net.tensor("lowest", -3.4e38)])
    wide = net.over_axes("Unsqueeze", "/Unsqueeze", bias, [0])
    weights = net.node("Softmax", "/Softmax", [net.node("Add", "/Add", [net.node("Exp", "/Exp", ["x"]), wide])])
    read = net.node("Tanh", "/Tanh", [wide]) if other_reader else "x"
    return net.model(net.node("Add", "/sum", [weights, read]), {"x": (1, 4, 4), "mask": (4, 4)}, (1, 4, 4))


def test_tensors_that_only_lead_to_softmax_are_on_its_path() -> None:
    softmax = frozenset({"/Softmax"})
    on_path = ("/Add_output_0", "/Unsqueeze_output_0", "/Mul_output_0", "/Exp_output_0")
    assert mask_paths(Survey(attention())) == {
        **dict.fromkeys(on_path, softmax),
        "/Unsqueeze.axes": softmax,
    }


def test_a_tensor_that_others_read_too_is_no_mask() -> None:
    assert "/Unsqueeze_output_0" not in mask_paths(Survey(attention(other_reader=True)))


@for_each(("axis", "opset", "rows"), [(None, 13, 1), (-1, 13, 1), (0, 13, 1), (1, 11, 1), (0, 11, 0), (None, 11, 1)])
def test_rows_that_are_masked_everywhere(axis: int | None, opset: int, rows: int) -> None:
    scores = np.array([[1.0, -1e9], [-1e9, -3e38]], np.float32)
    node = helper.make_node("Softmax", ["x"], ["y"])
    if axis is not None:
        node.attribute.append(helper.make_attribute("axis", axis))
    assert rows_without_keys(node, scores, LOW, opset) == rows


def test_rows_of_old_softmax_are_all_dimensions_from_its_axis_on() -> None:
    scores = np.full((2, 3, 4), -1e9, np.float32)
    scores[0, 0, 0] = 1.0
    node = helper.make_node("Softmax", ["x"], ["y"])
    assert rows_without_keys(node, scores, LOW, 11) == 1
    assert rows_without_keys(node, scores, LOW, 13) == 5


def test_notes_name_masks_and_rows() -> None:
    assert mask_notes({}, {}, "fp16") == []
    said = " ".join(mask_notes({f"t{n}": n for n in range(1, 6)}, {"/Softmax": 8}, "fp16"))
    assert "t1 (1), t2 (2), t3 (3) and 2 more" in said
    assert "/Softmax has 8 rows that are masked everywhere" in said
