"""What a command that runs once and ends has Python and the C library do with memory."""

from __future__ import annotations

import atexit
import gc
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""From glibc's ``malloc.h``."""

_KEPT_BYTES = 32 << 20
_LARGE_BYTES = 8 << 20


@contextmanager
def of_one_command() -> Iterator[None]:
    """Leave cyclic garbage, and keep what is freed.

    A command makes a million objects that stay, and looking through them for cycles takes long; Python would do so once
    more when it ends, unless it is told not to. A log is read in windows of some megabytes, whose pages the C library
    would give back each time, for the system to clear and hand out again: a twentieth of the time that reading takes.
    """
    enabled = gc.isenabled()
    atexit.register(gc.freeze)
    gc.disable()
    _keep_freed()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _keep_freed() -> None:
    if not sys.platform.startswith("linux"):
        return
    with suppress(ImportError, OSError, AttributeError):  # a Python without ctypes, another C library
        import ctypes  # noqa: PLC0415 - see above

        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        library.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
