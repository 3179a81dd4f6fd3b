"""What errors say in their own words, where no cause of the grammar knows them: the sentence, who says it, its class.

The grammar ``sentences.lark`` knows what wraps a sentence and the classes. Conditions of failed checks, which are C++,
become words by ``tables/conditions.tsv``.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate

from trtforensics.knowledge.table import rows
from trtforensics.model.deferred import regex
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import SENTENCE, LineKind, named_fields

_OF_ENGINE = "refused_load"
_MOST_WRAPPED = 8
"""Wrappers that are taken off one message."""
_PARTS = {row["what"]: regex(row["pattern"]) for row in rows("sentence_parts", "trtforensics.parsers.notation")}
"""Regexes for parts of a sentence. ``internal`` and ``bare check`` open a check of TensorRT's own code, ``bare`` only
names a class. ``reason`` holds what the sentence is about, ``layer`` a name, which it is not about. ``place`` and
``frames`` stand behind it. Of a condition: ``sign``; ``names`` where a C++ name begins a new word; ``alone`` for a
pointer, which must not be null; ``says`` for words as they are; ``not``."""
_MOST_READ = 4000
"""Characters of a message that are read."""


def classified(message: str, below: str = "") -> tuple[str, dict[str, str | None]] | None:
    """Return the class of an error with its fields; None where it says nothing of its own.

    ``text`` is the sentence, a condition being in words, ``site`` the function or importer that says it, ``op`` and
    ``node`` the ONNX node. ``below`` is the line below, which holds the words of some conditions; a field of that name
    tells that it was read.
    """
    text = _PARTS["place"].sub("", _PARTS["frames"].sub("", message[:_MOST_READ]).strip())
    known, words, broken = dict[str, str | None](), "", None
    internal = bool(_PARTS["internal"].search(text) or _PARTS["bare check"].match(text))
    for _ in range(_MOST_WRAPPED):
        wrapped = _unwrapped(text)
        if wrapped is None:
            break
        fields, condition = wrapped
        known |= {name: value for name, value in fields.items() if value}
        text = (fields.get("text") or "").strip()
        if not text and fields.get("awaits") and below.strip():
            text, below, broken = below.strip(), "", "below"
        elif not text and (internal or not condition):
            return None  # the condition is about TensorRT's own code, or there is none
        elif not text:
            text = words = in_words(condition)
            break
    kind = next((name for sentence in (*_PARTS["reason"].findall(text), text) if (name := _class_of(sentence))), None)
    if kind is None or not text or _PARTS["bare"].fullmatch(text):
        return None
    if classes()[_OF_ENGINE].match_text.search(known.get("site") or ""):
        kind = _OF_ENGINE  # a plugin's constructor that reads an engine
    checked = kind != "failed_part" and text == words
    text = f"a check fails: {text}" if checked else text
    known |= {"text": text, "below": broken}
    return kind, {name: known.get(name) for name in ("text", "site", "op", "node", "below")}


def _class_of(text: str) -> str | None:
    plain = _PARTS["layer"].sub("", text)
    return next((name for name, kind in classes().items() if kind.match_text.search(plain)), None)


def _unwrapped(text: str) -> tuple[dict[str, str | None], str] | None:
    """Return the fields of what wraps a text, and the condition that it names; None where nothing does."""
    for kind in _wrappers():
        match = kind.match_text.match(text)
        if match is not None:
            fields = named_fields(kind, match.groups())
            condition = fields.pop("condition", None) or ""
            return fields | {"awaits": kind.name if kind.name.endswith("_of") else None}, condition
    return None


@cache
def _wrappers() -> Sequence[LineKind]:
    return [kind for kind in tables.kinds(SENTENCE) if kind.fields]


@cache
def classes() -> Mapping[str, LineKind]:
    """Return the classes of errors by name, the narrowest first."""
    return {kind.name: kind for kind in tables.kinds(SENTENCE) if not kind.fields}


_JOINTS = (("==", "must be"), ("!=", "must not be"), (">=", "must be at least"), ("<=", "must be at most"))
_SIGNS = (*_JOINTS, (">", "must be more than"), ("<", "must be less than"), ("&&", "and"), ("||", "or"))


def in_words(condition: str) -> str:
    """Return a condition in words: ``inputs.at(0).shape().nbDims == 4`` is "inputs 0's shape's rank must be 4".

    What is not understood stays as it is spelt.
    """
    text = condition.strip()
    while text.startswith("(") and text.endswith(")") and _closes_last(text):
        text = text[1:-1].strip()
    for row in _conditions():
        text = re.sub(row["pattern"], row["words"], text)
    if _PARTS["alone"].fullmatch(text):
        return f"no {_PARTS['names'].sub(' ', text)} was made"
    text = _PARTS["not"].sub("not ", _PARTS["sign"].sub(lambda sign: f" {dict(_SIGNS)[sign.group(1)]} ", text))
    text = _PARTS["names"].sub(" ", text)
    text = text if _PARTS["says"].search(text) else f"{text} holds"
    return re.sub(r"\s+", " ", text.replace("'s shape's rank", "'s rank")).strip()


@cache
def _conditions() -> Sequence[Mapping[str, str]]:
    """Return what C++ spells in conditions, as regexes, each with the words for it."""
    return list(rows("conditions", "trtforensics.parsers.notation"))


def _closes_last(text: str) -> bool:
    """Whether the bracket that opens a text is the one that its last character closes."""
    return 0 not in [*accumulate((character == "(") - (character == ")") for character in text)][:-1]
