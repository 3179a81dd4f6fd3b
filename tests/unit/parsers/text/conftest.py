"""A file and a pipe to read a log from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from trtforensics.parsers.text import stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def log(tmp_path: Path) -> Callable[[bytes], str]:
    """Return a function that stores bytes as a file and returns its path."""

    def store(data: bytes, name: str = "build.log") -> str:
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return store


@pytest.fixture
def standard_input(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Make a pipe the standard input and return the end to write to."""
    reader, writer = os.pipe()
    monkeypatch.setattr(stored, "_STDIN", reader)
    yield writer
    for descriptor in (reader, writer):
        try:
            os.close(descriptor)
        except OSError:
            continue  # the test has closed it
