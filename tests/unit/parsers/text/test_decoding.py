"""Encodings and compression are recognised by content, and damage is said."""

from __future__ import annotations

import gzip
import hashlib
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard

from tests.support.sources import COMPRESSORS, TEXT, every_form, failure, lines_of, peak_of, read, starts_of
from trtforensics.errors import SourceError
from trtforensics.parsers.text.source import open_source

if TYPE_CHECKING:
    from collections.abc import Callable


@every_form
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_mark_is_read_as_text(log: Callable[..., str], encoding: str, form: str) -> None:
    text = "\ufeff[I] naïve\r\n\u0a0a \U0001f600\r\nlast"
    for path in (log(text.encode(encoding)), log(COMPRESSORS[form](text.encode(encoding)), "packed")):
        assert lines_of(path) == ["[I] naïve".encode(), "\u0a0a \U0001f600".encode(), b"last"]
        assert starts_of(path) == [0, 12, 22]
        assert [line for w in read(path, window_bytes=1)[0] for line in w.lines] == lines_of(path)


def test_damaged_utf_16_becomes_replacement_characters(log: Callable[..., str]) -> None:
    lone_surrogate, half_unit = b"\x00\xd8", b"b"
    assert lines_of(log(b"\xff\xfe" + lone_surrogate + b"a\x00\n\x00" + half_unit)) == [
        "\ufffda".encode(),
        b"\xef\xbf\xbd",
    ]


@every_form
def test_the_mark_of_utf_8_is_dropped(log: Callable[..., str], form: str) -> None:
    marked = b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n"
    for path in (log(marked), log(COMPRESSORS[form](marked), "packed")):
        assert lines_of(path) == [b"one", b"\xef\xbb\xbftwo"]
        assert starts_of(path) == [0, 4]


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_a_file_of_a_mark_alone_has_no_line(log: Callable[..., str], mark: bytes) -> None:
    windows, info = read(log(mark))
    assert (windows, info.lines, info.bytes) == ([], 0, len(mark))


def test_half_a_mark_is_text(log: Callable[..., str]) -> None:
    assert lines_of(log(b"\xef\xbb")) == [b"\xef\xbb"]


@every_form
def test_compression_is_told_by_content_not_by_name(log: Callable[..., str], form: str) -> None:
    assert lines_of(log(COMPRESSORS[form](TEXT), "build.log")) == TEXT.splitlines()
    assert lines_of(log(TEXT, "build.log.gz")) == TEXT.splitlines()


@every_form
@pytest.mark.parametrize("window_bytes", [1, 7, 4096, 4 << 20])
def test_several_members_or_frames_are_one_text(log: Callable[..., str], form: str, window_bytes: int) -> None:
    parts = (b"one\ntw", b"", b"o\nthree\n", b"four")
    windows, _ = read(log(b"".join(COMPRESSORS[form](part) for part in parts)), window_bytes=window_bytes)
    assert [line for window in windows for line in window.lines] == [b"one", b"two", b"three", b"four"]


def test_zeros_between_and_after_gzip_members_are_padding(log: Callable[..., str]) -> None:
    padded = gzip.compress(b"one\n") + bytes(600) + gzip.compress(b"two\n") + bytes(600)
    assert lines_of(log(padded)) == [b"one", b"two"]
    assert [len(w.lines) for w in read(log(padded), window_bytes=1)[0]] == [1, 1]


def test_zstandard_may_begin_with_a_skippable_frame(log: Callable[..., str]) -> None:
    skippable = b"\x5e\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    assert lines_of(log(skippable + zstandard.compress(b"one\n"))) == [b"one"]


@every_form
@pytest.mark.parametrize("missing", [1, 4, 12, 2000])
def test_truncated_compressed_data_is_said_after_the_lines_before_it(
    log: Callable[..., str], form: str, missing: int
) -> None:
    noise = b"".join(hashlib.sha256(bytes((i % 256, i // 256))).hexdigest().encode() + b"\n" for i in range(9000))
    path = log(COMPRESSORS[form](noise)[:-missing])
    found: list[bytes] = []
    with open_source(path) as source, pytest.raises(SourceError, match="is truncated") as caught:
        found.extend(line for window in source.windows() for line in window.lines)
    assert found
    assert found == noise.splitlines()[: len(found)]
    assert (caught.value.where, bool(caught.value.next_step)) == (path, True)


@every_form
def test_a_second_part_that_is_cut_short_is_said(log: Callable[..., str], form: str) -> None:
    compress = COMPRESSORS[form]
    assert "is truncated" in failure(log(compress(TEXT) + compress(TEXT)[:3])).what


@every_form
def test_damaged_compressed_data_is_said(log: Callable[..., str], form: str) -> None:
    packed = bytearray(COMPRESSORS[form](random.Random(1).randbytes(5000).hex().encode()))  # noqa: S311 - repeatable
    packed[2000:2100] = bytes(100)
    assert "holds damaged" in failure(log(bytes(packed) + b"\0" * 50)).what


@every_form
def test_garbage_after_compressed_data_is_said(log: Callable[..., str], form: str) -> None:
    assert "holds damaged" in failure(log(COMPRESSORS[form](TEXT) + b"garbage")).what


@pytest.mark.slow
@every_form
def test_a_small_file_that_expands_without_end_takes_little_memory(log: Callable[..., str], form: str) -> None:
    path = log(COMPRESSORS[form](bytes(192 << 20)))
    assert Path(path).stat().st_size < 1 << 20
    windows, peak = peak_of(path)
    assert len(windows) == 1
    assert peak < 96 << 20
