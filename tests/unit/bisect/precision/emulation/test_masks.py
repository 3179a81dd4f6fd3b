"""What a mask before a Softmax is, and rows that it leaves without any key."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.support.zoo.net import Net
from trtforensics.bisect.precision.casting.eligibility import survey_of
from trtforensics.bisect.precision.emulation.masks import mask_notes, mask_paths, rows_without_keys

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
    assert mask_paths(survey_of(attention())) == {
        **dict.fromkeys(on_path, softmax),
        "/Unsqueeze.axes": softmax,
    }


def test_a_tensor_that_others_read_too_is_no_mask() -> None:
    assert "/Unsqueeze_output_0" not in mask_paths(survey_of(attention(other_reader=True)))


@pytest.mark.parametrize(
    ("axis", "opset", "rows"), [(None, 13, 1), (-1, 13, 1), (0, 13, 1), (1, 11, 1), (0, 11, 0), (None, 11, 1)]
)
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
