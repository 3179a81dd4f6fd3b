"""How fast logs are read, beside grep and beside Lark's own parser: ``python -m tests.benchmarks.parse --help``."""

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
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.emulator import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MEGABYTE = 1_000_000
_SAMPLED_LINES = 400
_KIB = 1024
_NAME = re.compile(r"\bnode_|/(?:stem|body|neck|tokens|block|head)\b")
_TACTIC = re.compile(r"\b0x[0-9a-f]{16}\b")
_TIME = re.compile(r"\b(\d+\.\d+)(\d)\b")


@dataclass(frozen=True, slots=True)
class Process:
    """One run of a command: seconds, and the peak of its resident memory in bytes."""

    seconds: float
    peak: int


@dataclass(slots=True)
class Row:
    """What was measured of a file; rates are in MB of text a second, ``lark`` is extrapolated from a sample."""

    path: Path
    whole: float
    peak: int
    grep: float
    alone: float = 0.0
    lark: float = 0.0


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        files = arguments.files or list(_generated(Path(folder), arguments.mb))
        # A child's peak includes what its parent held when it was started: measure all children before anything is
        # parsed in this process.
        rows = [_measure_processes(path, arguments.runs) for path in files]
        for row in rows:
            row.alone = _rate(row.path, _median(partial(_parse, row.path), arguments.runs))
            row.lark = _lark_rate(row.path)
        _print(rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.parse", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="a plain log (default: two generated ones)")
    parser.add_argument("--mb", type=int, default=20, metavar="N", help="size of each generated log (default: 20)")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="the median of N runs counts (default: 5)")
    return parser.parse_args()


def _generated(folder: Path, megabytes: int) -> Iterator[Path]:
    """Write an emulated log of each form; no block of lines occurs in it twice."""
    for name, make in (("emulated-8.6", build.trtexec_8_6), ("emulated-10.16", build.three_passes)):
        path, text, written = folder / f"{name}.log", make().text(), 0
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for number in range(1 << 20):
                if written >= megabytes * _MEGABYTE:
                    break
                written += file.write(_varied(text, number))
        yield path


def _varied(text: str, number: int) -> str:
    """Return a log with other names, tactics and times, as another build has them."""
    digit = random.Random(number)  # noqa: S311 - nothing secret
    text = _NAME.sub(lambda found: f"{found[0]}b{number}_", text)
    text = _TACTIC.sub(lambda found: f"0x{int(found[0], 16) ^ number:016x}", text)
    return _TIME.sub(lambda found: f"{found[1]}{digit.randrange(10)}", text)


def _measure_processes(path: Path, runs: int) -> Row:
    parse = [sys.executable, "-m", "trtforensics", "parse", "--json", "--quiet", str(path)]
    grep = [_grep(), "-c", "Tactic", str(path)]
    _run(parse)  # the first run may compile the grammars
    parsed, found = [_run(parse) for _ in range(runs)], [_run(grep) for _ in range(runs)]
    return Row(
        path,
        whole=_rate(path, statistics.median(one.seconds for one in parsed)),
        peak=max(one.peak for one in parsed),
        grep=_rate(path, statistics.median(one.seconds for one in found)),
    )


def _grep() -> str:
    found = shutil.which("grep")
    if found is None:
        raise SystemExit("grep is not installed")
    return found


def _run(command: list[str]) -> Process:
    """Run a command whose output is read through a pipe: grep stops at the first match if it writes to /dev/null."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while process.stdout.read(1 << 20):
            pass
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return Process(seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else _KIB))


def _parse(path: Path) -> None:
    from trtforensics.loading import load_build_log  # noqa: PLC0415 - see main: not before the children

    load_build_log([str(path)])


def _lark_rate(path: Path) -> float:
    """Return the rate of Lark's LALR parser with a contextual lexer over lines picked evenly from the file."""
    from trtforensics.parsers import dialects, reference  # noqa: PLC0415 - see main: not before the children

    lines = path.read_bytes().splitlines(keepends=True)
    sample = lines[:: max(1, len(lines) // _SAMPLED_LINES)]
    reference.parse(b"")  # builds its tables
    began = time.perf_counter()
    for line in sample:
        prefix = dialects.prefix_of(line)
        reference.parse(line[prefix.end if prefix else 0 :].rstrip(b"\r\n"))
    return sum(map(len, sample)) / _MEGABYTE / (time.perf_counter() - began)


def _median(work: Callable[[], None], runs: int) -> float:
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def _rate(path: Path, seconds: float) -> float:
    return path.stat().st_size / _MEGABYTE / seconds


def _print(rows: list[Row]) -> None:
    print("MB/s: `parse --json` as a process, file to BuildLog alone, `grep -c Tactic`, plain Lark (extrapolated)")
    print(
        f"{'file':40} {'MB':>7} {'process':>8} {'alone':>8} {'grep':>8} {'grep/alone':>10} {'Lark':>7} {'peak MB':>8}"
    )
    for row in rows:
        size = row.path.stat().st_size / _MEGABYTE
        print(
            f"{row.path.name[:40]:40} {size:7.1f} {row.whole:8.1f} {row.alone:8.1f} {row.grep:8.0f} "
            f"{row.grep / row.alone:10.1f} {row.lark:7.2f} {row.peak / _MEGABYTE:8.0f}"
        )


if __name__ == "__main__":
    main()
