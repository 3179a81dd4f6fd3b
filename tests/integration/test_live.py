"""`trtforensics tui -` while the build still runs: the log comes through the pipe, the keys from the terminal."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.integration.conftest import Terminal

WRITER = """
import pathlib, sys, time
log, lines, end = sys.argv[1:]
out = sys.stdout.buffer
out.write(b"".join(pathlib.Path(log).read_bytes().splitlines(keepends=True)[: int(lines)]))
out.flush()
try:
    for number in range(6000):  # ten minutes: much longer than the test
        time.sleep(0.1)
        out.write(b"[11/21/2026-10:05:00] [V] [TRT] late line %d\\n" % number)
        out.flush()
except BrokenPipeError:
    pathlib.Path(end).write_text("nobody reads")
"""


@pytest.mark.slow
def test_the_tui_shows_a_build_that_still_runs_and_q_ends_both(
    terminal: Callable[..., Terminal], log: Path, tmp_path: Path
) -> None:
    end = tmp_path / "writer.txt"
    screen = terminal("tui", "-", writer=shlex.join([sys.executable, "-c", WRITER, str(log), "900", str(end)]))
    screen.wait_for(b"10.16.1")  # the overview is there though the pipe is open
    screen.wait_for(b"reading")
    screen.press("4p")
    screen.wait_for(b"=== Model Options ===")  # keys work: without prefixes the line fits
    screen.press("G")
    screen.wait_for(b"late line 50")  # at its end the raw log follows
    screen.press("q")
    assert screen.finish() == 0
    assert end.read_text() == "nobody reads"
    assert screen.shown.count(b"\x1b[?1049l") == 1
    assert screen.is_restored()


@pytest.mark.slow
def test_q_ends_it_though_the_writer_says_nothing(terminal: Callable[..., Terminal], log: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "build.fifo"
    os.mkfifo(fifo)
    writing = os.open(fifo, os.O_RDWR)
    try:
        os.write(writing, log.read_bytes()[:30_000])
        screen = terminal("tui", fifo)
        screen.wait_for(b"10.16.1")
        screen.press("q")
        assert screen.finish() == 0
    finally:
        os.close(writing)


def test_what_is_no_log_closes_the_tui_and_is_said(terminal: Callable[..., Terminal]) -> None:
    screen = terminal("tui", "-", writer="echo nothing of it")
    assert screen.finish() == 2
    assert b"<stdin>: no line carries a TensorRT or trtexec prefix" in screen.shown
    assert screen.is_restored()


def test_without_a_controlling_terminal_there_is_one_sentence(refuse: Callable[..., str], log: Path) -> None:
    assert "it needs a terminal" in refuse("tui", "-", input=log.read_bytes(), stdin=None)
