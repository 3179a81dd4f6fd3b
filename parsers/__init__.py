"""Bytes in, typed model out."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_THREADS = "OPENBLAS_NUM_THREADS"


@contextmanager
def _without_threads() -> Iterator[None]:
    """Have numpy's linear algebra, which nobody here uses, start no threads: that costs a tenth of a second.

    What a program that is started later finds in its environment stays as it was.
    """
    if _THREADS in os.environ:
        yield
        return
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[_THREADS]


with _without_threads():
    import numpy as np  # noqa: F401 - loaded here, before any module of this package does
