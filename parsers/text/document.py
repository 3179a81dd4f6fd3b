"""A source that is one document (JSON), as its whole text in UTF-8: a file, a FIFO or standard input."""

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np

from trtforensics.errors import SourceError
from trtforensics.model.older_python import compiled
from trtforensics.model.span import SourceInfo
from trtforensics.parsers.text.decoding import COMPRESSED, GZIP, decompress, is_encoded, sniff, to_utf8
from trtforensics.parsers.text.source import MAX_BYTES, WINDOW_BYTES
from trtforensics.parsers.text.stored import StoredBytes

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


def check_json(data: bytes, path: str, next_step: str = _NEXT_STEP) -> None:
    """Check a document, in time that grows with its size alone; a text that opens no JSON is not looked at.

    Raises:
        SourceError: the document nests too deep, holds a value, a quote, a backslash or a line for every few bytes, or
            a number beyond a double's range or no number (``NaN``).
    """
    if data.lstrip()[:1] not in {b"{", b"["}:
        return
    for things, marks, least_bytes in _DENSEST:
        count = sum(map(data.count, marks))
        if things == _VALUES and count > _FEW and count * least_bytes > len(data):
            count -= _count_in_texts(data, marks)  # a text may be full of commas
        if count > _FEW and count * least_bytes > len(data):
            what = f"holds {count:,} {things} in {len(data):,} bytes, which no file of TensorRT or Polygraphy does"
            raise SourceError(path, what, next_step)
    if _deepest(data) > MAX_DEPTH or _SUSPECT.search(data):
        _check_tokens(data, path, next_step)


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
                where = place_in(data, token.start(), path)
                raise SourceError(where, f"nests more than {MAX_DEPTH} containers, which no export does", next_step)
        elif token["close"]:
            depth = max(depth - 1, 0)
        elif token["number"]:
            number = token["number"].decode()
            number = number if len(number) <= _SHOWN else f"{number[:_SHOWN]}…"
            where = place_in(data, token.start(), path)
            raise SourceError(where, f"{number} is no number that TensorRT or Polygraphy writes", next_step)


def place_in(data: bytes, at: int, path: str) -> str:
    """Return the place of a byte as ``path:line:column``."""
    line_start = data.rfind(b"\n", 0, at) + 1
    column = len(data[line_start:at].decode("utf-8", "replace")) + 1
    return f"{path}:{data.count(bytes([10]), 0, at) + 1}:{column}"


@dataclass(frozen=True, slots=True)
class Document:
    """A document's text in UTF-8 without byte order mark. ``stored_as`` is empty where those are the stored bytes."""

    data: bytes
    info: SourceInfo
    stored_as: str = ""
    """``gzip``, ``Zstandard``, or ``byte order mark`` (UTF-16 has one too)."""


def read_document(
    path: str, *, max_bytes: int = MAX_BYTES, check: Callable[[bytes, str], None] = lambda _opening, _name: None
) -> Document:
    """Read a whole source into memory.

    ``check`` is called with the first block of the text and the source's name before more is read. It raises where
    this cannot be such a document, so that a large file of another kind is refused at once.

    A text is at most :data:`~trtforensics.parsers.text.document.MAX_DOCUMENT_BYTES` long where ``max_bytes`` is the
    bound for logs; any other ``max_bytes`` is the user's.

    Raises:
        SourceError: the source cannot be read, its text is too long, or it is JSON that no reader can bear.
    """
    if max_bytes == MAX_BYTES:
        max_bytes = MAX_DOCUMENT_BYTES
    _refuse_long_file(path, max_bytes)
    with StoredBytes(path, WINDOW_BYTES) as stored:
        form, chunks = sniff(stored.chunks(), COMPRESSED)
        decoded = decompress(form, chunks, stored.path, WINDOW_BYTES)
        head = next(decoded, b"")
        blocks: list[bytes] = []
        for block in _bounded(to_utf8(chain((head,), decoded)), max_bytes, stored.path):
            if block and not blocks:
                check(block, stored.path)
            blocks.append(block)
    data = b"".join(blocks)
    blocks.clear()
    check_json(data, stored.path)
    cut = bool(data) and not data.endswith(b"\n")
    info = SourceInfo(stored.path, stored.position, data.count(b"\n") + cut, stored.sha256, cut)
    stored_as = "byte order mark" if is_encoded(head) else ""
    return Document(data, info, ("gzip" if form == GZIP else "Zstandard") if form else stored_as)


def _refuse_long_file(path: str, max_bytes: int) -> None:
    """Refuse (SourceError) a file above ``max_bytes``, before anything is read; a compressed one is longer still."""
    with suppress(OSError):  # opening it says what is wrong
        status = os.stat(path)  # noqa: PTH116 - Path("") would be the current folder
        if stat.S_ISREG(status.st_mode) and (status.st_size > max_bytes or _expands(path, max_bytes)):
            raise _too_long(path, max_bytes)


def _expands(path: str, max_bytes: int) -> bool:
    """Whether a file is compressed and longer than ``max_bytes`` as text; none of it is kept to find out."""
    with StoredBytes(path, WINDOW_BYTES) as stored:
        form, chunks = sniff(stored.chunks(), COMPRESSED)
        sizes = accumulate(map(len, decompress(form, chunks, stored.path, WINDOW_BYTES))) if form else ()
        return any(size > max_bytes for size in sizes)


def _too_long(path: str, max_bytes: int) -> SourceError:
    next_step = "If it is meant to be, allow more with `--max-bytes`"
    return SourceError(path, f"has a text of more than {max_bytes} bytes", next_step)


def _bounded(blocks: Iterator[bytes], max_bytes: int, path: str) -> Iterator[bytes]:
    size = 0
    for block in blocks:
        size += len(block)
        if size > max_bytes:
            raise _too_long(path, max_bytes)
        yield block
