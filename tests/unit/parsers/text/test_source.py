"""A source as a whole: its limit, its position, and what is known of it at its end."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.support.sources import COMPRESSORS, TEXT, every_form, failure, read
from trtforensics.parsers.text.source import open_source

if TYPE_CHECKING:
    from collections.abc import Callable


@every_form
def test_more_text_than_allowed_is_refused(log: Callable[..., str], form: str) -> None:
    plain, packed = failure(log(TEXT), max_bytes=999), failure(log(COMPRESSORS[form](TEXT)), max_bytes=999)
    assert plain.what == "is larger than 999 bytes"
    assert packed.what == "is larger than 999 bytes after decompression"
    assert "--max-bytes" in plain.next_step
    assert "--max-bytes" in packed.next_step


def test_exactly_as_much_text_as_allowed_is_read(log: Callable[..., str]) -> None:
    assert read(log(TEXT), max_bytes=len(TEXT))[1].lines == 5000


@every_form
def test_the_position_grows_to_the_size(log: Callable[..., str], form: str) -> None:
    noise = random.Random(1).randbytes(1 << 20).hex().encode()  # noqa: S311 - repeatable
    lines = b"\n".join(noise[start : start + 100] for start in range(0, len(noise), 100))
    for data in (lines, COMPRESSORS[form](lines)):
        with open_source(log(data), window_bytes=100_000) as source:
            assert (source.position, source.size) == (0, len(data))
            positions = [source.position for _ in source.windows()]
            assert positions == sorted(positions)
            assert len(set(positions)) > 3
            assert source.position == len(data)


def test_a_source_gives_its_windows_once(log: Callable[..., str]) -> None:
    with open_source(log(b"one\n")) as source:
        list(source.windows())
        with pytest.raises(RuntimeError, match="once"):
            source.windows()


def test_a_source_is_known_only_at_its_end(log: Callable[..., str]) -> None:
    with open_source(log(b"one\n")) as source:
        windows = source.windows()
        next(windows)
        with pytest.raises(RuntimeError, match="last window"):
            source.info()
        list(windows)
        assert source.info().lines == 1


def test_leaving_a_source_half_read_closes_it(log: Callable[..., str]) -> None:
    with open_source(log(TEXT)) as source:
        next(source.windows())
    assert source._file.closed
