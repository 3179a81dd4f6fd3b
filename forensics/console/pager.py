"""Long text on a terminal goes through the user's pager, as `git` does it."""

import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_USUAL = "less"
_LESS = "FRX"
"""Ends at once where the text fits the screen, shows colours, leaves the text on the screen at its end."""


class _Pager(io.TextIOBase):
    """A standard output that starts the pager with the first text: progress is shown before, and nothing after it."""

    encoding = "utf-8"

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[str] | None = None

    def isatty(self) -> bool:
        """Whether it is a terminal: what is written is shown on one, so it may have colour."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the pager's input."""
        return self._input().fileno()

    def write(self, text: str) -> int:
        """Send text to the pager; BrokenPipeError where the user has left it."""
        return self._input().write(text) if text else 0

    def flush(self) -> None:
        """Have the pager see what was written; nothing once its input is closed: Python 3.13 flushes when it ends."""
        if self._process is not None and not self._input().closed:
            self._input().flush()

    def finish(self) -> None:
        """Wait until the user has read to the end; interrupts are the pager's."""
        if self._process is None:
            return
        with suppress(BrokenPipeError):
            self._input().close()
        while self._process.poll() is None:
            with suppress(KeyboardInterrupt):
                self._process.wait()

    def _input(self) -> io.TextIOBase:
        if self._process is None:
            known = {"LESS": _LESS, **os.environ}
            self._process = subprocess.Popen(  # noqa: S603 - the user's own pager
                self._command, stdin=subprocess.PIPE, env=known, encoding="utf-8", errors="backslashreplace"
            )
        stream = self._process.stdin
        assert isinstance(stream, io.TextIOBase)  # noqa: S101 - it was asked for
        return stream


@contextmanager
def paged() -> Iterator[None]:
    """Send what is printed to ``$PAGER`` (else ``less``) where stdout is a terminal and there is such a program."""
    command = _command()
    if not command:
        yield
        return
    before = sys.stdout
    pager = _Pager(command)
    sys.stdout = pager
    try:
        yield
    finally:
        sys.stdout = before
        pager.finish()


def _command() -> list[str]:
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("TERM") in {None, "", "dumb"}:
        return []
    command = shlex.split(os.environ.get("PAGER", _USUAL))
    return command if command and shutil.which(command[0]) else []
