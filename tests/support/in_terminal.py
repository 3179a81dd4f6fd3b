"""Runs a command line in a terminal of its own: ``python -m tests.support.in_terminal TEXT KEYS COMMAND``.

When the terminal has shown TEXT, KEYS are typed; the exit code is the command's. Without TEXT before the command's end,
or within ``DEADLINE`` seconds, it is 1, and what was shown is printed.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

DEADLINE = 300.0
_SIZE = struct.pack("HHHH", 30, 100, 0, 0)


def run_in_terminal(text: bytes, keys: bytes, command: str) -> int:
    """Run the command in a shell, and return its exit code once the text was shown and the keys were typed.

    Raises:
        TimeoutError: the text was not shown, or the command did not end.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, _SIZE)
    surroundings = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(
        ["/bin/bash", "-c", command],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=surroundings,
        start_new_session=True,
    )
    os.close(slave)
    shown = b""
    is_typed = False
    deadline = time.monotonic() + DEADLINE
    while (more := _read(master, deadline)) is not None:
        shown += more
        if text in shown and not is_typed:
            os.write(master, keys)
            is_typed = True
    if not is_typed or time.monotonic() > deadline:
        process.kill()
        raise TimeoutError(f"{text!r} was not shown, or the command did not end: {shown[-2000:]!r}")
    return process.wait()


def _read(master: int, deadline: float) -> bytes | None:
    """Return what the terminal shows next; None when the command has ended or the time is over."""
    if not select.select([master], [], [], max(0.0, deadline - time.monotonic()))[0]:
        return None
    try:
        return os.read(master, 65536) or None
    except OSError:  # Linux's way to say that nobody has the terminal open any more
        return None


if __name__ == "__main__":
    sys.exit(run_in_terminal(sys.argv[1].encode(), sys.argv[2].encode(), sys.argv[3]))
