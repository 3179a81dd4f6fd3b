"""How fast logs are read, beside grep, Lark's own parser and a plain loop: ``python -m tests.benchmarks.parse --help``.

What is in the generated logs, and why, says ``logs.py``. Every command runs with compiled modules, as an installed
package has them, and its output is read through a pipe. The runs of a file take turns, and medians count, so that
whatever else the machine does falls on all of them alike; what is compared is the ratios within one run. On a machine
that does other things at the same time, read the processor seconds: wall time is then the others' as well. What runs in
one process (reading alone, Lark, the loop) is given by processor time.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import bytecode, logs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_NONE = subprocess.DEVNULL  # output that is kept here would count as memory of what is measured: a fork begins with it
_MEGABYTE = 1_000_000
_MEBIBYTE = 1 << 20
_KIB = 1024
_CORPUS_MEGABYTES = 20
_TACTIC = re.compile(rb"\b0x[0-9a-f]{16}\b")
_TIME = re.compile(rb"\b(\d+\.\d+)(\d)\b")


@dataclass(frozen=True, slots=True)
class Process:
    """One run of a command: wall and processor seconds, and the peak resident bytes of any of its processes."""

    seconds: float
    busy: float
    peak: int


@dataclass(slots=True)
class Row:
    """What was measured of a file: processes by name, and rates in MB of text a second."""

    path: Path
    processes: dict[str, list[Process]] = field(default_factory=dict)
    rates: dict[str, list[float]] = field(default_factory=dict)
    megabytes: float = field(init=False)

    def __post_init__(self) -> None:
        self.megabytes = self.path.stat().st_size / _MEGABYTE

    def seconds(self, name: str) -> float:
        """Return the median wall time."""
        return statistics.median(one.seconds for one in self.processes[name])

    def busy(self, name: str) -> float:
        """Return the median processor time, of all processes together."""
        return statistics.median(one.busy for one in self.processes[name])

    def rate(self, name: str) -> float:
        """Return the median rate of a reader."""
        return statistics.median(self.rates[name])

    def times_grep(self) -> float:
        """Return how many times as long as grep two cores take, each compared with the grep that ran beside it."""
        both = zip(self.processes[_TWO], self.processes[_GREP], strict=True)
        return statistics.median(ours.seconds / grep.seconds for ours, grep in both)

    def times_lark(self) -> tuple[float, float]:
        """Return how many times as fast as the Lark that ran beside it is the process on one core, and the reading."""
        lark, alone = self.rates["Lark"], self.rates["alone"]
        whole = [self.megabytes / one.busy for one in self.processes[_ONE]]
        process, reading = (
            statistics.median(ours / theirs for ours, theirs in zip(own, lark, strict=True)) for own in (whole, alone)
        )
        return process, reading

    def peak(self) -> int:
        """Return the largest peak of ours."""
        return max(one.peak for name, runs in self.processes.items() if name != _GREP for one in runs)


_ONE, _TWO, _GREP = "one core", "two cores", "grep -c"
_READERS = ("alone", "loop", "Lark")
"""Of ``rates.py``."""


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        bytecode.keep_in(folder)
        if arguments.corpus is not None:
            _print_corpus(_of_corpus(_corpus_logs(arguments.corpus), folder, arguments.runs))
            return
        files = arguments.files or list(_generated(folder, arguments.mb))
        rows = [row for path in files for row in _measure([path], arguments.runs, rates=True)]
        if arguments.scaling:
            _print_scaling(_scaled(files, folder, arguments))
        _print(rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.parse", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="a plain log (default: generated ones)")
    parser.add_argument("--mb", type=int, default=20, metavar="N", help="size of each generated log (default: 20)")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="the median of N runs counts (default: 5)")
    parser.add_argument("--scaling", action="store_true", help="read generated logs of four times the size as well")
    parser.add_argument(
        "--corpus",
        type=Path,
        metavar="DIR",
        help=f"read each log of DIR instead, repeated and varied to {_CORPUS_MEGABYTES} MB, on one core",
    )
    arguments = parser.parse_args()
    if arguments.scaling and arguments.files:
        parser.error("--scaling compares generated logs; give no FILE")
    return arguments


def _generated(folder: Path, megabytes: int) -> Iterator[Path]:
    for version in logs.MIXES:
        path = folder / f"generated-{version[0]}.{version[1]}-{megabytes}.log"
        logs.write(path, version, megabytes)
        yield path


def _parse(path: Path) -> list[str]:
    return [sys.executable, "-m", "trtforensics", "parse", "--json", "--quiet", str(path)]


def _measure(paths: Sequence[Path], runs: int, *, rates: bool) -> list[Row]:
    cores = sorted(os.sched_getaffinity(0))
    rows = [Row(path) for path in paths]
    _run(_parse(paths[0]), cores)  # the first run compiles the grammars and the modules
    for _ in range(runs):  # all in turn: a ratio is of what ran at the same time
        for row in rows:
            commands = {
                _ONE: (_parse(row.path), cores[:1]),
                _TWO: (_parse(row.path), cores[:2]),
                _GREP: ([_grep(), "-c", "Tactic", str(row.path)], cores[:1]),
            }
            for name, (command, allowed) in commands.items():
                row.processes.setdefault(name, []).append(_run(command, allowed))
            for reader in _READERS if rates else ():
                row.rates.setdefault(reader, []).append(_rate(reader, row.path, cores[:1]))
    return rows


def _rate(reader: str, path: Path, cores: Sequence[int]) -> float:
    """Return what a reader tells of itself, in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.rates", reader, str(path)]
    with _on(cores):
        return float(subprocess.run(command, capture_output=True, check=True).stdout)


@contextmanager
def _on(cores: Sequence[int]) -> Iterator[None]:
    """Have what is started run on these cores."""
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, mine)


def _scaled(files: Sequence[Path], folder: Path, arguments: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure each generated log beside one of four times its size."""
    for small, large in zip(files, _generated(folder, 4 * arguments.mb), strict=True):
        yield _measure([small, large], arguments.runs, rates=False)
        large.unlink()


def _grep() -> str:
    found = shutil.which("grep")
    if found is None:
        raise SystemExit("grep is not installed")
    return found


def _run(command: list[str], cores: Sequence[int]) -> Process:
    """Run a command whose output is read through a pipe: grep stops at the first match if it writes to /dev/null."""
    began = time.perf_counter()
    with _on(cores):
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        while process.stdout.read(1 << 20):
            pass
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return Process(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _KIB)


def _corpus_logs(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _of_corpus(logs: Iterable[Path], folder: Path, runs: int) -> list[Row]:
    """Measure logs repeated, on one core, all in turn; those that are no build logs are left out."""
    core = sorted(os.sched_getaffinity(0))[:1]
    repeated = [_repeated(log, folder / log.name) for log in logs]
    parsed = [subprocess.run(_parse(path), stdout=_NONE, stderr=_NONE, check=False) for path in repeated]
    rows = [Row(path) for path, process in zip(repeated, parsed, strict=True) if not process.returncode]
    for _ in range(runs):
        for row in rows:
            row.processes.setdefault(_ONE, []).append(_run(_parse(row.path), core))
    return rows


def _repeated(log: Path, path: Path) -> Path:
    """Write a log again and again, varied."""
    text, number = log.read_bytes(), 0
    with path.open("wb") as file:
        while text and file.tell() < _CORPUS_MEGABYTES * _MEGABYTE:
            file.write(_varied(text, number))
            number += 1
    return path


def _varied(text: bytes, number: int) -> bytes:
    """Return a log with other tactics and times, as another build has them."""
    digit = random.Random(number)  # noqa: S311 - nothing secret
    text = _TACTIC.sub(lambda found: b"0x%016x" % (int(found[0], 16) ^ number), text)
    return _TIME.sub(lambda found: b"%s%d" % (found[1], digit.randrange(10)), text)


_COLUMNS = (
    "MB",
    "1 core",
    "2 cores",
    "1 CPU",
    "2 CPU",
    "alone",
    "loop",
    "Lark",
    "grep",
    "x grep",
    "x Lark",
    "alone x",
    "MiB",
)


_LEGEND = """\
MB/s of `parse --json` on one core and on two (CPU: by processor time), of the reading alone, of a loop over the kinds,
of Lark (both extrapolated), and of `grep -c Tactic`. x grep: the time on two cores over grep's, by wall; x Lark: how
many times as fast as Lark one core is, by processor time, start-up, choices and JSON included, which Lark's figure has
not; alone x: how many times as fast the reading alone is, which does what Lark does; MiB: the peak of any process"""


def _print(rows: list[Row]) -> None:
    print(_LEGEND)
    print(f"{'file':24}" + "".join(f"{name:>9}" for name in _COLUMNS))
    for row in rows:
        size = row.megabytes
        figures = (
            *(size, size / row.seconds(_ONE), size / row.seconds(_TWO), size / row.busy(_ONE), size / row.busy(_TWO)),
            *(*map(row.rate, _READERS), size / row.seconds(_GREP)),
            *(row.times_grep(), *row.times_lark(), row.peak() / _MEBIBYTE),
        )
        print(f"{row.path.name[:24]:24}" + "".join(f"{figure:9.1f}" for figure in figures))


def _print_scaling(pairs: Iterable[list[Row]]) -> None:
    print("four times the size takes so many times as long (one core, two, by processor time), and so much memory")
    for small, large in pairs:
        runs = [list(zip(small.processes[name], large.processes[name], strict=True)) for name in (_ONE, _TWO)]
        times = [statistics.median(more.seconds / less.seconds for less, more in run) for run in runs]
        times += [statistics.median(more.busy / less.busy for less, more in run) for run in runs]
        factors = "".join(f"{factor:9.2f}" for factor in times)
        print(f"{large.path.name[:24]:24}{factors}{large.peak() / _MEBIBYTE:6.0f} MiB")


def _print_corpus(rows: list[Row]) -> None:
    print(f"MB/s of `parse --json` on one core, logs repeated to {_CORPUS_MEGABYTES} MB, slowest first:")
    print("by wall, by processor time; peak memory")
    for row in sorted(rows, key=lambda row: -row.busy(_ONE) / row.megabytes):
        rates = row.megabytes / row.seconds(_ONE), row.megabytes / row.busy(_ONE)
        print(f"{row.path.name[:56]:56}{rates[0]:8.1f}{rates[1]:8.1f}{row.peak() / _MEBIBYTE:6.0f} MiB")


if __name__ == "__main__":
    main()
