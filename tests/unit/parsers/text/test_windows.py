"""Bytes become whole lines with right numbers and offsets, long lines and escape sequences included."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.sources import TEXT, lines_of, peak_of, read, starts_of
from trtforensics.parsers.text.windows import CUT_LINE, LONGEST_LINE

if TYPE_CHECKING:
    from collections.abc import Callable


def test_lines_come_without_endings_and_with_their_offsets(log: Callable[..., str]) -> None:
    (window,), info = read(log(b"one\n\nthree\n"))
    assert (window.first_line, window.lines, window.starts) == (1, [b"one", b"", b"three"], [0, 4, 5])
    assert (info.lines, info.cut) == (3, False)


def test_an_empty_file_has_no_window_and_no_line(log: Callable[..., str]) -> None:
    windows, info = read(log(b""))
    assert windows == []
    assert (info.bytes, info.lines, info.cut) == (0, 0, False)
    assert info.sha256 == hashlib.sha256().hexdigest()


def test_a_last_line_without_line_feed_counts_and_is_cut(log: Callable[..., str]) -> None:
    path = log(b"one\ntwo")
    assert lines_of(path) == [b"one", b"two"]
    assert read(path)[1].cut


@pytest.mark.parametrize(
    "separator", [b"\x1e", b"\x1f", b"\x0b", b"\x0c", b"\x85", b"\xc2\x85", b"\r", b"\xe2\x80\xa8"]
)
def test_only_a_line_feed_ends_a_line(log: Callable[..., str], separator: bytes) -> None:
    assert lines_of(log(b"a" + separator + b"b\nc" + separator)) == [b"a" + separator + b"b", b"c" + separator]


def test_one_carriage_return_before_a_line_feed_belongs_to_the_ending(log: Callable[..., str]) -> None:
    path = log(b"one\r\ntwo\r\r\n\rthree\n\r\nlast\r")
    assert lines_of(path) == [b"one", b"two\r", b"\rthree", b"", b"last\r"]
    assert starts_of(path) == [0, 5, 11, 18, 20]


def test_windows_continue_each_others_numbers_and_offsets(log: Callable[..., str]) -> None:
    windows, info = read(log(TEXT), window_bytes=1000)
    assert len(windows) > 100
    line, byte = 1, 0
    for window in windows:
        assert (window.first_line, window.starts[0]) == (line, byte)
        assert len(window.starts) == len(window.lines)
        line += len(window.lines)
        byte += len(window.data)
    assert (line - 1, byte) == (info.lines, len(TEXT))


def test_a_window_keeps_its_raw_bytes(log: Callable[..., str]) -> None:
    raw = b"\x1b[31mone\x1b[0m\r\ntwo\n"
    (window,), _ = read(log(raw))
    assert window.data == raw
    assert window.data[window.starts[1] - window.starts[0] :] == b"two\n"


def test_the_default_window_holds_megabytes(log: Callable[..., str]) -> None:
    windows, _ = read(log(b"x" * 99 + b"\n" + TEXT * 40))
    assert max(len(window.data) for window in windows) > 3 << 20
    assert max(len(window.data) for window in windows) < 5 << 20


@for_each(
    "sequence",
    [
        b"\x1b[31m",
        b"\x1b[m",
        b"\x1b[38;5;104m",
        b"\x1b[2K",
        b"\x1b[0G",
        b"\x1b[?25l",
        b"\x1b[>4;2m",
        b"\x1b[0 q",
        b"\x1b]0;a title\x07",
        b"\x1b]8;;https://example.org/\x1b\\",
        b"\x1b(B",
    ],
)
def test_an_escape_sequence_is_removed_and_its_bytes_count(log: Callable[..., str], sequence: bytes) -> None:
    path = log(b"a" + sequence + b"b\nc" + sequence + b"\n" + sequence)
    assert lines_of(path) == [b"ab", b"c", b""]
    assert starts_of(path) == [0, 3 + len(sequence), 5 + 2 * len(sequence)]


def test_an_escape_sequence_does_not_reach_over_a_line_feed(log: Callable[..., str]) -> None:
    assert lines_of(log(b"a\x1b]0;t\nb\x07\x1b[\nm\n")) == [b"a\x1b]0;t", b"b\x07\x1b[", b"m"]


@pytest.mark.parametrize("text", [b"a\x1b[3", b"a\x1b", b"a\x1b]0;title", b"[31m", b"a\x1b[3\xff1m"])
def test_what_is_no_complete_escape_sequence_stays(log: Callable[..., str], text: bytes) -> None:
    assert lines_of(log(text + b"\nm\x07")) == [text, b"m\x07"]


def test_a_carriage_return_before_an_escape_sequence_is_no_ending(log: Callable[..., str]) -> None:
    assert lines_of(log(b"a\r\x1b[0m\nb\x1b[0m\r\n")) == [b"a\r", b"b"]


@pytest.mark.parametrize("window_bytes", [100_000, 4 << 20, 64 << 20])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_an_endless_line_is_cut_and_the_lines_after_it_are_right(
    log: Callable[..., str], window_bytes: int, ending: bytes
) -> None:
    long = b"long " * (LONGEST_LINE // 5 + 100)
    windows, info = read(log(b"one\n" + long + ending + b"three\nfour\n"), window_bytes=window_bytes)
    lines = [line for window in windows for line in window.lines]
    starts = [start for window in windows for start in window.starts]
    assert lines == [b"one", long[:CUT_LINE], b"three", b"four"]
    third = 4 + len(long) + len(ending)
    assert starts == [0, 4, third, third + 6]
    assert info.lines == 4
    alone = next(window for window in windows if window.first_line == 2)
    assert (alone.lines, alone.data) == ([long[:CUT_LINE]], long[:CUT_LINE])


@pytest.mark.parametrize(("extra", "kept"), [(0, LONGEST_LINE), (1, CUT_LINE)])
def test_the_longest_line_is_whole_and_one_byte_more_is_not(log: Callable[..., str], extra: int, kept: int) -> None:
    for ending in (b"\n", b""):
        path = log(b"x" * (LONGEST_LINE + extra) + ending)
        assert [len(line) for line in lines_of(path)] == [kept]
        assert read(path)[1].cut is not bool(ending)


@pytest.mark.slow
def test_a_line_of_200_megabytes_takes_less_memory_than_itself(log: Callable[..., str]) -> None:
    windows, peak = peak_of(log(b"x" * (200 << 20) + b"\nlast\n"))
    assert [len(line) for window in windows for line in window.lines] == [CUT_LINE, 4]
    assert peak < 100 << 20


def test_lines_longer_than_the_search_for_their_end_are_whole(log: Callable[..., str]) -> None:
    lines = [b"x" * 200_000, b"one", b"y" * 150_000, b"two"]
    windows, _ = read(log(b"\n".join(lines)), window_bytes=100_000)
    assert [line for window in windows for line in window.lines] == lines
