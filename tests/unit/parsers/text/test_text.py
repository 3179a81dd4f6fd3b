"""The lines of a source at random, for display."""

from __future__ import annotations

import gc
import tempfile
import threading
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from trtforensics.errors import OutputError
from trtforensics.parsers.text import text
from trtforensics.parsers.text.source import Window, open_source
from trtforensics.parsers.text.text import LogText

if TYPE_CHECKING:
    from pathlib import Path

LINES = ["Alpha", "", "beta [TRT]", "Gamma naïve", "alpha again", "Ωmega", "last"]


def window(first_line: int, lines: list[bytes]) -> Window:
    return Window(first_line, 0, b"".join(line + b"\n" for line in lines))


def text_of(lines: list[str], per_window: int) -> LogText:
    log = LogText()
    for first in range(0, len(lines), per_window):
        part = [line.encode() for line in lines[first : first + per_window]]
        log.append(window(first + 1, part))
    return log


@pytest.fixture(params=["in memory", "spilled", "half spilled"])
def log(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> LogText:
    """Return the sample lines in windows of two, kept in each way that there is."""
    limits = {"in memory": 1 << 20, "spilled": -1, "half spilled": 20}
    monkeypatch.setattr(text, "MEMORY_BYTES", limits[request.param])
    made = text_of(LINES, 2)
    kept = [isinstance(block.text, bytes) for block in made._blocks]
    assert (any(kept), all(kept)) == {
        "in memory": (True, True),
        "spilled": (False, False),
        "half spilled": (True, False),
    }[request.param]
    return made


def test_every_line_is_found_by_its_number(log: LogText) -> None:
    assert len(log) == 7
    assert [log.line(number) for number in range(1, 8)] == LINES


@for_each("number", [-1, 0, 8])
def test_a_number_without_line_is_an_index_error(log: LogText, number: int) -> None:
    with pytest.raises(IndexError, match=f"line {number} of 7"):
        log.line(number)


def test_lines_are_given_across_windows_and_fewer_at_the_end(log: LogText) -> None:
    assert log.lines(2, 4) == LINES[1:5]
    assert log.lines(1, 100) == LINES
    assert log.lines(7, 1) == ["last"]
    assert log.lines(8, 3) == []
    assert log.lines(3, 0) == []
    with pytest.raises(IndexError, match="line 0"):
        log.lines(0, 2)


def test_an_empty_text_has_nothing() -> None:
    log = LogText()
    assert (len(log), log.lines(1, 5), log.find("a", 1), log.find("a", 1, backwards=True)) == (0, [], None, None)


def test_bytes_that_are_no_utf_8_are_replaced() -> None:
    log = LogText()
    log.append(window(1, [b"\xff\xfea", b"caf\xc3\xa9\x00\r\r"]))
    assert log.lines(1, 2) == ["\ufffd\ufffda", "café\x00\r"]


@for_each(
    ("needle", "start", "forwards", "backwards"),
    [
        ("ALPHA", 1, None, None),
        ("Alpha", 7, None, 1),
        ("alpha", 2, 5, 1),
        ("alpha", 5, 5, 5),
        ("alpha", 6, None, 5),
        ("last", 1, 7, None),
        ("[trt]", 1, 3, None),
        ("[TRT]", 1, 3, None),
        ("[Trt]", 1, None, None),
        ("ωmega", 1, 6, None),
        ("Ωmega", 1, 6, None),
        ("ΩMEGA", 1, None, None),
        ("naïve", 7, None, 4),
        ("naÏve", 7, None, None),
        ("absent", 4, None, None),
        ("", 4, 4, 4),
        ("alpha", -5, 1, None),
        ("alpha", 99, None, 5),
        ("again\nΩmega", 1, None, None),
        ("a\nb", 1, None, None),
    ],
)
def test_the_next_line_is_found_and_case_counts_where_the_needle_has_a_capital(
    log: LogText, needle: str, start: int, forwards: int | None, backwards: int | None
) -> None:
    assert log.find(needle, start) == forwards
    assert log.find(needle, start, backwards=True) == backwards


def test_a_needle_is_found_among_several_hits_of_one_window() -> None:
    log = text_of(["x", "hité", "x", "hité", "x", "hité"], 6)
    for needle in ("hit", "hité"):
        assert [log.find(needle, start) for start in range(1, 7)] == [2, 2, 4, 4, 6, 6]
        assert [log.find(needle, start, backwards=True) for start in range(1, 7)] == [None, 2, 2, 4, 4, 6]


def test_a_log_with_invalid_bytes_is_searched() -> None:
    log = LogText()
    log.append(window(1, [b"\xff\xfe", b"caf\xc3\xa9 \xff", b"x"]))
    assert log.find("café", 1) == 2
    assert log.find("caf", 1) == 2


def test_a_large_log_costs_little_more_than_its_line_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MEMORY_BYTES", 4 << 20)
    path = tmp_path / "build.log"
    path.write_bytes(b"".join(b"%099d\n" % number for number in range(300_000)))
    log = LogText()
    with open_source(str(path), window_bytes=1 << 20) as source:
        windows = source.windows()
        log.append(next(windows))
        tracemalloc.start()
        for window in windows:
            log.append(window)
    del window, windows
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(log) == 300_000
    assert held < 6 << 20
    assert [int(log.line(number)) for number in (1, 40_000, 150_000, 300_000)] == [0, 39_999, 149_999, 299_999]
    assert log.find(f"{299_998:099d}", 1) == 299_999


def test_no_temporary_file_is_made_for_a_log_that_fits_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("a temporary file was made")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert text_of(LINES, 2).line(7) == "last"


def test_the_temporary_file_goes_with_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MEMORY_BYTES", -1)
    log = text_of(LINES, 2)
    file = log._spill._file
    assert file is not None
    assert not file.closed
    del log
    gc.collect()
    assert file.closed


def test_a_full_disk_is_said_with_a_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(text, "MEMORY_BYTES", -1)
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(OutputError, match="No space left on device") as caught:
        text_of(LINES, 2)
    assert "TMPDIR" in caught.value.next_step


def test_one_thread_reads_while_another_appends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MEMORY_BYTES", 2000)
    log = LogText()
    windows = 2000

    def write() -> None:
        for index in range(windows):
            log.append(window(index * 3 + 1, [b"%d" % number for number in range(index * 3, index * 3 + 3)]))

    writer = threading.Thread(target=write)
    writer.start()
    wrong = 0
    while (known := len(log)) < windows * 3:
        if known:
            wrong += log.line(known) != str(known - 1)
            wrong += log.lines(max(known - 10, 1), 10)[0] != str(max(known - 10, 1) - 1)
    writer.join()
    assert wrong == 0
