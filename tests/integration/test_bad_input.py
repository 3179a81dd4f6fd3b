"""Whatever is given as a log: one sentence and exit code 2, or what it says; no traceback, nothing half-written."""

from __future__ import annotations

import gzip
import json
import random
import resource
import socket
import struct
import zlib
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from tests.emulator.engine import build
from tests.support.folders import working_in

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.integration.conftest import Terminal

    Run = Callable[..., subprocess.CompletedProcess[str]]
    Refuse = Callable[..., str]

NOT_A_LOG = "no line carries a TensorRT or trtexec prefix"
ESCAPE = "\x1b[31mred\x07"


def png() -> bytes:
    """Return a picture of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


CONTENTS: dict[str, tuple[bytes, str]] = {
    "empty.log": (b"", "the file is empty"),
    "newlines.log": (b"\n" * 1000, NOT_A_LOG),
    "random.bin": (random.Random(86).randbytes(1 << 17), NOT_A_LOG),
    "zeros.bin": (bytes(1 << 20), NOT_A_LOG),
    "picture.png": (png(), "is a picture (PNG)"),
    "prose.txt": (b"Dear all,\n\nthe build was slow today.\n" * 50, NOT_A_LOG),
    "other.log": (
        b"2026-11-21 09:00:00,123 INFO worker: step 12, loss 0.31\n[I] nothing of TensorRT\n" * 50,
        NOT_A_LOG,
    ),
    "metadata.json": (
        b'{"model_options": {"Format": "ONNX"}, "build_options": {}}\n',
        "is JSON of a form that is not known here",
    ),
    "cut.log.gz": (gzip.compress(build.trtexec_8_6().text().encode())[:5000], "its gzip data stops before its end"),
    "damaged.log.gz": (b"\x1f\x8b\x08\0" + b"\xff" * 500, "damaged gzip data"),
    "empty.log.gz": (gzip.compress(b""), "the file is empty"),
    "cut.log.zst": (zstandard.compress(build.trtexec_8_6().text().encode())[:5000], "Zstandard data stops before"),
    "damaged.log.zst": (b"\x28\xb5\x2f\xfd" + b"\xff" * 500, "damaged Zstandard data"),
    f"{ESCAPE}\n.log": (b"nothing\n", "␛[31mred␇␊.log: " + NOT_A_LOG),
}
PLACES = {
    "missing.log": "there is no such file",
    "folder": "is a directory",
    "dangling.log": "there is no such file",
    "socket": "is a socket",
    "file/inside.log": "there is no such file",
    "/dev/urandom": "is a device that may never end",
    "x" * 5000: "cannot be read (File name too long)",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder in which each of PLACES is what its name says."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling.log").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as server, working_in(tmp_path):
        server.bind("socket")  # the path of a socket may not be long
    return tmp_path


@pytest.mark.parametrize("command", ["parse", pytest.param("graph", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CONTENTS, ids=ascii)
def test_what_is_no_build_log_is_refused_and_nothing_is_written(
    name: str, command: str, refuse: Refuse, tmp_path: Path
) -> None:
    content, sentence = CONTENTS[name]
    (tmp_path / name).write_bytes(content)
    assert sentence in refuse(command, tmp_path / name, "-o", "out.json")
    assert list((tmp_path / "cwd").iterdir()) == []


@pytest.mark.parametrize(
    "command", ["parse", *(pytest.param(name, marks=pytest.mark.slow) for name in ("graph", "tui"))]
)
@pytest.mark.parametrize("name", PLACES, ids=lambda name: name[:12])
def test_what_cannot_be_read_is_refused(name: str, command: str, refuse: Refuse, place: Path) -> None:
    output = () if command == "tui" else ("-o", "cwd/out.json")
    assert PLACES[name] in refuse(command, name, *output, cwd=place)
    assert list((place / "cwd").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", ["parse", "graph", "tui"])
def test_a_log_that_others_may_not_read_is_refused(
    command: str, refuse: Refuse, tmp_path: Path, log: Path, powerless: tuple[str, ...]
) -> None:
    (tmp_path / "private.log").write_bytes(log.read_bytes())
    (tmp_path / "private.log").chmod(0o000)
    output = () if command == "tui" else ("-o", "out.json")
    assert "permission denied" in refuse(command, tmp_path / "private.log", *output, launcher=powerless)


@pytest.mark.parametrize("name", ["missing.log", pytest.param("folder", marks=pytest.mark.slow)])
def test_the_tui_draws_nothing_for_a_log_it_cannot_open(
    name: str, terminal: Callable[..., Terminal], place: Path
) -> None:
    screen = terminal("tui", place / name)
    assert screen.finish() == 2
    assert b"\x1b" not in screen.shown
    assert screen.shown.decode().startswith(f"trtforensics: error: {place / name}: {PLACES[name]}")
    assert screen.shown.count(b"\n") == 1


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) for name in ("empty.log", "random.bin", "picture.png", "cut.log.gz")],
)
def test_the_tui_gives_the_screen_back_before_it_says_what_is_wrong(
    name: str, terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    content, sentence = CONTENTS[name]
    (tmp_path / name).write_bytes(content)
    screen = terminal("tui", tmp_path / name)
    assert screen.finish() == 2
    said = screen.shown.rpartition(b"\x1b[?1049l")[2].decode()
    assert "trtforensics: error: " in said
    assert sentence in said
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.parametrize("command", ["parse", "graph"])
def test_a_single_line_of_200_megabytes_is_refused_in_seconds(command: str, refuse: Refuse, tmp_path: Path) -> None:
    with (tmp_path / "line.log").open("wb") as file:
        for _ in range(200):
            file.write(b"x" * 1_000_000)
    before = _seconds_of_children()
    assert NOT_A_LOG in refuse(command, tmp_path / "line.log", "-o", "out.json")
    assert _seconds_of_children() - before < 20
    assert list((tmp_path / "cwd").iterdir()) == []


def _seconds_of_children() -> float:
    """Return the processor time of ended processes: unlike the time on the clock, it is the same beside other work."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def document(run: Run, content: bytes, tmp_path: Path, name: str = "build.log") -> dict[str, Any]:
    """Return what `parse --json` says of a content."""
    (tmp_path / name).write_bytes(content)
    done = run("parse", "--json", tmp_path / name)
    assert (done.returncode, done.stderr) == (0, "")
    parsed: dict[str, Any] = json.loads(done.stdout)
    assert sum(parsed["lines"].values()) == parsed["source"]["lines"]
    return parsed


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75, 0.98])
def test_a_log_cut_in_the_middle_of_a_line_is_parsed_as_far_as_it_goes_and_called_truncated(
    share: float, run: Run, tmp_path: Path, log: Path
) -> None:
    whole = log.read_bytes()
    cut = whole[: whole.index(b"\n", int(len(whole) * share)) - 20]
    parsed = document(run, cut, tmp_path)
    assert [one["outcome"] for one in parsed["builds"]] == ["truncated"]
    last = cut.count(b"\n") + 1
    assert parsed["source"]["lines"] == last
    summary = run("parse", tmp_path / "build.log").stdout
    assert f"the last line ({last}) has no line ending, as where a log is cut" in summary
    assert "outcome truncated" in summary
    assert "none" in summary or "does not tell" in summary or share > 0.9
    assert run("graph", tmp_path / "build.log", "-o", "x.dot").returncode == 0


def test_a_complete_log_is_not_called_cut(run: Run, log: Path) -> None:
    summary = run("parse", log).stdout
    assert "outcome passed" in summary
    assert "cut" not in summary


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("crlf.log", lambda text: text.replace(b"\n", b"\r\n")),
        ("powershell.log", lambda text: text.decode().replace("\n", "\r\n").encode("utf-16")),
        ("marked.log", lambda text: b"\xef\xbb\xbf" + text),
        ("build.log.gz", gzip.compress),
        ("build.log.zst", zstandard.compress),
        ("coloured.log", lambda text: b"".join(b"\x1b[33m%b\x1b[0m\n" % line for line in text.splitlines())),
    ],
)
def test_the_same_log_stored_otherwise_says_the_same(
    name: str, change: Callable[[bytes], bytes], run: Run, tmp_path: Path, log: Path
) -> None:
    expected = document(run, log.read_bytes(), tmp_path)
    parsed = document(run, change(log.read_bytes()), tmp_path, name)
    assert parsed["builds"] == expected["builds"]
    assert parsed["lines"] == expected["lines"]


def without_lines(value: Any) -> Any:
    """Return a document without its line numbers."""
    if isinstance(value, dict):
        return {k: without_lines(v) for k, v in value.items() if k not in {"line", "first_line", "last_line"}}
    return [without_lines(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "noise",
    [
        b"step 12: loss 0.31, 4.2 it/s",
        b"",
        b"\0\x01\xff\xfe\x80" * 20,
        b"x" * 10_000,
        "进度 50 %".encode(),
        b"\x1b]0;title\x07\x1b[2J",
        b"\rEpoch 3:  40%|####      |",
    ],
    ids=["program output", "blank", "binary", "10 kB", "other script", "escapes", "progress bar"],
)
def test_lines_of_another_program_in_between_change_nothing_but_line_numbers(
    noise: bytes, run: Run, tmp_path: Path, log: Path
) -> None:
    lines = log.read_bytes().splitlines()
    mixed = [part for i, line in enumerate(lines) for part in ([line, noise] if i % 10 == 0 else [line])]
    expected = document(run, log.read_bytes(), tmp_path)
    parsed = document(run, b"\n".join(mixed) + b"\n", tmp_path)
    others = [build["coverage"].pop("other_lines") for build in (*expected["builds"], *parsed["builds"])]
    assert sum(others[len(expected["builds"]) :]) >= sum(others[: len(expected["builds"])])
    assert without_lines(parsed["builds"]) == without_lines(expected["builds"])
    assert parsed["lines"]["unknown"] == expected["lines"]["unknown"]


def test_a_name_of_10_kilobytes_neither_stops_the_parse_nor_floods_the_summary(
    run: Run, tmp_path: Path, log: Path
) -> None:
    long = b"node_conv2d" + b"_very" * 2000 + b"_long"
    content = log.read_bytes().replace(b"node_conv2d_1", long)
    parsed = document(run, content, tmp_path)
    assert any(long.decode() in one["layer"] for one in parsed["builds"][0]["choices"])
    summary = run("parse", tmp_path / "build.log").stdout
    assert max(map(len, summary.splitlines())) < 200
    assert "node_conv2d_very_very" in summary


def test_nothing_of_the_log_reaches_the_terminal_or_a_graph_as_a_control_character(
    run: Run, tmp_path: Path, log: Path
) -> None:
    content = log.read_bytes().replace(b"node_conv2d_1", b"node\x07\x9b2J\xe2\x80\xae\x1b]0;gotcha\x07node")
    content = content.replace(b"tiny.onnx", b"tiny\x1b[31m\x08.onnx").replace(b"layernorm", b"\x1b[5mlayernorm")
    (tmp_path / "evil.log").write_bytes(content)
    written = run("parse", tmp_path / "evil.log").stdout
    assert "node␇" in written
    for form in ("dot", "graphml", "json"):
        assert run("graph", tmp_path / "evil.log", "-o", f"x.{form}").returncode == 0
        written += (tmp_path / "cwd" / f"x.{form}").read_text(encoding="utf-8")
    written += run("parse", "--json", tmp_path / "evil.log").stdout
    controls = {character for character in written if not character.isprintable()} - {"\n"}
    assert controls == set()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["parse", "graph"])
def test_a_log_longer_than_max_bytes_is_refused(command: str, run: Run, refuse: Refuse, log: Path) -> None:
    size = log.stat().st_size
    for limit in ("1K", "184k", str(size - 1)):
        assert "is larger than" in refuse(command, log, "--max-bytes", limit, "-o", "out.json")
    for limit in (str(size), "185K", "1G"):
        assert run(command, log, "--max-bytes", limit, "-o", "out.json").returncode == 0


def test_a_compressed_log_is_measured_by_its_text(refuse: Refuse, tmp_path: Path) -> None:
    (tmp_path / "bomb.log.gz").write_bytes(gzip.compress(bytes(50_000_000)))
    assert "after decompression" in refuse("parse", tmp_path / "bomb.log.gz", "--max-bytes", "1M")
