"""Kills the processes that a command, or a whole run, leaves behind, whatever session they are in.

This process is a child subreaper (prctl(2), Linux 3.4): it becomes the parent of every orphan below it, so that its
list of children holds them all, daemons included.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from trtforensics.bisect.runner.placeholders import variable

_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 100
_PAUSE_S = 0.01


def adopt_orphans() -> None:
    """Make this process the parent of the processes that its children leave behind."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def signal_group(group: int, number: int) -> None:
    """Send a signal to a process group, if there still is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def kill_leftovers(leader: int, mark: bytes) -> int:
    """Kill the processes left of a command whose leader has ended, and return how many they were.

    They are those of its session, and those whose environment holds the entry ``mark``. A process that hangs in the
    kernel is given up after a second; a process in another session and without the mark is missed.
    """
    signal_group(leader, signal.SIGKILL)
    killed: set[int] = set()
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


def orphans_of(directory: Path) -> list[int]:
    """Return the processes of an earlier run's probes: those whose environment names a folder in ``directory/probes``.

    They are there if that run and its watchdog were both killed. This process and those above it do not count.
    """
    name = f"{variable('dir')}=".encode()
    orphans = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):  # it ended meanwhile, or is not ours
                entries = (entry / "environ").read_bytes().split(b"\0")
                folders = (os.fsdecode(each.removeprefix(name)) for each in entries if each.startswith(name))
                if any(_is_probe_of(Path(folder), directory) for folder in folders):
                    orphans.append(int(entry.name))
    return [process for process in orphans if process not in _line_of_descent()]


def end_orphans(directory: Path) -> list[int]:
    """Kill the processes of an earlier run's probes; return those that hang in the kernel and stay."""
    for _ in range(_ROUNDS):
        orphans = orphans_of(directory)
        if not orphans:
            return []
        for process in orphans:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(_PAUSE_S)
    return orphans


def _is_probe_of(folder: Path, directory: Path) -> bool:
    return folder.parent.name == "probes" and folder.parent.parent.samefile(directory)


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


def _reap(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:
        return True
