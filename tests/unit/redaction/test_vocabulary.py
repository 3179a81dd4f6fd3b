"""The words that stay are those of the grammar, of ONNX and of the list, and none of a log."""

from __future__ import annotations

from importlib import resources

from tests.support import onnx_operators
from tests.support.for_each import for_each
from trtforensics.redaction.vocabulary import vocabulary


@for_each("word", ["Tactic", "ConvTranspose", "timingCacheFile", "xmma", "CHW", "Invalid", "PGPASSWORD"])
def test_words_that_stay(word: str) -> None:
    assert word in vocabulary()


@for_each("word", ["backbone", "resnet", "embed", "yolo", "AddScalarPlugin", "acme"])
def test_words_that_go(word: str) -> None:
    assert word not in vocabulary()


@for_each("word", ["unpinned", "NOSHAPE", "FEWIV", "bKilled", "tftrt", "METHODED", "Za"])
def test_names_of_rules_and_syntax_of_regexes_are_no_words(word: str) -> None:
    assert word not in vocabulary()


def test_each_word_stands_once_in_the_list() -> None:
    text = (resources.files("trtforensics.redaction") / "known_words.txt").read_text("utf-8")
    words = [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]
    assert len(words) == len(set(words))
    assert all(word.isalpha() for word in words)


def test_the_operators_of_the_installed_onnx_stay() -> None:
    """An older onnx lacks some of the file's operators; a newer one may have operators of later sets."""
    head, _, listed = onnx_operators.PATH.read_text(encoding="utf-8").partition("\n")
    known = set(onnx_operators.text().partition("\n")[2].split())
    assert known
    assert known <= set(listed.split())
    assert f"operator set {onnx_operators.OPSET};" in head
