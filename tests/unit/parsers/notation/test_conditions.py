"""Conditions of failed checks, in words."""

from __future__ import annotations

from tests.support.for_each import for_each
from trtforensics.parsers.notation.sentences import in_words

WORDS = {
    "inputs.at(0).shape().nbDims == 4": "inputs 0's rank must be 4",
    "((axis >= 0) && (axis < nbDims))": "(axis must be at least 0) and (axis must be less than nb Dims)",
    "!hasMask": "not has Mask",
    "slopes": "no slopes was made",
    "mWarp != nullptr": "Warp must not be null",
    "inputs.at(1).is_weights()": "inputs 1 is a constant",
    "in[0].type == nvinfer1::DataType::kHALF || mGreen": "in 0's type must be HALF or Green",
    "static_cast<int>(slopes.size()) <= 2": "(slopes's number of elements) must be at most 2",
    "isMauve(green)": "is Mauve(green) holds",
}


@for_each("condition", sorted(WORDS))
def test_a_condition_is_read_in_words(condition: str) -> None:
    assert in_words(condition) == WORDS[condition]
