"""Sources read to their end, and what is refused."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from typing import TYPE_CHECKING

import pytest
import zstandard

from trtforensics.errors import SourceError
from trtforensics.parsers.text.source import open_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.span import SourceInfo
    from trtforensics.parsers.text.source import Window

posix = pytest.mark.skipif(os.name != "posix", reason="FIFOs, terminals and devices are POSIX")

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstandard": zstandard.compress}
every_form = pytest.mark.parametrize("form", COMPRESSORS)

TEXT = b"".join(b"[I] [TRT] line %d of a log that is long enough to be cut\n" % number for number in range(5000))


def read(path: str, *, max_bytes: int = 1 << 40, window_bytes: int = 4 << 20) -> tuple[list[Window], SourceInfo]:
    with open_source(path, max_bytes=max_bytes, window_bytes=window_bytes) as source:
        windows = list(source.windows())
        return windows, source.info()


def lines_of(path: str) -> list[bytes]:
    return [line for window in read(path)[0] for line in window.lines]


def starts_of(path: str) -> list[int]:
    return [start for window in read(path)[0] for start in window.starts]


def failure(path: str, *, max_bytes: int = 1 << 40) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read(path, max_bytes=max_bytes)
    error = caught.value
    assert error.where == path
    assert error.what
    assert error.next_step
    assert "\n" not in str(error)
    return error


def peak_of(path: str) -> tuple[list[Window], int]:
    """Read a source and return its windows and the most bytes that were in use at once."""
    tracemalloc.start()
    try:
        windows, _ = read(path)
        return windows, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
