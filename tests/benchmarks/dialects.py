"""How fast a log is read whoever wrote it: ``python -m tests.benchmarks.dialects [--mb N]``.

One generated log, as each logger would have written it, its clock ticking in microseconds. Reading alone (from the file
to columns) by processor time in this process; ``x trtexec``: how many times as long a line takes as in trtexec's form,
measured beside it.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from itertools import count
from pathlib import Path

from tests.benchmarks import logs
from tests.support.dialect_forms import FORMS, reprefixed
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.source import open_source

_RUNS = 3
_PLAIN = "trtexec"
_MICROSECONDS = ".123456"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.dialects", description=__doc__)
    parser.add_argument("--mb", type=float, default=10, metavar="N", help="size of the generated log (default: 10)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch, "source.log")
        logs.write(source, (8, 6, 1), arguments.mb)
        text = source.read_text("utf-8")
        paths = {name: _written(Path(scratch, f"{number}.log"), text, name) for number, name in enumerate(FORMS)}
        print(f"{'logger':28}{'MB/s':>8}{'x trtexec':>11}")
        for name, path in paths.items():
            runs = [(_seconds(path), _seconds(paths[_PLAIN])) for _ in range(_RUNS)]
            rate = path.stat().st_size / 1e6 / statistics.median(own for own, _ in runs)
            ratio = statistics.median(own / plain for own, plain in runs)
            print(f"{name:28}{rate:8.0f}{ratio:11.2f}", flush=True)


def _written(path: Path, text: str, name: str) -> Path:
    """Write a log as a logger would have, with a clock that ticks where it prints microseconds."""
    ticks = count()
    lines = reprefixed(text, FORMS[name]).split("\n")
    path.write_text("\n".join(line.replace(_MICROSECONDS, f".{next(ticks) % 10**6:06}") for line in lines), "utf-8")
    return path


def _seconds(path: Path) -> float:
    began = time.process_time()
    scanner = Scanner()
    with open_source(str(path)) as source:
        for window in source.windows():
            scanner.feed(window)
        source.info()
    return time.process_time() - began


if __name__ == "__main__":
    main()
