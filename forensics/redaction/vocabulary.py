"""The words that redaction keeps: those that TensorRT, CUDA, ONNX, trtexec and the tools around them print.

They come from three places: the rules of the grammar, ONNX's operators in ``onnx_operators.txt``, and the list in
``known_words.txt``. None comes from the log, where a name of the user's can stand wherever a name of TensorRT's can.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WORD = re.compile(r"[^\W\d_]{2,}")
"""A word: a run of letters. A single letter says nothing."""

_LIST = "known_words.txt"
_OPERATORS = "onnx_operators.txt"
_COMMENT = re.compile(r"(?m)^\s*//.*|(?<=\s)//\s.*")


@cache
def vocabulary() -> frozenset[str]:
    """Return the words to keep; words of the list in lower case are also kept with a capital."""
    operators = set(WORD.findall(" ".join(_listed(_OPERATORS))))
    listed = {word for line in _listed(_LIST) for word in line.split()}
    return frozenset(_of_grammar() | operators | listed | {word.capitalize() for word in listed if word.islower()})


def _listed(name: str) -> Iterator[str]:
    text = (resources.files("trtforensics.redaction") / name).read_text("utf-8")
    return (line for line in text.splitlines() if not line.startswith("#"))


def _of_grammar() -> set[str]:
    found: set[str] = set()
    grammar = resources.files("trtforensics.parsers.grammar")
    for folder in (grammar, grammar / "nested_rules"):
        for file in folder.iterdir():
            if file.name.endswith(".lark"):
                found.update(WORD.findall(_COMMENT.sub("", file.read_text(encoding="utf-8"))))
    return found
