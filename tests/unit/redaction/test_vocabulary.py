"""The words that stay are those of the grammar, of ONNX and of the list, and none of a log."""

from __future__ import annotations

from importlib import resources

import pytest

from trtforensics.redaction.vocabulary import vocabulary


@pytest.mark.parametrize("word", ["Tactic", "Autotuning", "ConvTranspose", "timingCacheFile", "xmma", "CHW", "Invalid"])
def test_words_that_stay(word: str) -> None:
    assert word in vocabulary()


@pytest.mark.parametrize("word", ["backbone", "resnet", "embed", "yolo", "AddScalarPlugin", "acme"])
def test_words_that_go(word: str) -> None:
    assert word not in vocabulary()


def test_each_word_stands_once_in_the_list() -> None:
    text = (resources.files("trtforensics.redaction") / "known_words.txt").read_text("utf-8")
    words = [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]
    assert len(words) == len(set(words))
    assert all(word.isalpha() for word in words)
