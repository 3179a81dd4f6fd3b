"""Results on stdout, the rest on stderr: pipes, terminals, full disks, readers that leave, and Ctrl-C."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.integration.conftest import Terminal

    Run = Callable[..., subprocess.CompletedProcess[str]]
    Refuse = Callable[..., str]

COMMAND = (sys.executable, "-m", "trtforensics")
FORMS = {"parse": "out.txt", "graph": "out.graphml"}
IN_BOTH_FORMS = ["parse", pytest.param("graph", marks=pytest.mark.slow)]


def builds(done: subprocess.CompletedProcess[str]) -> object:
    """Return what `parse --json` printed of the builds."""
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["builds"]


@pytest.mark.parametrize(
    "form", ["gzip", *(pytest.param(form, marks=pytest.mark.slow) for form in ("plain", "redirected"))]
)
def test_a_log_from_standard_input_says_what_the_file_says(form: str, run: Run, log: Path) -> None:
    expected = builds(run("parse", "--json", log))
    if form == "redirected":
        with log.open("rb") as file:
            assert builds(run("parse", "--json", "-", stdin=file)) == expected
        return
    content = log.read_bytes() if form == "plain" else gzip.compress(log.read_bytes())
    done = run("parse", "--json", "-", input=content, stdin=None)
    assert builds(done) == expected
    assert json.loads(done.stdout)["source"]["path"] == "<stdin>"


@pytest.mark.slow
def test_a_fifo_streams(run: Run, log: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "build.fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(log.read_bytes(),))
    writer.start()
    parsed = builds(run("parse", "--json", fifo))
    writer.join()
    assert parsed == builds(run("parse", "--json", log))


@pytest.mark.parametrize("content", [b"no log\n", pytest.param(b"", marks=pytest.mark.slow)])
def test_a_pipe_that_brings_no_log_is_refused(content: bytes, refuse: Refuse) -> None:
    assert refuse("parse", "-", input=content, stdin=None).startswith("<stdin>: ")


def test_a_terminal_as_standard_input_is_refused_with_advice(terminal: Callable[..., Terminal]) -> None:
    screen = terminal("parse", "-")
    assert screen.finish() == 2
    assert "<stdin>: nothing is piped in" in screen.shown.decode()


@pytest.mark.parametrize("arguments", [pytest.param(("parse",), marks=pytest.mark.slow), ("parse", "--json")])
def test_a_reader_that_leaves_ends_the_run_quietly(arguments: tuple[str, ...], log: Path) -> None:
    line = shlex.join([*COMMAND, *arguments, str(log)])
    script = f"{line} | head -n 1; test ${{PIPESTATUS[0]}} -eq 0"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("arguments", [("parse", "LOG"), ("--help",)])
def test_a_reader_that_was_never_there_ends_the_run_quietly(arguments: tuple[str, ...], run: Run, log: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run(*(str(log) if word == "LOG" else word for word in arguments), stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("parse", "LOG"),
        ("--version",),
        *(pytest.param(words, marks=pytest.mark.slow) for words in (("parse", "LOG", "--json"), ("--help",))),
    ],
)
def test_a_full_disk_behind_stdout_is_told(arguments: tuple[str, ...], refuse: Refuse, log: Path) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - as a shell opens it
        told = refuse(*(str(log) if word == "LOG" else word for word in arguments), stdout=full)
    assert told.startswith("<stdout>: cannot be written: no space left on device.")


@pytest.mark.slow
def test_a_closed_stdout_is_told_and_a_closed_stderr_is_borne(log: Path) -> None:
    line = shlex.join([*COMMAND, "parse", str(log)])
    done = subprocess.run(["/bin/sh", "-c", f"{line} >&-"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("trtforensics: error: <stdout>: is closed.")
    done = subprocess.run(["/bin/sh", "-c", f"{line}.missing 2>&-"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    done = subprocess.run(["/bin/sh", "-c", f"{line} 2>&-"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Build 1 of 1" in done.stdout


@pytest.mark.parametrize("command", IN_BOTH_FORMS)
def test_a_result_that_cannot_be_written_is_told_and_leaves_nothing(
    command: str, refuse: Refuse, log: Path, tmp_path: Path, powerless: tuple[str, ...]
) -> None:
    name = FORMS[command]
    closed, folder = tmp_path / "closed", tmp_path / name
    closed.mkdir(0o555)
    folder.mkdir()
    assert "its folder does not exist" in refuse(command, log, "-o", f"missing/{name}")
    assert "permission denied" in refuse(command, log, "-o", closed / name, launcher=powerless)
    assert "is a directory" in refuse(command, log, "-o", folder)
    for place in (closed, folder, tmp_path / "cwd"):
        assert list(place.iterdir()) == []


def test_a_full_device_as_output_is_told(refuse: Refuse, log: Path) -> None:
    assert "/dev/full: cannot be written: no space left on device" in refuse("parse", log, "-o", "/dev/full")


@pytest.mark.slow
@pytest.mark.parametrize("command", FORMS)
def test_a_write_protected_file_keeps_what_it_holds(
    command: str, refuse: Refuse, log: Path, tmp_path: Path, powerless: tuple[str, ...]
) -> None:
    output = tmp_path / "cwd" / FORMS[command]
    output.write_text("before")
    output.chmod(0o444)
    assert "permission denied" in refuse(command, log, "-o", output, launcher=powerless)
    assert output.read_text() == "before"
    assert list(output.parent.iterdir()) == [output]


@pytest.mark.slow
@pytest.mark.parametrize("command", FORMS)
def test_bad_input_leaves_the_result_of_an_earlier_run_alone(command: str, refuse: Refuse, tmp_path: Path) -> None:
    output = tmp_path / "cwd" / FORMS[command]
    output.write_text("before")
    refuse(command, "missing.log", "-o", output)
    assert output.read_text() == "before"


@pytest.mark.parametrize("way", ["link", *(pytest.param(way, marks=pytest.mark.slow) for way in ("path", "stdin"))])
def test_a_log_is_never_overwritten_by_what_is_read_from_it(
    way: str, refuse: Refuse, log: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "cwd" / "mine.graphml"
    mine.write_bytes(log.read_bytes())
    (tmp_path / "link.graphml").symlink_to(mine)
    output = tmp_path / "link.graphml" if way == "link" else "../cwd/mine.graphml"
    with mine.open("rb") as stdin:
        source = "-" if way == "stdin" else mine
        for command in FORMS:
            assert "is the source itself" in refuse(command, source, "-o", output, stdin=stdin)
    assert mine.read_bytes() == log.read_bytes()


def test_a_result_goes_to_its_file_and_nothing_to_stdout(run: Run, log: Path, tmp_path: Path) -> None:
    printed = run("parse", log).stdout
    done = run("parse", log, "-o", "out.txt")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "cwd" / "out.txt").read_text(encoding="utf-8") == printed


@pytest.mark.slow
def test_a_stdout_without_our_signs_gets_escapes(run: Run, log: Path) -> None:
    done = run("parse", log, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "\\u2026" in done.stdout


@pytest.fixture
def slow_log(log: Path, tmp_path: Path) -> Iterator[Path]:
    """A FIFO that brings the first half of a log, and the second a second later."""
    fifo = tmp_path / "slow.fifo"
    os.mkfifo(fifo)
    content = log.read_bytes()

    def write() -> None:
        with fifo.open("wb", buffering=0) as stream:
            for part in (content[:90_000], content[90_000:]):
                stream.write(part)
                time.sleep(0.8)

    writer = threading.Thread(target=write)
    writer.start()
    yield fifo
    writer.join()


@pytest.mark.slow
@pytest.mark.parametrize("command", FORMS)
def test_progress_is_drawn_on_a_terminal_and_wiped_again(
    command: str, terminal: Callable[..., Terminal], slow_log: Path
) -> None:
    screen = terminal(command, slow_log, "-o", FORMS[command])
    assert screen.finish() == 0
    drawn, _, after = screen.shown.partition(b"\rreading: ")
    assert drawn == b""
    assert b" lines\r" in after or b" lines " in after
    wiped = after.rpartition(b"\r ")[2]
    assert b"reading" not in wiped


@pytest.mark.slow
@pytest.mark.parametrize("command", FORMS)
def test_quiet_silences_everything_but_errors(
    command: str, terminal: Callable[..., Terminal], slow_log: Path, tmp_path: Path
) -> None:
    screen = terminal(command, slow_log, "-o", FORMS[command], "--quiet")
    assert (screen.finish(), screen.shown) == (0, b"")
    assert (tmp_path / FORMS[command]).stat().st_size > 0
    screen = terminal(command, "missing.log", "-o", FORMS[command], "--quiet")
    assert screen.finish() == 2
    assert b"there is no such file" in screen.shown


def test_only_a_terminal_gets_colour_and_no_color_takes_it_away(
    terminal: Callable[..., Terminal], run: Run, log: Path
) -> None:
    coloured = terminal("parse", log)
    assert coloured.finish() == 0
    assert b"\x1b[1mBuild 1 of 1" in coloured.shown
    plain = terminal("parse", log, NO_COLOR="1")
    assert plain.finish() == 0
    assert b"\x1b" not in plain.shown
    assert "\x1b" not in run("parse", log).stdout


@pytest.mark.parametrize("command", IN_BOTH_FORMS)
def test_an_interrupted_run_says_how_to_start_again_and_leaves_nothing(command: str, tmp_path: Path, log: Path) -> None:
    fifo = tmp_path / "never ending.fifo"
    os.mkfifo(fifo)
    arguments = (command, "never ending.fifo", "-o", FORMS[command], "--quiet")
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with fifo.open("wb", buffering=0) as stream:  # waits until the command has opened it too
        stream.write(log.read_bytes()[:60_000])
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, "")
    again = shlex.join(["trtforensics", *arguments])
    assert err == f"trtforensics: error: interrupted. To start again, run `{again}`.\n"
    assert list(tmp_path.iterdir()) == [fifo]


@pytest.mark.slow
def test_the_tui_needs_a_terminal(refuse: Refuse, log: Path) -> None:
    assert "it needs a terminal" in refuse("tui", log)


def test_the_tui_opens_a_log_and_q_closes_it(terminal: Callable[..., Terminal], log: Path) -> None:
    screen = terminal("tui", log)
    screen.wait_for(b"10.16.1")
    screen.press("q")
    assert screen.finish() == 0
    assert b"\x1b[?1049l" in screen.shown
