"""Kills the processes that a command, or a whole run, leaves behind, whatever session they are in.

As a child subreaper (prctl(2), Linux 3.4), this process becomes the parent of every orphan below it, of daemons too.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trtforensics.bisection.runner import watchdog
from trtforensics.bisection.runner.placeholders import variable
from trtforensics.bisection.runner.watchdog import end_all, environments
from trtforensics.console.processes import StartedProcess, signal_group

_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 100
_PAUSE_S = 0.01


def adopt_orphans() -> None:
    """Make this process the parent of the processes that its children leave behind."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@contextmanager
def guarded() -> Iterator[str]:
    """Run a watchdog over all processes that carry the yielded token in ``SESSION``."""
    token = f"{os.getpid()}-{os.urandom(8).hex()}"
    command = [sys.executable, "-I", "-S", watchdog.__file__, token]
    null = subprocess.DEVNULL
    process = StartedProcess(command, stdin=subprocess.PIPE, stdout=null, stderr=null, start_new_session=True)
    try:
        yield token
    finally:
        if process.stdin is not None:
            process.stdin.close()
        process.wait()


def kill_leftovers(leader: int, mark: bytes) -> int:
    """Kill the processes left of a command whose leader has ended, and return how many they were.

    They are of its session, or have the entry ``mark`` in their environment; any others are missed. A process that
    hangs in the kernel is given up after a second.
    """
    signal_group(leader, signal.SIGKILL)
    killed = _reaped(leader)
    dying: set[int] = set()
    for _ in range(_ROUNDS):
        orphans = {child for child in _children() if _belongs(child, leader, mark)}
        for child in orphans:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        killed |= orphans
        dying = {child for child in dying | orphans if not _reap(child)}
        if not orphans and not dying:
            break
        if dying:
            time.sleep(_PAUSE_S)
    return len(killed)


def end_orphans(directory: Path) -> list[int]:
    """Kill the processes of an earlier run's probes; return those that hang in the kernel and stay.

    They are those whose environment names a folder in ``directory/probes``, and are there if that run and its watchdog
    were both killed. This process and those above it do not count.
    """
    name, ours = f"{variable('dir')}=".encode(), _line_of_descent()

    def orphans() -> list[int]:
        processes = []
        for process, entries in environments():
            folders = (Path(os.fsdecode(entry.removeprefix(name))) for entry in entries if entry.startswith(name))
            with suppress(OSError):  # the folder is gone
                of_probes = (folder.parent.parent for folder in folders if folder.parent.name == "probes")
                if process not in ours and any(artifacts.samefile(directory) for artifacts in of_probes):
                    processes.append(process)
        return processes

    return end_all(orphans)


def _line_of_descent() -> set[int]:
    """Return this process, its parent, and so on."""
    line = {process := os.getpid()}
    while process > 1:
        process = _parent(process)
        line.add(process)
    return line


def _parent(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def _children() -> list[int]:
    """Return the children of all our threads."""
    children: list[int] = []
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # the thread ended meanwhile, or the kernel keeps no such list
            children += map(int, (thread / "children").read_bytes().split())
    return children


def _belongs(child: int, leader: int, mark: bytes) -> bool:
    try:
        return os.getsid(child) == leader or mark in Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _reaped(leader: int) -> set[int]:
    """Reap the orphans in a group that was killed, and return them; that looks at no file, which may be refused."""
    reaped: set[int] = set()
    with suppress(ChildProcessError):
        for _ in range(_ROUNDS):
            if child := os.waitpid(-leader, os.WNOHANG)[0]:
                reaped.add(child)
            else:
                time.sleep(_PAUSE_S)
    return reaped


def _reap(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:
        return True
