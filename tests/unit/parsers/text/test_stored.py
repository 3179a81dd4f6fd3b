"""The stored bytes come from whatever a user has at hand: files, pipes, standard input, devices."""

from __future__ import annotations

import hashlib
import io
import os
import select
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.sources import COMPRESSORS, TEXT, every_form, failure, lines_of, posix, read
from trtforensics.errors import SourceError
from trtforensics.parsers.text import stored
from trtforensics.parsers.text.source import open_source

if TYPE_CHECKING:
    from collections.abc import Callable


@every_form
def test_the_hash_and_the_size_are_of_the_stored_bytes(log: Callable[..., str], form: str) -> None:
    for data in (TEXT, COMPRESSORS[form](TEXT)):
        _, info = read(log(data))
        assert (info.bytes, info.sha256, info.lines) == (len(data), hashlib.sha256(data).hexdigest(), 5000)


@posix
def test_lines_of_a_fifo_arrive_while_its_writer_still_writes(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    seen = threading.Event()
    waited: list[bool] = []

    def write() -> None:
        with fifo.open("wb", buffering=0) as out:
            out.write(b"P\n")  # a P may open a Zstandard frame, but a line of it must not wait for more
            waited.append(seen.wait(120))
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


def test_a_file_of_unknown_size_is_read() -> None:
    path = Path("/proc/self/status")
    if not path.exists():
        pytest.skip("no /proc here")
    assert lines_of(str(path))[0].startswith(b"Name:")
