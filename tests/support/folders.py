"""Working in another folder."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def working_in(folder: str | Path) -> Iterator[None]:
    """Make a folder the working directory for a while; Python 3.10 has no ``contextlib.chdir``."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
