"""How a child process ended, in words."""

from __future__ import annotations

import signal

NOT_RUN = frozenset({126, 127})
"""Statuses of a shell for a command that it cannot execute, and for a command that it does not find."""

_SHELL_SIGNAL = 128
"""A shell adds this to the number of the signal that killed its command."""


def describe_exit(status: int) -> str:
    """Describe an exit status; a negative one is minus the number of the signal that killed the process."""
    if status < 0:
        return f"died by {_signal_name(-status)}"
    if status in NOT_RUN:
        why = "not found" if status == max(NOT_RUN) else "cannot be executed"
        return f"exit status {status} (the command is {why})"
    if status > _SHELL_SIGNAL:
        return f"exit status {status} ({_signal_name(status - _SHELL_SIGNAL)})"
    return f"exit status {status}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
