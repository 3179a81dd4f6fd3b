"""The words that redaction keeps: those that TensorRT, CUDA, ONNX, trtexec and the tools around them print.

They come from three places: the rules of the grammar, ONNX's operators in ``onnx_operators.txt``, and the list in
``known_words.txt``. None comes from the log, where a name of the user's can stand wherever a name of TensorRT's can.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources

_ACCENTED = (
    "\u00aa\u00ad\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u200c\u200d\u2071\u207f\u2090-\u209c\u210a-\u2113"
    "\u2119-\u211d\u2124-\u2139\u2160-\u2188\u2c00-\u2e7f\ufb00-\ufdff\ufe20-\ufefe\ufffd\U00010000-\U0001afff"
)
_EASTERN = (
    "\u2e80-\u2fff\u3005-\u3007\u3021-\ufaff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc"
    "\U0001b000-\U0001efff\U0001fb00-\U0010ffff"
)
"""Letters of scripts in which words of English stand without a blank around them."""
LETTERS = "A-Za-z" + _ACCENTED + _EASTERN
"""Letters, as a part of a regex's class: those of all scripts with their marks, joiners and digits, and what stands for
bytes that are no UTF-8."""
WORD = re.compile(f"[A-Za-z{_ACCENTED}]{{2,}}|[{_ACCENTED}]|[{_EASTERN}]+")
"""A word: a run of letters. A single one of ASCII says nothing."""

_LIST = "known_words.txt"
_OPERATORS = "onnx_operators.txt"
_COMMENT = re.compile(r"(?m)^\s*//.*|(?<=\s)//\s.*")
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)+)"|/((?:[^/\\\n]|\\.)+)/')
"""What a rule of a grammar spells: a literal, or a regex."""
_ESCAPE = re.compile(r"\\.")
_SYNTAX = re.compile(r"\\.|\[\^?(?:[^\]\\]|\\.)*\]|\(\?(?:P?<\w+>|[a-z-]*[:)]|<?[=!])|\{[\d,]*\}")
"""What letters of a regex are none of a line's."""


@cache
def vocabulary() -> frozenset[str]:
    """Return the words to keep; words of the list in lower case also with a capital, or in capitals."""
    operators = set(WORD.findall(" ".join(_listed(_OPERATORS))))
    listed = {word for line in _listed(_LIST) for word in line.split()}
    small = {word for word in listed if word.islower()}
    return frozenset(_of_grammar() | operators | listed | {*map(str.capitalize, small)} | {*map(str.upper, small)})


def _listed(name: str) -> Iterator[str]:
    text = (resources.files("trtforensics.redaction") / name).read_text("utf-8")
    return (line for line in text.splitlines() if not line.startswith("#"))


def _of_grammar() -> set[str]:
    """Return the words that rules spell; the names of rules and fields are no words of a line."""
    words: set[str] = set()
    grammar = resources.files("trtforensics.parsers.grammar")
    for folder in (grammar, grammar / "nested_rules"):
        for file in folder.iterdir():
            if file.name.endswith(".lark"):
                for literal, regex in _LITERAL.findall(_COMMENT.sub("", file.read_text(encoding="utf-8"))):
                    words.update(WORD.findall(_ESCAPE.sub(" ", literal) + " " + _SYNTAX.sub(" ", regex)))
    return words
