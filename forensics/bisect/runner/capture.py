"""A command's output in a file of bounded size: its beginning and its end, without the middle."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TAIL = 1 << 20
"""Bytes kept of the end of an output that is longer than its limit."""


class Capture:
    """A file that takes at most ``limit`` bytes, and then says what it left out before the last ``TAIL`` bytes.

    It is unbuffered, so that readers of the file see the output so far.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self._file = path.open("wb", buffering=0)
        self._room = max(limit - TAIL, 0)
        self._tail: deque[bytes] = deque()
        self._kept = 0
        self._left_out = 0
        self.bytes = 0

    def write(self, data: bytes) -> None:
        """Write some output.

        Raises:
            OSError: the file cannot be written.
        """
        self.bytes += len(data)
        now, later = data[: self._room], data[self._room :]
        if now:
            self._room -= len(now)
            self._put(now)
        if later:
            self._keep(later)

    def finish(self) -> None:
        """Write what was kept of the end.

        Raises:
            OSError: the file cannot be written.
        """
        if self._left_out:
            self._put(f"\n[trtforensics: {self._left_out:,} bytes of output left out here]\n".encode())
        for chunk in self._tail:
            self._put(chunk)
        self._tail.clear()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _keep(self, data: bytes) -> None:
        self._tail.append(data)
        self._kept += len(data)
        while self._kept - len(self._tail[0]) >= TAIL:
            gone = self._tail.popleft()
            self._kept -= len(gone)
            self._left_out += len(gone)

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
