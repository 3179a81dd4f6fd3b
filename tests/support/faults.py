"""File operations that fail: the n-th from now on, alone or with all that follow, as a disk that fills or goes away."""

from __future__ import annotations

import errno
import io
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

_OPERATIONS = (
    "write",
    "fsync",
    "fdatasync",
    "ftruncate",
    "pwrite",
    "replace",
    "mkdir",
    "rmdir",
    "unlink",
    "symlink",
    "rename",
)
_FLUSHES = {"fsync", "fdatasync"}
"""They only count: no power is cut here, and they would take most of the time."""

_READS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR


class Faults:
    """Counts the operations that change files, and has some of them fail.

    ``fail_at`` is the number of the operation that fails, from 1 (0: none), ``for_good`` whether all later ones do too.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: int = errno.EIO) -> None:
        self.count = 0
        self.fail_at = 0
        self.for_good = False
        self._error = error
        self._off = True
        self._open, self._io_open = os.open, io.open
        for name in _OPERATIONS:
            monkeypatch.setattr(os, name, self._failing(name, getattr(os, name)))
        monkeypatch.setattr(os, "open", self._opened)
        monkeypatch.setattr(io, "open", self._io_opened)

    @contextmanager
    def armed(self, fail_at: int = 0, *, for_good: bool = False) -> Iterator[None]:
        """Count from 0, and fail as given, while the block runs."""
        self.count, self.fail_at, self.for_good, self._off = 0, fail_at, for_good, False
        try:
            yield
        finally:
            self._off = True

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let the block's operations succeed uncounted: they are those of another program."""
        before, self._off = self._off, True
        try:
            yield
        finally:
            self._off = before

    def happen(self, name: str) -> None:
        """Count an operation.

        Raises:
            OSError: it is one that fails.
        """
        if self._off:
            return
        self.count += 1
        if self.fail_at and (self.count == self.fail_at or (self.for_good and self.count > self.fail_at)):
            raise OSError(self._error, f"{os.strerror(self._error)} ({name}, operation {self.count})")

    def _failing(self, name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if name == "write" and arguments[0] in {1, 2}:  # a standard stream
                return operation(*arguments, **options)
            self.happen(name)
            return None if name in _FLUSHES else operation(*arguments, **options)

        return call

    def _opened(self, path: Any, flags: int, *arguments: Any, **options: Any) -> int:
        if flags & _READS != os.O_RDONLY:
            self.happen("open")
        return self._open(path, flags, *arguments, **options)

    def _io_opened(self, file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if mode != "wb" or self._off:
            return self._io_open(file, mode, *arguments, **options)
        self.happen("open")
        return io.BufferedWriter(_FailingFile(file, self))


class _FailingFile(io.FileIO):
    def __init__(self, path: Any, faults: Faults) -> None:
        super().__init__(path, "wb")
        self._faults = faults

    def write(self, data: Any) -> int:
        """Write, unless it fails; of what fails, half is written."""
        try:
            self._faults.happen("write")
        except OSError:
            super().write(bytes(data)[: len(data) // 2])
            raise
        return super().write(data) or 0
