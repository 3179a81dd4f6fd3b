"""A source that is one document (JSON), as its whole text in UTF-8: a file, a FIFO or standard input."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from trtforensics.errors import SourceError
from trtforensics.model.log import SourceInfo
from trtforensics.parsers.text.decoding import COMPRESSED, GZIP, decompress, is_encoded, sniff, to_utf8
from trtforensics.parsers.text.json_bounds import MAX_DOCUMENT_BYTES, check_json
from trtforensics.parsers.text.source import MAX_BYTES, WINDOW_BYTES
from trtforensics.parsers.text.stored import StoredBytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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

    A text is at most :data:`~trtforensics.parsers.text.json_bounds.MAX_DOCUMENT_BYTES` long where ``max_bytes`` is the
    bound for logs; any other ``max_bytes`` is the user's.

    Raises:
        SourceError: the source cannot be read, its text is too long, or it is JSON that no reader can bear.
    """
    if max_bytes == MAX_BYTES:
        max_bytes = MAX_DOCUMENT_BYTES
    _refuse_long_file(path, max_bytes)
    stored = StoredBytes(path, WINDOW_BYTES)
    try:
        form, chunks = sniff(stored.chunks(), COMPRESSED)
        decoded = decompress(form, chunks, stored.path, WINDOW_BYTES)
        head = next(decoded, b"")
        blocks: list[bytes] = []
        for block in _bounded(to_utf8(chain((head,), decoded)), max_bytes, stored.path):
            if block and not blocks:
                check(block, stored.path)
            blocks.append(block)
    finally:
        stored.close()
    data = b"".join(blocks)
    blocks.clear()
    check_json(data, stored.path)
    cut = bool(data) and not data.endswith(b"\n")
    info = SourceInfo(stored.path, stored.position, data.count(b"\n") + cut, stored.sha256, cut)
    stored_as = "byte order mark" if is_encoded(head) else ""
    return Document(data, info, ("gzip" if form == GZIP else "Zstandard") if form else stored_as)


def _refuse_long_file(path: str, max_bytes: int) -> None:
    """Refuse a file by its size, before anything is read; a compressed one is longer still.

    Raises:
        SourceError: it is longer than ``max_bytes``.
    """
    with suppress(OSError):  # opening it says what is wrong
        status = os.stat(path)  # noqa: PTH116 - Path("") would be the current folder
        if stat.S_ISREG(status.st_mode) and (status.st_size > max_bytes or _expands(path, max_bytes)):
            raise _too_long(path, max_bytes)


def _expands(path: str, max_bytes: int) -> bool:
    """Whether a file is compressed and longer than ``max_bytes`` as text; none of it is kept to find out."""
    stored = StoredBytes(path, WINDOW_BYTES)
    try:
        form, chunks = sniff(stored.chunks(), COMPRESSED)
        sizes = accumulate(map(len, decompress(form, chunks, stored.path, WINDOW_BYTES))) if form else ()
        return any(size > max_bytes for size in sizes)
    finally:
        stored.close()


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
