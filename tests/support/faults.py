"""File operations that fail: the n-th from now on, alone or with all that follow, as a disk that fills or goes away."""

from __future__ import annotations

import builtins
import errno
import io
import itertools
import os
import subprocess
import sys
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

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
        self.places: list[tuple[object, ...]] = []
        """For each operation that was counted, its name and the innermost lines of ours that asked for it."""
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
        self.places = []
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
        if not self.fail_at:
            self.places.append((name, *_asked_by()))
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


def _asked_by() -> list[tuple[str, int]]:
    ours = (
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_stack(None)
        if frame.f_globals["__name__"].startswith("trtforensics.")
    )
    return [*itertools.islice(ours, _CALLERS)]


def first_and_last(places: list[tuple[object, ...]]) -> list[int]:
    """Return the numbers, from 1, of the first and the last operation that was asked for in each way."""
    numbered = [*enumerate(places, 1)]
    firsts, lasts = ({place: number for number, place in each} for each in (reversed(numbered), numbered))
    return sorted({*firsts.values(), *lasts.values()})


_CALLERS = 4

_LOOKS = (
    *("stat", "lstat", "fstat", "scandir", "listdir", "readlink", "chmod", "link", "getcwd", "statvfs"),
    *("read", "pread", "pipe", "dup", "utime", "remove", "lseek", "truncate"),
)


class Refusals(Faults):
    """Faults of every call that asks the system for something about files: reading and starting programs too."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(monkeypatch)
        self.refused = ""
        """The call that was refused last."""
        for name in _LOOKS:
            monkeypatch.setattr(os, name, self._failing(name, getattr(os, name)))
        monkeypatch.setattr(builtins, "open", self._io_opened)
        place: Any = subprocess
        start = "_fork_exec"
        if sys.version_info < (3, 11):  # there it is a function of the module in C
            place, start = vars(subprocess)["_posixsubprocess"], "fork_exec"
        monkeypatch.setattr(place, start, self._failing("fork_exec", getattr(place, start)))
        monkeypatch.setattr(os, "posix_spawn", self._failing("fork_exec", os.posix_spawn))  # from 3.13 on
        self._file = type("File", (_RefusedFile,), {"faults": self})
        monkeypatch.setattr(io, "FileIO", self._file)

    def refuse(self, number: int, error: int) -> AbstractContextManager[None]:
        """Have one call fail with an error; 0 for none."""
        self._error = error
        return self.armed(number)

    def happen(self, name: str) -> None:
        """Count a call, and refuse it in the system's own words."""
        try:
            super().happen(name)
        except OSError as error:
            self.refused = name
            raise OSError(self._error, os.strerror(self._error)) from error

    def _opened(self, path: Any, flags: int, *arguments: Any, **options: Any) -> int:
        self.happen("open")
        return self._open(path, flags, *arguments, **options)

    def _io_opened(self, file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if self._off or arguments[:1] == (0,):
            return self._io_open(file, mode, *arguments, **options)
        raw = self._file(file, mode.replace("b", "").replace("t", ""), options.pop("closefd", True))
        options.pop("buffering", None)
        buffer: Any = io.BufferedRandom if "+" in mode else io.BufferedReader if "r" in mode else io.BufferedWriter
        return buffer(raw) if "b" in mode else io.TextIOWrapper(buffer(raw), *arguments[1:], **options)


class _RefusedFile(io.FileIO):
    faults: Refusals

    def __init__(self, file: Any, *arguments: Any) -> None:
        self.faults.happen("open")
        super().__init__(file, *arguments)

    def read(self, *arguments: Any) -> Any:
        self.faults.happen("read")
        return super().read(*arguments)

    def readall(self) -> Any:
        self.faults.happen("read")
        return super().readall()

    def readinto(self, buffer: Any) -> Any:
        self.faults.happen("read")
        return super().readinto(buffer)

    def seek(self, *arguments: Any) -> int:
        self.faults.happen("seek")
        return super().seek(*arguments)

    def write(self, data: Any) -> int:
        self.faults.happen("write")
        return super().write(data) or 0


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
