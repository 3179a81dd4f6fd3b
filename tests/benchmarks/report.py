"""How long ``report`` takes beside ``parse`` on the same log: ``python -m tests.benchmarks.report LOG…``."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks import bytecode

RUNS = 5
GOAL = 2.0
"""``report`` may take this many times as long as ``parse``."""


def seconds(command: str, path: Path) -> float:
    """Return the processor time of a command, of several runs the least: other programs disturb it least."""
    times = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "trtforensics", command, str(path)], check=True, stdout=subprocess.DEVNULL
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> int:
    """Print the ratio for each log; exit code 1 where one is beyond the goal."""
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        bytecode.keep_in(folder)
        for path in map(Path, sys.argv[1:]):
            parse, report = seconds("parse", path), seconds("report", path)
            worst = max(worst, report / parse)
            size = path.stat().st_size / 1e6
            print(f"{path.name}: {size:.1f} MB, parse {parse:.2f} s, report {report:.2f} s, ratio {report / parse:.2f}")
    return int(worst > GOAL)


if __name__ == "__main__":
    sys.exit(main())
