"""Layouts in a word."""

from __future__ import annotations

from tests.support.for_each import for_each
from trtforensics.parsers.notation.formats import short_layout


@for_each(
    ("sentence", "components", "word"),
    [
        ("Row major linear FP16 format", 1, "linear"),
        ("(Linear) Row major linear format", 1, "linear"),
        ("Thirty-two wide channel vectorized row major Int8 format", 32, "CHW32"),
        ("Two wide channel vectorized row major FP16 format", 2, "CHW2"),
        ("Channel major FP16 format where channel % 8 == 0", 8, "HWC8"),
        ("Channel major FP16 format where channel % 8 == 0 with 3 spatial dimensions", 8, "DHWC8"),
        ("Channel major FP32 format", 1, "HWC"),
        ("Float[-1,32:4,28,28]", 4, "vec4"),
        ("Float[1,256]", 1, ""),
        ("", 1, ""),
    ],
)
def test_the_words_are_those_of_tensor_formats(sentence: str, components: int, word: str) -> None:
    assert short_layout(sentence, components) == word
