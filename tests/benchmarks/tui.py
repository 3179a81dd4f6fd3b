"""How fast the TUI answers on a large log: ``python -m tests.benchmarks.tui LOG``, in a terminal of 200x60.

It drives the program through a pseudo-terminal and prints the first paint, the time until a key is answered while the
log is parsed and after, the bytes that a key sends to the terminal, the peak of memory, and the same keys in ``less``.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path
from statistics import median

from tests.benchmarks import bytecode

COLUMNS, ROWS = 200, 60
QUIET_S = 0.15
"""A terminal that gets nothing for so long has got all that a key brings."""
FRAME_S = 0.02
"""Textual paints sixty times a second at most."""
PATIENCE_S = 120.0
EPILOG = """\
It prints, in this order:
  first paint           from the start of the process until the panes are drawn
  keys while parsing    from ? until the help is drawn, again and again until the log is parsed
  parsed after          from the start of the process until the overview shows the builds
  j, page down          in the raw log and in the layers: until the first bytes, and the bytes of one key;
                        what follows the cursor once it rests is not counted
  filter, a key         each key of a filter, until the first bytes
  peak memory           of the process, and the most seen of it and its children while the log is parsed
  less                  the same page down in less -N, the time to its end, its memory; left out without less

Times are wall times: on a busy machine they are too long. It needs Linux, and some minutes for 1.5 million lines.
"""
RESTS_S = 0.1
"""After so long without a key the other panes follow the cursor."""


class Terminal:
    """A program in a pseudo-terminal. ``output`` is all that it has written."""

    def __init__(self, command: list[str]) -> None:
        self.began = time.monotonic()
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            os.execvp(command[0], command)  # noqa: S606 - the command of the benchmark
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.output = b""
        self.tree_mib = 0.0
        """The most memory that the program and its children had at one look, in MiB."""

    def read(self, seconds: float) -> bytes:
        """Return what comes within some time, at once when something has come."""
        if not select.select([self.descriptor], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.descriptor, 1 << 20)
        except OSError:  # Linux says so when the program has ended
            return b""
        self.output += data
        return data

    def write(self, keys: bytes) -> float:
        """Press keys; return the moment."""
        os.write(self.descriptor, keys)
        return time.monotonic()

    def until(self, pattern: bytes, start: int = 0) -> float:
        """Read until the output from ``start`` on holds a pattern; return the moment."""
        end = time.monotonic() + PATIENCE_S
        while re.search(pattern, self.output[start:]) is None:
            if time.monotonic() > end:
                raise TimeoutError(pattern)
            self.read(0.02)
        return time.monotonic()

    def settle(self) -> int:
        """Read until nothing comes; return how many bytes came."""
        before = len(self.output)
        while self.read(QUIET_S):
            pass
        return len(self.output) - before

    def answer(self, keys: bytes) -> tuple[float, int]:
        """Press keys in quiet; return the seconds until the first bytes, and how many came before the cursor rests."""
        before = len(self.output)
        pressed = self.write(keys)
        while not self.read(PATIENCE_S):
            pass
        first = time.monotonic() - pressed
        while self.read(RESTS_S / 2):
            pass
        size = len(self.output) - before
        time.sleep(RESTS_S)
        self.settle()
        return first, size

    def peak_mib(self) -> float:
        """Return the peak of the program's memory, in MiB."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmHWM:\s+(\d+)", status)
        return int(found[1]) / 1024 if found else 0.0

    def look_at_memory(self) -> None:
        """Add up what the program and its children have now."""
        total, processes = 0, [self.pid]
        for process in processes:  # it grows while it is walked
            with contextlib.suppress(OSError):
                folder = Path(f"/proc/{process}")
                processes += map(int, " ".join(p.read_text() for p in folder.glob("task/*/children")).split())
                found = re.search(r"VmRSS:\s+(\d+)", (folder / "status").read_text())
                total += int(found[1]) if found else 0
        self.tree_mib = max(self.tree_mib, total / 1024)

    def end(self) -> None:
        """End the program."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)


def shown(name: str, values: list[float], unit: str = "ms", scale: float = 1000) -> None:
    """Print the median, the 95th percentile and the worst of some values."""
    ordered = sorted(value * scale for value in values)
    p95 = ordered[min(len(ordered) - 1, round(len(ordered) * 0.95))]
    print(f"{name}: median {median(ordered):.0f}, p95 {p95:.0f}, worst {ordered[-1]:.0f} {unit} ({len(ordered)} keys)")


def while_parsing(terminal: Terminal) -> list[float]:
    """Open and close the help again and again until the log is parsed; return the seconds until each is shown."""
    seconds = []
    while re.search(rb"line [\d,]+ of|TensorRT \d", terminal.output) is None:
        at = len(terminal.output)
        pressed = terminal.write(b"?")
        seconds.append(terminal.until(rb"Go somewhere", at) - pressed)
        terminal.write(b"q")
        terminal.look_at_memory()
        time.sleep(0.05)
        while terminal.read(FRAME_S):  # or what is left of this help would be taken for the next one
            pass
    return seconds


def opened(path: str) -> Terminal:
    """Start the TUI; return once it is drawn."""
    terminal = Terminal([sys.executable, "-m", "trtforensics", "tui", path])
    terminal.until(rb"Findings")
    return terminal


def tui(path: str) -> None:
    """Measure the TUI."""
    terminal = opened(path)
    try:
        print(f"first paint: {time.monotonic() - terminal.began:.2f} s")
        shown("keys while parsing", while_parsing(terminal))
        print(f"parsed after: {time.monotonic() - terminal.began:.1f} s")
        terminal.settle()
        time.sleep(5)  # the rules run
        terminal.settle()
        for pane, name in ((b"4", "raw log"), (b"2", "layers")):
            terminal.answer(pane)
            for keys, key in ((b"j", "j"), (b"\x1b[6~", "page down")):
                answers = [terminal.answer(keys) for _ in range(30)]
                shown(f"{name}, {key}", [seconds for seconds, _ in answers])
                shown(f"{name}, {key}, size", [size for _, size in answers], "bytes", 1)
            terminal.write(b"j" * 30)
            print(f"{name}, 30 keys at once: {terminal.settle():,} bytes, what follows the cursor included")
        terminal.answer(b"f")
        shown("filter, a key", [terminal.answer(bytes([key]))[0] for key in b"conv"])
        print(f"peak memory: {terminal.peak_mib():.0f} MiB, while parsing with children {terminal.tree_mib:.0f} MiB")
    finally:
        terminal.end()


def less(path: str) -> None:
    """Measure the keys that ``less`` has too."""
    program = shutil.which("less")
    if program is None:
        print("less: not installed")
        return
    terminal = Terminal([program, "-N", path])
    try:
        terminal.settle()
        shown("less, page down", [terminal.answer(b" ")[0] for _ in range(30)])
        at = len(terminal.output)
        pressed = terminal.write(b"G")
        terminal.until(rb"END", at)
        print(f"less, to the end with line numbers: {time.monotonic() - pressed:.1f} s")
        print(f"less, peak memory: {terminal.peak_mib():.0f} MiB")
    finally:
        terminal.end()


def _arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.tui",
        description=f"Measure how fast the TUI answers on a large log, in a terminal of {COLUMNS}x{ROWS}.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("log", help="a build log as a plain file")
    return parser


def main() -> int:
    """Measure both on one log."""
    path = _arguments().parse_args().log
    with Path(path).open("rb") as stream:
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(1 << 22), b""))
    print(f"{Path(path).name}: {Path(path).stat().st_size / 1e6:.0f} MB, {lines:,} lines, {COLUMNS}x{ROWS}")
    with tempfile.TemporaryDirectory() as folder:
        bytecode.keep_in(folder)
        compiling = opened(path)  # Textual's modules
        while_parsing(compiling)
        compiling.end()
        tui(path)
    less(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
