"""A watchdog process: when its parent is gone, for any reason, it kills the processes that the parent left running.

Builds run in sessions of their own, so that Ctrl-C reaches us first; a killed ``bisect`` would leave them on the GPU.
The watchdog reads a pipe whose other end only its parent holds: the pipe closes when the parent ends.
It runs as a plain script in an isolated interpreter and imports next to nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

TYPE_CHECKING = False  # the typing module would double the time this takes to start
if TYPE_CHECKING:
    from collections.abc import Iterator

SESSION = "TRTFORENSICS_SESSION"
"""The environment variable that marks the processes of one run."""

_SWEEPS = 50
_PAUSE_S = 0.02


@contextmanager
def guarded() -> Iterator[str]:
    """Run a watchdog over all processes that carry the yielded token in ``SESSION``."""
    token = f"{os.getpid()}-{os.urandom(8).hex()}"
    command = [sys.executable, "-I", "-S", __file__, token]
    null = subprocess.DEVNULL
    watchdog = subprocess.Popen(  # noqa: S603 - our own interpreter and file
        command, stdin=subprocess.PIPE, stdout=null, stderr=null, start_new_session=True
    )
    try:
        yield token
    finally:
        if watchdog.stdin is not None:
            watchdog.stdin.close()
        watchdog.wait()


def carrying(token: str) -> list[int]:
    """Return the processes whose environment names the token."""
    wanted = f"{SESSION}={token}".encode()
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):  # it ended meanwhile, or is not ours
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    processes.append(int(entry.name))
    return processes


def signal_all(token: str, number: int) -> None:
    """Send a signal to the processes of a run, and to those that they start meanwhile."""
    reached: set[int] = set()
    while fresh := set(carrying(token)) - reached:
        for process in fresh:
            with suppress(OSError):
                os.kill(process, number)
        reached |= fresh


def sweep(token: str) -> None:
    """Kill the processes of a run until none is left; one that hangs in the kernel is given up after a second."""
    for _ in range(_SWEEPS):
        processes = carrying(token)
        if not processes:
            return
        for process in processes:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(_PAUSE_S)


def main() -> None:
    """Wait for the parent's end, then sweep."""
    os.read(sys.stdin.fileno(), 1)
    sweep(sys.argv[1])


if __name__ == "__main__":
    main()
