"""What goes wrong on demand: a program that dies, hangs, fills its output, or leaves a child behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

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
    import subprocess  # noqa: PLC0415 - few builds leave a child

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


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what can be made to go wrong, and when."""
    group = parser.add_argument_group("faults")
    group.add_argument("--fill", type=int, metavar="BYTES", help="print so many bytes")
    group.add_argument("--leave-child", action="store_true", help="leave a process behind")
    group.add_argument("--hang", action="store_true", help="never end")
    group.add_argument("--crash", nargs="?", const="SEGV", metavar="SIGNAL", help="die of a signal (default SEGV)")
    group.add_argument("--exit", type=int, metavar="STATUS", help="end with a status")
    group.add_argument("--chance", type=float, default=1.0, help="how likely all that is (default 1)")


def from_arguments(arguments: Namespace, draw: float) -> list[str]:
    """Return the faults asked for; none where ``draw`` (0 to 1) is not within the chance."""
    if draw >= arguments.chance:
        return []
    found = [f"fill:{arguments.fill}"] if arguments.fill else []
    found += ["child"] if arguments.leave_child else []
    found += ["hang"] if arguments.hang else []
    found += [f"crash:{arguments.crash}"] if arguments.crash else []
    return found + ([f"exit:{arguments.exit}"] if arguments.exit is not None else [])


_STRIKES = {"fill": _fill, "child": _child, "hang": _hang, "crash": _crash, "exit": _exit, "raise": _raise}
