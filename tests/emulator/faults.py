"""What goes wrong on demand: a program that dies, hangs, fills its output, or leaves a child behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

CHUNK = 1 << 20


def strike(faults: list[str]) -> None:
    """Let faults happen in order; does not return from those that end or block the process.

    ``fill:BYTES`` prints so many bytes, ``child`` leaves a process behind that ignores the end of this one, ``hang``
    waits without end, ``crash:SIGNAL`` dies of a signal (``SEGV``, and ``KILL`` as when memory runs out), ``exit:N``
    ends with a status, ``raise:TEXT`` raises RuntimeError.
    """
    for fault in faults:
        kind, _, value = fault.partition(":")
        _STRIKES[kind](value)


def _fill(value: str) -> None:
    line = b"[TRT] [V] filling the output until somebody notices " + b"." * 75 + b"\n"
    block = line * (CHUNK // len(line))
    left = int(value)
    sys.stdout.flush()
    while left > 0:
        left -= os.write(1, block[:left])


def _child(_: str) -> None:
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.Popen(["/bin/sh", "-c", "trap '' INT TERM HUP; while :; do sleep 1; done"], **quiet)  # type: ignore[call-overload]


def _hang(_: str) -> None:
    while True:
        time.sleep(3600)


def _crash(value: str) -> None:
    sys.stdout.flush()
    number = signal.Signals[f"SIG{value or 'SEGV'}"]
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    time.sleep(60)


def _exit(value: str) -> None:
    sys.stdout.flush()
    os._exit(int(value))


def _raise(value: str) -> None:
    raise RuntimeError(value)


_STRIKES = {"fill": _fill, "child": _child, "hang": _hang, "crash": _crash, "exit": _exit, "raise": _raise}
