"""A source that is one document (JSON), as its whole text in UTF-8: a file, a FIFO or standard input."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from trtforensics.errors import SourceError
from trtforensics.model.log import SourceInfo
from trtforensics.parsers.text.decoding import COMPRESSED, GZIP, decompress, is_encoded, sniff, to_utf8
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

    Raises:
        SourceError: the source cannot be read, or its text is longer than ``max_bytes``.
    """
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
    cut = bool(data) and not data.endswith(b"\n")
    info = SourceInfo(stored.path, stored.position, data.count(b"\n") + cut, stored.sha256, cut)
    stored_as = "byte order mark" if is_encoded(head) else ""
    return Document(data, info, ("gzip" if form == GZIP else "Zstandard") if form else stored_as)


def _bounded(blocks: Iterator[bytes], max_bytes: int, path: str) -> Iterator[bytes]:
    size = 0
    for block in blocks:
        size += len(block)
        if size > max_bytes:
            next_step = "If it is meant to be, allow more with `--max-bytes`"
            raise SourceError(path, f"has a text of more than {max_bytes} bytes", next_step)
        yield block
