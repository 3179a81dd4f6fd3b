"""Processes that we start: none is left running where a call is refused, time is up, or Ctrl-C comes."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    _Popen = subprocess.Popen[bytes]
else:
    _Popen = subprocess.Popen  # Python 3.8, which builds may run in, has no generic one


NOT_RUN = frozenset({126, 127})
"""Statuses of a shell for a command that it cannot execute, and for a command that it does not find."""

_SHELL_SIGNAL = 128
"""A shell adds this to the number of the signal that killed its command."""


class StartedProcess(_Popen):
    """A program that is ended where its start fails.

    The standard library leaves it running where a call is refused, or Ctrl-C comes, after its start and before it is
    known to have begun.
    """

    def __init__(self, line: list[str], **options: Any) -> None:  # noqa: ANN401 - whatever Popen takes
        with ExitStack() as failing:
            failing.callback(self.end)
            super().__init__(line, **options)
            failing.pop_all()

    def end(self) -> None:
        """Kill it, if it runs, with its process group, if it leads one, and wait for it."""
        if self.pid is None or self.poll() is not None:
            return
        signal_group(self.pid, signal.SIGKILL)
        self.kill()  # the group is not there yet where the program has not begun
        self.wait()


def signal_group(group: int, number: int) -> None:
    """Send a signal to a process group, if there still is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def completed(
    line: list[str], data: bytes | None = None, timeout: float | None = None, folder: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a helper, in ``folder``, to its end and return its output; ``data`` is its input, none where that is None.

    It is killed when the system refuses a call (an OSError) or after ``timeout`` seconds (TimeoutExpired).
    """
    stdin = subprocess.DEVNULL if data is None else subprocess.PIPE
    with StartedProcess(line, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as process:
        try:
            output, errors = process.communicate(data, timeout)
        finally:
            process.end()
    return subprocess.CompletedProcess(line, process.returncode, output, errors)


def describe_exit(status: int) -> str:
    """Describe an exit status; a negative one is minus the number of the signal that killed the process."""
    if status < 0:
        return f"died by {_signal_name(-status)}"
    if status in NOT_RUN:
        why = "is not found" if status == max(NOT_RUN) else "cannot be executed"
        return f"exit status {status} (the command {why})"
    if status > _SHELL_SIGNAL:
        return f"exit status {status} ({_signal_name(status - _SHELL_SIGNAL)})"
    return f"exit status {status}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
