"""Reading holds for any bytes, however they are cut, packed or encoded."""

from __future__ import annotations

import codecs
import gzip
import re
import tempfile
from pathlib import Path
from unittest import mock

import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from trtforensics.parsers.text import windows
from trtforensics.parsers.text.decoding import COMPRESSED
from trtforensics.parsers.text.source import Window, open_source
from trtforensics.parsers.text.text import LogText

MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, *COMPRESSED)
FRAGMENTS = [
    b"\n",
    b"\r\n",
    b"\r",
    b"\x1b[31m",
    b"\x1b[",
    b"\x1b",
    b"\x1b]0;t\x07",
    b"\x1b]",
    b"\x1e",
    b"\x85",
    b"\x0c",
]
SEQUENCE = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(\x07|\x1b\\)|[ -/]+[0-~])")

any_text = (
    st.lists(st.sampled_from(FRAGMENTS) | st.binary(max_size=12), max_size=40)
    .map(b"".join)
    .filter(lambda data: not data.startswith(MARKS))
)
window_sizes = st.integers(1, 64) | st.sampled_from([1000, 4 << 20])
packings = st.sampled_from([bytes, gzip.compress, zstandard.compress])


def reference(text: bytes, longest: int = 1 << 30, cut: int = 0) -> tuple[list[bytes], list[int]]:
    """Split a text a line at a time, as the contract words it."""
    lines, starts, position = [], [], 0
    for raw in text.split(b"\n"):
        starts.append(position)
        position += len(raw) + 1
        ended = position <= len(text)
        content = raw[:cut] if len(raw) > longest else raw.removesuffix(b"\r") if ended else raw
        lines.append(SEQUENCE.sub(b"", content))
    if text.endswith(b"\n") or not text:
        lines.pop()
        starts.pop()
    return lines, starts


def flat(found: list[Window]) -> tuple[list[bytes], list[int]]:
    return [line for window in found for line in window.lines], [start for window in found for start in window.starts]


def read(data: bytes, window_bytes: int) -> list[Window]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log")
        path.write_bytes(data)
        with open_source(str(path), window_bytes=window_bytes) as source:
            found = list(source.windows())
            assert source.info().lines == sum(len(window.lines) for window in found)
            return found


@given(text=any_text, window_bytes=window_sizes, pack=packings)
def test_any_window_gives_the_same_lines_and_starts(text: bytes, window_bytes: int, pack: type[bytes]) -> None:
    found = read(pack(text), window_bytes)
    assert flat(found) == reference(text)
    assert b"".join(window.data for window in found) == text


@given(text=any_text.map(lambda data: re.sub(rb"\r+\n", b"\n", data.replace(b"\x1b", b""))), window_bytes=window_sizes)
def test_lines_joined_are_the_text(text: bytes, window_bytes: int) -> None:
    if text.startswith(MARKS):
        text = b"." + text
    lines, _ = flat(read(text, window_bytes))
    assert b"\n".join(lines) == text.removesuffix(b"\n")


@given(
    text=st.text(st.characters(codec="utf-8") | st.sampled_from("\r\n\u0a0a\ufeff\U0001f600"), max_size=60),
    encoding=st.sampled_from(["utf-16-le", "utf-16-be", "utf-8"]),
    window_bytes=window_sizes,
    pack=packings,
)
def test_every_encoding_with_a_mark_gives_the_same_lines(
    text: str, encoding: str, window_bytes: int, pack: type[bytes]
) -> None:
    found = read(pack(f"\ufeff{text}".encode(encoding)), window_bytes)
    assert flat(found) == reference(text.encode())


@given(data=st.binary(max_size=60), mark=st.sampled_from(MARKS[1:3]), window_bytes=window_sizes)
def test_any_bytes_after_a_mark_of_utf_16_are_read(data: bytes, mark: bytes, window_bytes: int) -> None:
    name = "utf-16-le" if mark == codecs.BOM_UTF16_LE else "utf-16-be"
    assert flat(read(mark + data, window_bytes)) == reference(data.decode(name, "replace").encode())


@given(blocks=st.lists(any_text, max_size=12), longest=st.integers(5, 40), cut=st.integers(1, 5))
def test_any_blocks_give_the_same_lines_with_long_ones_cut(blocks: list[bytes], longest: int, cut: int) -> None:
    cutter = windows.WindowCutter()
    with mock.patch.multiple(windows, LONGEST_LINE=longest, CUT_LINE=cut):
        found = list(cutter.windows(blocks))
    text = b"".join(blocks)
    assert flat(found) == reference(text, longest, cut)
    assert cutter.cut is bool(text and not text.endswith(b"\n"))


@examples(60)
@example(text=b"a\n", window_bytes=8, memory=60, needle="A", start=1)
@example(text=b"A\xff\n", window_bytes=8, memory=60, needle="A\ufffd", start=1)
@given(
    text=any_text,
    window_bytes=st.integers(1, 40),
    memory=st.integers(-1, 60),
    needle=st.text("aA.éÉ\ufffd\x1e0", min_size=1, max_size=2),
    start=st.integers(-2, 30),
)
def test_lines_for_display_and_their_search_equal_a_plain_list(
    text: bytes, window_bytes: int, memory: int, needle: str, start: int
) -> None:
    log = LogText()
    with mock.patch("trtforensics.parsers.text.text.MEMORY_BYTES", memory):
        for window in read(text, window_bytes):
            log.append(window)
    lines = [line.decode("utf-8", "replace") for line in reference(text)[0]]
    assert [log.line(number) for number in range(1, len(log) + 1)] == lines == log.lines(1, len(lines) + 5)
    fold = str if any(map(str.isupper, needle)) else str.lower
    hits = [number for number, line in enumerate(lines, 1) if needle in fold(line)]
    assert log.find(needle, start) == min((hit for hit in hits if hit >= start), default=None)
    assert log.find(needle, start, backwards=True) == max((hit for hit in hits if hit <= start), default=None)
