"""Text for a person goes through the pager on a terminal, and nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.repository import ROOT
from trtforensics.console import pager

if TYPE_CHECKING:
    from pathlib import Path

LOG = str(ROOT / "testdata" / "logs" / "emulated-trtexec-8.6.log")
PAGER = "#!/bin/sh\nprintf '%s\\n' \"LESS=$LESS\" > {folder}/started\n{reads}\n"


def on_terminal(folder: Path, *words: str, reads: str = "cat > {folder}/seen", **changed: str) -> tuple[int, str]:
    """Run a command whose stdout is a terminal; return its exit code and what the terminal got."""
    program = folder / "pager"
    program.write_text(PAGER.format(folder=folder, reads=reads.format(folder=folder)))
    program.chmod(0o755)
    environment = {**os.environ, "TERM": "xterm", "PAGER": str(program), **changed}
    for name in ("LESS", "NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "trtforensics", *words, "--quiet"]
    process = subprocess.Popen(line, stdout=theirs, stderr=subprocess.PIPE, env=environment)
    os.close(theirs)
    printed = b""
    while True:
        try:
            block = os.read(ours, 1 << 16)
        except OSError:  # the last one to write has gone
            break
        if not block:
            break
        printed += block
    os.close(ours)
    _, errors = process.communicate(timeout=60)
    assert errors == b""
    return process.returncode, printed.decode()


def test_a_report_on_a_terminal_goes_to_the_pager_with_its_colours(tmp_path: Path) -> None:
    code, printed = on_terminal(tmp_path, "report", LOG)
    seen = (tmp_path / "seen").read_text()
    assert (code, printed) == (0, "")
    assert LOG in seen
    assert "\x1b[" in seen
    assert (tmp_path / "started").read_text() == "LESS=FRX\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (("report", LOG, "--no-pager"), {}),
        (("report", LOG), {"TERM": "dumb"}),
        (("report", LOG), {"PAGER": ""}),
        (("report", LOG), {"PAGER": "no-such-pager-anywhere"}),
        (("graph", LOG, "-o", "graph.json"), {}),
    ],
)
def test_nothing_goes_to_the_pager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], changed: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, printed = on_terminal(tmp_path, *words, **changed)
    assert code == 0
    assert not (tmp_path / "started").exists()
    assert bool(printed) is (words[0] == "report")


@pytest.mark.slow
def test_a_pager_that_is_left_early_is_no_error(tmp_path: Path) -> None:
    assert on_terminal(tmp_path, "parse", LOG, "--json", reads="head -n 1 > {folder}/seen")[0] == 0
    assert (tmp_path / "seen").read_text() == "{\n"


@pytest.mark.slow
def test_a_pager_that_is_never_asked_for_text_is_not_started(tmp_path: Path) -> None:
    assert on_terminal(tmp_path, "parse", LOG, "-o", str(tmp_path / "facts.txt"))[0] == 0
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("text", ["", "shown"])
def test_a_pager_is_started_by_the_first_text(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = tmp_path / "started"
    monkeypatch.setattr(pager, "_command", lambda: ["sh", "-c", f"cat > {started}"])
    with pager.paged():
        sys.stdout.write(text)
        sys.stdout.flush()
    assert started.exists() is bool(text)
    assert not text or started.read_text() == text
