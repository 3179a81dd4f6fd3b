"""Refuses JSON that would take far more memory or time than its size, before a reader makes values of it.

TensorRT and Polygraphy write values of a dozen bytes and more on average, a few containers deep, and numbers that fit
64 bits. A text of brackets and commas, or of quotes and backslashes, becomes a hundred times its size in memory, and a
reader that calls itself for each container ends at a depth that depends on where it was called.
"""

from __future__ import annotations

import re

import numpy as np

from trtforensics.errors import SourceError
from trtforensics.model.older_python import compiled

MAX_DOCUMENT_BYTES = 256 << 20
"""The most text of a document where the user names no other bound. Values take some ten times as much memory."""

MAX_DEPTH = 64
_FEW = 1 << 16
_VALUES = "values"
_DENSEST = ((_VALUES, b",[{", 8), ("quotes", b'"', 4), ("backslashes", b"\\", 16), ("lines", b"\n", 8))
"""What a document may hold of, the marks that count it, and the least bytes for each."""
_CHUNK = 1 << 20
_OPEN, _CLOSE = b"[{", b"]}"
_SUSPECT = re.compile(rb"[0-9]{300}|NaN|Infinity|[0-9.][eE]\+?(?:0*[3-9][0-9]{2}|0*[1-9][0-9]{3})")
_TEXT = compiled(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_TOKEN = compiled(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
    rb"|(?P<number>NaN|-?Infinity|-?[0-9.]{300,}|-?[0-9]+(?:\.[0-9]+)?[eE]\+?(?:0*[3-9][0-9]{2}|0*[1-9][0-9]{3})[0-9]*)"
    rb"|(?P<open>[\[{])|(?P<close>[\]}])",
    re.DOTALL,
)
_SHOWN = 20
_NEXT_STEP = "Export it again"


def values_in(text: str) -> int:
    """Return about how many values a JSON text holds."""
    return text.count(",") + text.count("[") + text.count("{")


def check_json(data: bytes, path: str, next_step: str = _NEXT_STEP) -> None:
    """Check a document, in time that grows with its size alone; a text that opens no JSON is not looked at.

    Raises:
        SourceError: the document nests too deep, holds a value, a quote, a backslash or a line for every few bytes, or
            a number beyond a double's range or no number (``NaN``).
    """
    if data.lstrip()[:1] not in {b"{", b"["}:
        return
    for things, marks, least_bytes in _DENSEST:
        count = _count(data, marks)
        if things == _VALUES and count > _FEW and count * least_bytes > len(data):
            count -= _count_in_texts(data, marks)  # a text may be full of commas
        if count > _FEW and count * least_bytes > len(data):
            what = f"holds {count:,} {things} in {len(data):,} bytes, which no file of TensorRT or Polygraphy does"
            raise SourceError(path, what, next_step)
    if _deepest(data) > MAX_DEPTH or _SUSPECT.search(data):
        _check_tokens(data, path, next_step)


def _count(data: bytes, marks: bytes) -> int:
    return sum(map(data.count, marks))


def _count_in_texts(data: bytes, marks: bytes) -> int:
    """Return how many of the marks stand in texts; no copy of the document is made."""
    others = bytes(set(range(256)) - set(marks))
    return sum(len(text[0].translate(None, others)) for text in _TEXT.finditer(data))


def _deepest(data: bytes) -> int:
    """Return how deep brackets nest, those in texts too; most texts hold them in pairs."""
    deepest = depth = 0
    for start in range(0, len(data), _CHUNK):
        chunk = np.frombuffer(data, np.uint8, min(_CHUNK, len(data) - start), start)
        steps = np.zeros(len(chunk), np.int8)
        for opening, closing in zip(_OPEN, _CLOSE, strict=True):
            steps[chunk == opening] = 1
            steps[chunk == closing] = -1
        depths = np.cumsum(steps[steps != 0], dtype=np.int64)
        if len(depths):
            deepest = max(deepest, depth + int(depths.max()))
            depth += int(depths[-1])
    return deepest


def _check_tokens(data: bytes, path: str, next_step: str) -> None:
    depth = 0
    for token in _TOKEN.finditer(data):
        if token["open"]:
            depth += 1
            if depth > MAX_DEPTH:
                where = _place(data, token.start(), path)
                raise SourceError(where, f"nests more than {MAX_DEPTH} containers, which no export does", next_step)
        elif token["close"]:
            depth = max(depth - 1, 0)
        elif token["number"]:
            said = token["number"].decode()
            said = said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"
            where = _place(data, token.start(), path)
            raise SourceError(where, f"{said} is no number that TensorRT or Polygraphy writes", next_step)


def _place(data: bytes, at: int, path: str) -> str:
    line_start = data.rfind(b"\n", 0, at) + 1
    column = len(data[line_start:at].decode("utf-8", "replace")) + 1
    return f"{path}:{data.count(bytes([10]), 0, at) + 1}:{column}"
