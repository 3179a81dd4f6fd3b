"""Which side of a comparison figures belong to: the framework, type and device that a program began before them.

A side begins at a heading (``TensorRT Results:``), a line that says what is begun (``Converting to TF-TRT FP16...``), a
setting (``precision: int8``), a label of another figure (``PyTorch time: 9 ms``), a line of a framework or an engine.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import inf
from statistics import median

from trtforensics.console.counting import grouped
from trtforensics.knowledge.table import rows
from trtforensics.model.deferred import regex

_ROWS = grouped(rows("sides", "trtforensics.parsers.notation"), lambda row: row["of"])
_WORDS = [
    (of, row["name"], regex(row["pattern"], re.IGNORECASE))
    for of in ("framework", "type", "device")
    for row in _ROWS[of]
]
_ANY = regex("|".join(pattern.pattern for *_, pattern in _WORDS), re.IGNORECASE)
"""Any of the words: most lines hold none."""
BEFORE = {row["pattern"]: row["name"] for row in _ROWS["before"]}
"""What ran before a framework that takes its model from it."""
FORMS = {of: regex(_ROWS[of][0]["pattern"]) for of in _ROWS}
"""What begins a side or none, what a heading says besides, what renews the model, shows PyTorch, is compared with."""
UNKNOWN = {"framework": "", "type": "", "device": ""}
_ENGINES = {"TF-TRT", "torch2trt"}
"""What runs engines of TensorRT without its name."""
_HASTE = {"TF32": 1, "FP16": 2, "BF16": 2, "INT8": 3, "FP8": 3, "INT4": 4}
_LONGEST, _LEFT = 110, 24
"""Characters of a line that begins a side, and of what a heading may say besides."""
_NEAR, _MOST, _APART, _MADE, _NEXT = 0.2, 0.75, 2, 1000, 3
"""Figures are of one side if so large a part of them lies so near to their median. A first figure stands apart if it is
so many times the median of several others, or the only other; so many behind it are looked at."""


@lru_cache(1 << 12)
def side_of(text: str) -> Mapping[str, str]:
    """Return what a text names of a side: the first framework, type and device."""
    plain = text.replace("_", " ")
    found: dict[str, tuple[int, str]] = {}
    for of, name, pattern in _WORDS if _ANY.search(plain) else ():
        match = pattern.search(plain)
        if match and (of not in found or match.start() < found[of][0]):
            found[of] = match.start(), name
    return {of: name for of, (_, name) in found.items()}


def haste_of(text: str) -> tuple[bool, int] | None:
    """Return by what a side that a text names should be faster than another: TensorRT, then fewer bits of its type."""
    side = side_of(text)
    is_engine = "TensorRT" in side.get("framework", "") or side.get("framework") in _ENGINES
    has_kernels = side.get("framework") in {"torch.compile", "CUDA"}  # of its own, which may be as fast
    is_compared = side.keys() & {"framework", "type"} and not has_kernels
    return (is_engine, _HASTE.get(side.get("type", ""), 0)) if is_compared else None


def begun_by(text: str) -> Mapping[str, str] | None:
    """Return the side that a line begins, with empty texts where it ends the one before; None if it does neither."""
    if len(text) > _LONGEST:
        return None
    if FORMS["renewed"].search(text):
        return {**UNKNOWN, **({} if "onnx" in text.lower() else side_of(text.partition(",")[0].replace("/", " ")))}
    said = FORMS["target"].sub("", text) if re.search("(?i)conver|compil", text) else text
    named, plain = side_of(said), FORMS["source"].sub("", said)
    if plain != said and side_of(plain).get("framework") != named.get("framework"):
        named = {of: name for of, name in named.items() if of != "framework"}
    if not named or FORMS["none"].search(text):
        return None
    left = FORMS["common"].sub("", said)
    for _, _, pattern in _WORDS:
        left = pattern.sub("", left)
    is_short = len(re.sub(r"[\W_]+", "", left)) <= _LEFT * bool(FORMS["headed"].match(text))
    return named if is_short or FORMS["begun"].search(text) or FORMS["stated"].match(text) else None


def is_steady(values: Sequence[float]) -> bool:
    """Whether figures are of one thing: most lie near their median."""
    usual = median(values)
    return sum(abs(value - usual) <= _NEAR * abs(usual) for value in values) >= _MOST * len(values)


def is_apart(values: Sequence[float], *, is_rate: bool = False) -> bool:
    """Whether the first of some figures is so slow, and the others so alike, that it holds more than they do."""
    first, *rest = [1 / value if value else inf for value in values] if is_rate else values
    if not rest:
        return False
    least = (_APART if len(rest) > 1 else _MADE) * median(rest)
    # those of batches of several sizes fall
    is_alike = is_steady(rest) or (first >= _APART * max(rest) and sorted(rest, reverse=True) != rest)
    is_alone = first > (1 + _NEAR) * max(rest[:_NEXT])
    return is_alike and is_alone and 0 < least < inf and first >= max(least, *rest)
