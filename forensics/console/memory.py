"""What a command that runs once and ends has Python and the C library do with memory."""

from __future__ import annotations

import atexit
import gc
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
"""From glibc's ``malloc.h``."""
_MADV_HUGEPAGE = 14
"""From Linux's ``mman.h``."""

_KEPT_BYTES = 32 << 20
_LARGE_BYTES = 8 << 20
_AHEAD_BYTES = 48 << 20
"""By how much the heap grows at once: what a window of a log and what is made of it take."""


@contextmanager
def of_one_command() -> Iterator[None]:
    """Leave cyclic garbage, and keep what is freed.

    A command makes a million objects that stay, and looking through them for cycles takes long; Python would do so once
    more when it ends, unless it is told not to. A log is read in windows of some megabytes, whose pages the C library
    would give back each time, for the system to clear and hand out again: a twentieth of the time that reading takes.
    Another is saved by large pages, where the system has them: they come two megabytes at a time instead of four
    kilobytes.
    """
    enabled = gc.isenabled()
    atexit.register(gc.freeze)
    gc.disable()
    _set_up_heap()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _set_up_heap() -> None:
    if not sys.platform.startswith("linux"):
        return
    with suppress(ImportError, OSError, AttributeError):  # a Python without ctypes, another C library
        import ctypes  # noqa: PLC0415 - see above

        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        library.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        library.mallopt(_M_TOP_PAD, _AHEAD_BYTES)
        library.sbrk.restype = library.malloc.restype = ctypes.c_void_p
        begin = library.sbrk(0)
        library.free(ctypes.c_void_p(library.malloc(_LARGE_BYTES // 2)))  # the heap grows
        size = ctypes.c_size_t(library.sbrk(0) - begin)
        library.madvise(ctypes.c_void_p(begin), size, _MADV_HUGEPAGE)
