"""Runs the command line: in this process, or as a user does, with pipes or with a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.in_process import run_in_process
from tests.support.repository import LOGS
from tests.support.schemas import problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

COMMAND = (sys.executable, "-m", "trtforensics")
DEADLINE = 300.0
"""Seconds after which a hanging process fails its test."""

PROGRESS = re.compile(r"^trtforensics: reading(:| file ).*\n", re.MULTILINE)
"""What a command says into a pipe every five seconds: only a busy machine gets to see it."""

PARAGRAPH = re.compile(r"trtforensics: error: ([^\n]+)\n")
WITHOUT_POWER = """
import ctypes, os, sys
DROP, OVERRIDE, SEARCH = 24, 1, 2
for power in (OVERRIDE, SEARCH):
    ctypes.CDLL(None).prctl(DROP, power, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Gives up root's right to read and write whatever it likes, then becomes the command (Linux)."""


class Terminal:
    """A process whose stdin, stdout and stderr are one terminal of 100 x 30 (stdout may be a pipe instead).

    With ``writer``, a shell command, stdin is what that prints, and the terminal is the controlling one, as in a shell.
    """

    def __init__(
        self, *arguments: str, cwd: Path, stdout: int | None = None, writer: str | None = None, **environment: str
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        line = [*COMMAND, *arguments]
        if writer is not None:
            line = ["/bin/sh", "-c", f'exec 3<>"$(tty)"; {writer} | {shlex.join(line)}']
        self.process = subprocess.Popen(
            line,
            stdin=slave,
            stdout=slave if stdout is None else stdout,
            stderr=slave,
            cwd=cwd,
            env={**os.environ, "TERM": "xterm-256color", "PAGER": "", **environment},
            start_new_session=True,
        )
        self.settings = termios.tcgetattr(slave)
        os.close(slave)
        self.shown = b""

    def press(self, keys: str) -> None:
        """Type keys."""
        os.write(self._master, keys.encode())

    def wait_for(self, text: bytes) -> None:
        """Read until the terminal has shown a text."""
        deadline = time.monotonic() + DEADLINE
        while text not in self.shown:
            assert time.monotonic() < deadline, f"{text!r} did not appear: {self.shown[-2000:]!r}"
            assert self._read(), f"ended without {text!r}: {self.shown[-2000:]!r}"

    def finish(self) -> int:
        """Read to the end; return the exit code."""
        deadline = time.monotonic() + DEADLINE
        while self._read():
            assert time.monotonic() < deadline, f"still running: {self.shown[-2000:]!r}"
        return self.process.wait(DEADLINE)

    def is_restored(self) -> bool:
        """Whether the terminal echoes and reads lines as it did at the start."""
        return termios.tcgetattr(self._master) == self.settings

    def close(self) -> None:
        """End the process if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        os.close(self._master)

    def _read(self) -> bool:
        """Read what comes within a second; False at the end."""
        if not select.select([self._master], [], [], 1.0)[0]:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux: the last process has closed the terminal
            return False
        self.shown += data
        return bool(data)


@pytest.fixture(autouse=True)
def buffered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes buffer their output, as they do for users: what a buffer still holds fails late."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


@pytest.fixture(autouse=True)
def answers_as_their_schema_says(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hold each ``result.json`` that a test leaves in its folder against the schema."""
    folder: Path | None = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    for path in folder.rglob("result.json") if folder else ():
        assert problems(json.loads(path.read_bytes()), "result") == [], path


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in a folder of its own; its progress is left out of stderr.

    A launcher, and whatever ``subprocess.run`` takes besides a folder and an environment, makes it a process with
    pipes; so does an environment that Python itself reads. The TUI is one too: refused, it leaves its source open.
    """
    folder = tmp_path / "cwd"
    folder.mkdir()

    def go(*arguments: str | Path, launcher: tuple[str, ...] = (), **options: Any) -> subprocess.CompletedProcess[str]:
        words = [*map(str, arguments)]
        alone = launcher or words[:1] == ["tui"] or _of_python(options.get("env")) != _of_python(None)
        if alone or options.keys() - {"cwd", "env"}:
            pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            line = [*launcher, *COMMAND, *words]
            done = subprocess.run(line, timeout=DEADLINE, check=False, **{"cwd": folder, **pipes, **options})
        else:
            done = run_in_process(words, options.get("cwd", folder), options.get("env"))
        out, err = (stream.decode() if stream else "" for stream in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(done.args, done.returncode, out, PROGRESS.sub("", err))

    return go


def _of_python(environment: Mapping[str, str] | None) -> dict[str, str]:
    """Return the variables that Python reads when it starts."""
    variables = os.environ if environment is None else environment
    return {name: value for name, value in variables.items() if name.startswith(("PYTHON", "LC_", "LANG"))}


@pytest.fixture
def refuse(run: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., str]:
    """Run, check that it ends with exit code 2 and one paragraph on stderr only, and return the paragraph."""

    def go(*arguments: str | Path, **options: object) -> str:
        done = run(*arguments, **options)
        assert done.returncode == 2, done.stderr
        assert done.stdout == ""
        found = PARAGRAPH.fullmatch(done.stderr)
        assert found is not None, done.stderr
        assert "Traceback" not in done.stderr
        return found[1]

    return go


@pytest.fixture
def terminal(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., Terminal]:
    """Start the command line in a terminal."""

    def start(
        *arguments: str | Path, stdout: int | None = None, writer: str | None = None, **environment: str
    ) -> Terminal:
        started = Terminal(*map(str, arguments), cwd=tmp_path, stdout=stdout, writer=writer, **environment)
        request.addfinalizer(started.close)
        return started

    return start


@pytest.fixture(scope="session")
def log() -> Path:
    """A trtexec log of three passes, complete."""
    return LOGS / "emulated-trtexec-10.16-three-passes.log"


@pytest.fixture(scope="session")
def powerless(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return a launcher for a process that permissions hold for, also where the tests run as root."""
    launcher = (sys.executable, "-c", WITHOUT_POWER)
    closed = tmp_path_factory.mktemp("powerless") / "closed"
    closed.touch(0o000)
    probe = (sys.executable, "-c", "import os, sys; sys.exit(os.access(sys.argv[1], os.R_OK))", str(closed))
    if subprocess.run([*launcher, *probe], check=False).returncode != 0:
        pytest.skip("this root cannot give up its power over permissions")
    return launcher
