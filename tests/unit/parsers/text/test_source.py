"""Reading a source: whole lines, right numbers and offsets, from whatever a user has at hand."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import random
import select
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard

from trtforensics.errors import SourceError
from trtforensics.parsers.text import stored
from trtforensics.parsers.text.source import open_source
from trtforensics.parsers.text.windows import CUT_LINE, LONGEST_LINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trtforensics.model.log import SourceInfo
    from trtforensics.parsers.text.source import Window

posix = pytest.mark.skipif(os.name != "posix", reason="FIFOs, terminals and devices are POSIX")

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstandard": zstandard.compress}
every_form = pytest.mark.parametrize("form", COMPRESSORS)

TEXT = b"".join(b"[I] [TRT] line %d of a log that is long enough to be cut\n" % number for number in range(5000))


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


def read(path: str, *, max_bytes: int = 1 << 40, window_bytes: int = 4 << 20) -> tuple[list[Window], SourceInfo]:
    with open_source(path, max_bytes=max_bytes, window_bytes=window_bytes) as source:
        windows = list(source.windows())
        return windows, source.info()


def lines_of(path: str) -> list[bytes]:
    return [line for window in read(path)[0] for line in window.lines]


def starts_of(path: str) -> list[int]:
    return [start for window in read(path)[0] for start in window.starts]


def failure(path: str, *, max_bytes: int = 1 << 40) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read(path, max_bytes=max_bytes)
    error = caught.value
    assert error.where == path
    assert error.what
    assert error.next_step
    assert "\n" not in str(error)
    return error


# Lines


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


# Escape sequences


@pytest.mark.parametrize(
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


# Encodings


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


# Compression


@every_form
def test_compression_is_told_by_content_not_by_name(log: Callable[..., str], form: str) -> None:
    assert lines_of(log(COMPRESSORS[form](TEXT), "build.log")) == TEXT.splitlines()
    assert lines_of(log(TEXT, "build.log.gz")) == TEXT.splitlines()


@every_form
def test_the_hash_and_the_size_are_of_the_stored_bytes(log: Callable[..., str], form: str) -> None:
    for data in (TEXT, COMPRESSORS[form](TEXT)):
        _, info = read(log(data))
        assert (info.bytes, info.sha256, info.lines) == (len(data), hashlib.sha256(data).hexdigest(), 5000)


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


@every_form
def test_a_small_file_that_expands_without_end_takes_little_memory(log: Callable[..., str], form: str) -> None:
    path = log(COMPRESSORS[form](bytes(192 << 20)))
    assert Path(path).stat().st_size < 1 << 20
    windows, peak = peak_of(path)
    assert len(windows) == 1
    assert peak < 96 << 20


# Limits


def peak_of(path: str) -> tuple[list[Window], int]:
    """Read a source and return its windows and the most bytes that were in use at once."""
    tracemalloc.start()
    try:
        windows, _ = read(path)
        return windows, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


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


def test_a_line_of_200_megabytes_takes_less_memory_than_itself(log: Callable[..., str]) -> None:
    windows, peak = peak_of(log(b"x" * (200 << 20) + b"\nlast\n"))
    assert [len(line) for window in windows for line in window.lines] == [CUT_LINE, 4]
    assert peak < 100 << 20


@every_form
def test_more_text_than_allowed_is_refused(log: Callable[..., str], form: str) -> None:
    plain, packed = failure(log(TEXT), max_bytes=999), failure(log(COMPRESSORS[form](TEXT)), max_bytes=999)
    assert plain.what == "is larger than 999 bytes"
    assert packed.what == "is larger than 999 bytes after decompression"
    assert "--max-bytes" in plain.next_step
    assert "--max-bytes" in packed.next_step


def test_exactly_as_much_text_as_allowed_is_read(log: Callable[..., str]) -> None:
    assert read(log(TEXT), max_bytes=len(TEXT))[1].lines == 5000


# Pipes


@posix
def test_lines_of_a_fifo_arrive_while_its_writer_still_writes(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    seen = threading.Event()
    waited: list[bool] = []

    def write() -> None:
        with fifo.open("wb", buffering=0) as out:
            out.write(b"P\n")  # a P may open a Zstandard frame, but a line of it must not wait for more
            waited.append(seen.wait(20))
            out.write(b"second, not whole")
            time.sleep(0.1)
            out.write(b" but now\n")

    writer = threading.Thread(target=write)
    writer.start()
    with open_source(str(fifo)) as source:
        windows = source.windows()
        assert source.size is None
        assert next(windows).lines == [b"P"]
        assert source.position == 2
        seen.set()
        assert [window.lines for window in windows] == [[b"second, not whole but now"]]
        assert source.info().lines == 2
    writer.join()
    assert waited == [True]


@posix
@every_form
def test_compressed_lines_of_a_pipe_arrive_while_its_writer_still_writes(standard_input: int, form: str) -> None:
    os.write(standard_input, COMPRESSORS[form](b"one\n"))
    with open_source("-") as source:
        windows = source.windows()
        assert next(windows).lines == [b"one"]
        os.write(standard_input, COMPRESSORS[form](b"two\n"))
        os.close(standard_input)
        assert [window.lines for window in windows] == [[b"two"]]


@posix
def test_a_fast_pipe_fills_windows(standard_input: int) -> None:
    data = TEXT * 20

    def write() -> None:
        with os.fdopen(standard_input, "wb") as out:
            out.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    windows, info = read("-")
    writer.join()
    assert b"".join(window.data for window in windows) == data
    assert len(windows) < 20
    assert (info.path, info.bytes, info.sha256) == ("<stdin>", len(data), hashlib.sha256(data).hexdigest())


@posix
def test_a_pipe_that_never_pauses_does_not_grow_a_window_without_bound(
    standard_input: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_all = os.read
    monkeypatch.setattr(os, "read", lambda descriptor, size: read_all(descriptor, min(size, 300)))
    data = b"0123456\n" * 8000
    os.write(standard_input, data)
    os.close(standard_input)
    windows, _ = read("-", window_bytes=1000)
    assert max(len(window.data) for window in windows) < 2000
    assert sum(len(window.lines) for window in windows) == 8000


def test_a_pipe_is_read_where_there_is_no_poll(standard_input: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(select, "poll", raising=False)
    os.write(standard_input, b"one\ntwo\n")
    os.close(standard_input)
    assert [window.lines for window in read("-")[0]] == [[b"one", b"two"]]


PROGRAM = """
import sys
from trtforensics.parsers.text.source import open_source
with open_source(sys.argv[1]) as source:
    lines = [line.decode() for window in source.windows() for line in window.lines]
    print(source.path, source.size, lines)
"""


@posix
@pytest.mark.parametrize(
    ("name", "shown"), [("-", "<stdin>"), ("/dev/stdin", "/dev/stdin"), ("/dev/fd/0", "/dev/fd/0")]
)
def test_standard_input_of_a_process_is_read(name: str, shown: str) -> None:
    command = [sys.executable, "-c", PROGRAM, name]
    done = subprocess.run(command, input=b"one\ntwo", capture_output=True, check=True)
    assert done.stdout.decode() == f"{shown} None ['one', 'two']\n"


@posix
def test_a_file_as_standard_input_is_read(log: Callable[..., str]) -> None:
    with Path(log(b"one\n")).open("rb") as file:
        done = subprocess.run([sys.executable, "-c", PROGRAM, "-"], stdin=file, capture_output=True, check=True)
    assert done.stdout == b"<stdin> None ['one']\n"


@posix
def test_closing_standard_input_leaves_it_open(standard_input: int) -> None:
    open_source("-").close()
    os.write(standard_input, b"one\n")
    os.close(standard_input)
    assert [window.lines for window in read("-")[0]] == [[b"one"]]


# Refusals


def test_a_missing_file_is_said(tmp_path: Path, log: Callable[..., str]) -> None:
    assert failure(str(tmp_path / "none.log")).what == "there is no such file"
    assert failure(log(b"") + "/none.log").what == "there is no such file"


def test_a_directory_is_refused(tmp_path: Path) -> None:
    error = failure(str(tmp_path))
    assert (error.what, error.next_step) == ("is a directory", "Name a file in it")


def test_a_forbidden_file_is_said(log: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = log(b"one\n")
    monkeypatch.setattr(io, "FileIO", forbid)
    assert failure(path).what == "permission denied"


@posix
def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path is limited to about 100 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert "is a socket" in failure("socket").what


@posix
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_an_endless_device_is_refused(device: str) -> None:
    assert failure(device).what == "is a device that may never end"


@posix
def test_an_endless_device_is_refused_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "build.log").symlink_to("/dev/zero")
    assert failure(str(tmp_path / "build.log")).what == "is a device that may never end"


def test_the_null_device_is_empty() -> None:
    assert read(os.devnull)[0] == []


@posix
def test_a_descriptor_is_read_by_its_path() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"one\n")
    os.close(writer)
    assert lines_of(f"/dev/fd/{reader}") == [b"one"]
    os.close(reader)


@posix
def test_a_terminal_is_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    main, terminal = os.openpty()
    monkeypatch.setattr(stored, "_STDIN", terminal)
    with pytest.raises(SourceError, match="nothing is piped in") as caught:
        open_source("-")
    assert caught.value.where == "<stdin>"
    assert "nothing is piped in" in failure(f"/dev/fd/{terminal}").what
    os.close(main)
    os.close(terminal)


@posix
def test_a_closed_standard_input_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(writer)
    os.close(reader)
    monkeypatch.setattr(stored, "_STDIN", reader)
    with pytest.raises(SourceError, match="cannot be read") as caught:
        open_source("-")
    assert "Pipe a log in" in caught.value.next_step


@posix
def test_an_error_while_reading_is_said(standard_input: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int, __: int) -> bytes:
        raise OSError(5, "Input/output error")

    os.write(standard_input, b"one\n")
    with open_source("-") as source:
        monkeypatch.setattr(os, "read", fail)
        with pytest.raises(SourceError, match=r"cannot be read \(Input/output error\)"):
            list(source.windows())


def test_a_file_that_becomes_shorter_is_said(log: Callable[..., str]) -> None:
    path = log(TEXT * 4)
    with open_source(path) as source:
        windows = source.windows()
        next(windows)
        os.truncate(path, 300_000)
        with pytest.raises(SourceError, match="became shorter while it was read"):
            list(windows)


def test_a_file_that_grows_is_read_to_the_size_it_had(log: Callable[..., str]) -> None:
    path = log(b"one\n")
    with open_source(path) as source, Path(path).open("ab") as file:
        file.write(b"two\n")
        file.flush()
        assert [window.lines for window in source.windows()] == [[b"one"]]


# Progress, life


def test_lines_longer_than_the_search_for_their_end_are_whole(log: Callable[..., str]) -> None:
    lines = [b"x" * 200_000, b"one", b"y" * 150_000, b"two"]
    windows, _ = read(log(b"\n".join(lines)), window_bytes=100_000)
    assert [line for window in windows for line in window.lines] == lines


def test_a_file_of_unknown_size_is_read() -> None:
    path = Path("/proc/self/status")
    if not path.exists():
        pytest.skip("no /proc here")
    assert lines_of(str(path))[0].startswith(b"Name:")


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
    assert source._stored._file.closed
