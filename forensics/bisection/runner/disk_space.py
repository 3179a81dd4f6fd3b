"""The space on the disks that a probe writes to: a command that fails without it says nothing about the items."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_NEED = 64 << 20
"""Bytes that must be free where probes are kept."""

_FULL = 1 << 20
"""A disk of temporary files with fewer free bytes counts as full; on some systems it is always small."""

_PERIOD_S = 0.2


def free_bytes(folder: Path) -> int:
    """Return the bytes that may still be written to a folder's disk; none if it can hold no more files."""
    disk = os.statvfs(folder)
    if disk.f_files and not disk.f_favail:
        return 0
    return disk.f_bavail * disk.f_frsize


def said_bytes(size: int) -> str:
    """Return a size as an error says it: in MiB, a small one in KiB."""
    return f"{size / (1 << 20):,.0f} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


class DiskWatch:
    """The least free space seen while a command runs: ``least`` in bytes."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._temporary = Path(environment.get("TMPDIR") or "/tmp")  # noqa: S108 - where commands put theirs
        self._due = 0.0
        self.least = sys.maxsize
        self.look()

    def look(self) -> None:
        """Look at the disks."""
        self.least = min(self.least, free_bytes(self._folder))
        with suppress(OSError):  # there is no such folder: the command puts its files elsewhere
            free = free_bytes(self._temporary)
            self.least = min(self.least, free) if free < _FULL else self.least
        self._due = time.monotonic() + _PERIOD_S

    def look_now_and_then(self) -> None:
        """Look at the disks if the last look is long enough ago."""
        if time.monotonic() >= self._due:
            self.look()
