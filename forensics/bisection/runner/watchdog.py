"""A watchdog process: when its parent is gone, for any reason, it kills the processes that the parent left running.

Builds run in sessions of their own, so that Ctrl-C reaches us first; a killed ``bisect`` would leave them on the GPU.
The watchdog reads a pipe whose other end only its parent holds: the pipe closes when the parent ends.
It runs as a plain script in an isolated interpreter and imports next to nothing.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False  # the typing module would double the time this takes to start
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SESSION = "TRTFORENSICS_SESSION"
"""The environment variable that marks the processes of one run."""

_SWEEPS = 50
_PAUSE_S = 0.02


def environments() -> Iterator[tuple[int, list[bytes]]]:
    """Yield each process whose environment we may read, with the entries of that."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):  # it ended meanwhile, or is not ours
                yield int(entry.name), (entry / "environ").read_bytes().split(b"\0")


def carrying(token: str) -> list[int]:
    """Return the processes whose environment names the token."""
    wanted = f"{SESSION}={token}".encode()
    return [process for process, entries in environments() if wanted in entries]


def signal_all(token: str, number: int) -> None:
    """Send a signal to the processes of a run, and to those that they start meanwhile."""
    reached: set[int] = set()
    while fresh := set(carrying(token)) - reached:
        for process in fresh:
            with suppress(OSError):
                os.kill(process, number)
        reached |= fresh


def end_all(find: Callable[[], list[int]]) -> list[int]:
    """Kill processes until none is left to find; return those that hang in the kernel for a second and stay."""
    processes: list[int] = []
    for _ in range(_SWEEPS):
        processes = find()
        if not processes:
            break
        for process in processes:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(_PAUSE_S)
    return processes


def main() -> None:
    """Wait for the parent's end, then kill what it left."""
    os.read(sys.stdin.fileno(), 1)
    end_all(lambda: carrying(sys.argv[1]))


if __name__ == "__main__":
    main()
