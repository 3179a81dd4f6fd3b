"""The lock of an artifacts directory, for one run at a time; the kernel releases it when its process ends."""

from __future__ import annotations

import fcntl
import os
import platform
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.output import explained
from trtforensics.console.own_files import open_own, read_own
from trtforensics.errors import SourceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = ".lock"


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the directory's lock; meanwhile the lock file names the holder.

    Raises:
        UsageError: another process holds it.
        OutputError: the directory cannot be written to.
    """
    path = directory / NAME
    with explained(str(path)):
        descriptor = open_own(path, os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = holder_of(directory) or "another process"
            raise UsageError(str(directory), f"is in use by {holder}", "Wait for it, or name another one") from error
        with explained(str(path)):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} on {platform.node()}\n".encode(), 0)
        yield
        with suppress(OSError):  # the name only informs readers; closing the file releases the lock
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def holder_of(directory: Path) -> str:
    """Return which process works on a directory, or ""; one on another machine is taken to be alive."""
    try:
        text = read_own(directory / NAME).decode().strip()
    except (FileNotFoundError, SourceError, UnicodeDecodeError):
        return ""
    process, _, host = text.removeprefix("process ").partition(" on ")
    gone = host == platform.node() and process.isdecimal() and not Path("/proc", process).exists()
    return "" if gone else text
