"""Conditions of failed checks, as C++ source spells them, in words: what has to hold and does not."""

from __future__ import annotations

import re

_REWRITTEN = (
    (r"\b(?:nvinfer1|std|onnx2trt|plugin|nvinfer1::plugin|onnx|::ONNX_NAMESPACE|\w*_NAMESPACE)::", ""),
    (r"\b(?:static|reinterpret|const|dynamic)_cast<[^<>]*>", ""),
    (r"\b\w+::k([A-Z]\w*)", r"\1"),
    (r"->", "."),
    (r"\bm(?=[A-Z])", ""),
    (r"\b_?importer_ctx\.|\bctx\.|\bthis\.", ""),
    (r"\.(?:get|c_str|data|value|begin|end)\(\)", ""),
    (r"([\w.\[\]()]+?)\.(?:is_weights|isWeights)\(\)", r"\1 is a constant"),
    (r"([\w.\[\]()]+?)\.(?:is_tensor|isTensor)\(\)", r"\1 is a tensor and no constant"),
    (r"([\w.\[\]()]+?)\.(?:empty|isEmpty)\(\)", r"\1 is empty"),
    (r"\.(?:nbDims|nb_dims|rank\(\)|ndim)\b", "'s rank"),
    (r"\.(?:getType\(\)|type\b|dtype\b|desc\.type\b|getDataType\(\))", "'s type"),
    (r"\.(?:getDimensions\(\)|shape\(\)|dims\b(?!\.d)|shape\b)", "'s shape"),
    (r"\.(?:size|length)\(\)", "'s number of elements"),
    (r"\.dims\.d\[([^\]]*)\]|\.d\[([^\]]*)\]", r"'s dimension \1\2"),
    (r"(?:\.at)\((\w+)\)|\[(\w+)\]", r" \1\2"),
    (r"(?<!\w)\((\w+)\)", r"\1"),
    (r"\b(?:nullptr|NULL)\b", "null"),
)
_JOINTS = (("==", "must be"), ("!=", "must not be"), (">=", "must be at least"), ("<=", "must be at most"))
_SIGNS = (*_JOINTS, (">", "must be more than"), ("<", "must be less than"), ("&&", "and"), ("||", "or"))
_SIGN = re.compile(r"\s*(==|!=|>=|<=|&&|\|\||(?<![-<>])>(?![>=])|(?<!<)<(?![<=]))\s*")
_NAMES = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])_(?=[a-z])")
"""Where a name in C++ begins a new word."""
_ALONE = re.compile(r"(?!true\b|false\b)[A-Za-z_]\w*")
"""A pointer: the check is that something was made."""
_SAYS = re.compile(r" (?:must|is|exists?|does|and|or) |^not |exists$|empty$|constant$")
_NOT = re.compile(r"!\s*(?=[\w(])")


def in_words(condition: str) -> str:
    """Return a condition in words: ``inputs.at(0).shape().nbDims == 4`` is "inputs 0's shape's rank must be 4".

    What is not understood stays as it is spelt.
    """
    text = condition.strip()
    while text.startswith("(") and text.endswith(")") and _closes_last(text):
        text = text[1:-1].strip()
    for pattern, words in _REWRITTEN:  # compiled by `re` where a log has a condition, which few have
        text = re.sub(pattern, words, text)
    if _ALONE.fullmatch(text):
        return f"no {_NAMES.sub(' ', text)} was made"
    text = _NOT.sub("not ", _SIGN.sub(lambda sign: f" {dict(_SIGNS)[sign.group(1)]} ", text))
    text = _NAMES.sub(" ", text)
    text = text if _SAYS.search(text) else f"{text} holds"
    return re.sub(r"\s+", " ", text.replace("'s shape's rank", "'s rank")).strip()


def _closes_last(text: str) -> bool:
    """Whether the bracket that opens a text is the one that its last character closes."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(text) - 1
    return False
