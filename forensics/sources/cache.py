"""Loads timing caches from paths: exports of this tool, and binary editable caches through TensorRT."""

import os
import stat
from pathlib import Path

from trtforensics.model.engine import TimingCache
from trtforensics.parsers.text.document import read_document
from trtforensics.parsers.text.source import MAX_BYTES

_MARK = 1 << 10
"""Bytes at the beginning of a file in which a binary cache has a zero."""
_OTHERS = (b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""UTF-16, gzip and Zstandard: full of zeros too, but no binary cache."""


def load_timing_cache(path: str, *, max_bytes: int = MAX_BYTES) -> TimingCache:
    """Read a timing-cache export, or (through TensorRT) a binary editable cache."""
    document = read_document(path, max_bytes=max_bytes)
    if b"\0" in document.data[:_MARK]:
        from trtforensics.sources.editable_cache import read_editable_cache  # noqa: PLC0415 - only for a binary cache

        return read_editable_cache(document)
    from trtforensics.parsers.files.timing_cache_json import read_timing_cache  # noqa: PLC0415 - only for an export

    return read_timing_cache(document)


def is_binary(path: str) -> bool:
    """Whether a file begins as a binary cache does; False for a pipe, and for what cannot be opened."""
    if path == "-":
        return False
    try:
        with Path(path).open("rb") as file:
            opening = file.read(_MARK) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return False  # opening it to read reports the error
    return b"\0" in opening and not opening.startswith(_OTHERS)
