"""How long a comparison of many replays takes, beside Polygraphy's: ``python -m tests.benchmarks.diff --help``."""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.diff_samples import random_builds, replay_text


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50, help="replays a side (default: 50)")
    parser.add_argument("--layers", type=int, default=500, help="layers of a replay (default: 500)")
    parser.add_argument("--runs", type=int, default=3, help="runs, of which the median is printed (default: 3)")
    parser.add_argument("--no-peer", action="store_true", help="leave Polygraphy out")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), arguments.files, arguments.layers)
        ours = _median([sys.executable, "-m", "trtforensics", "diff", folder, "--json"], arguments.runs)
        size = f"{arguments.files} x {arguments.files} replays of {arguments.layers} layers"
        print(f"{size}: {ours:.2f} s of processor time (required for 50 x 50 of 500: 10 s)")
        if not arguments.no_peer:
            peer = str(Path(sys.executable).with_name("polygraphy"))
            theirs = _median([peer, "inspect", "diff-tactics", "--dir", folder], arguments.runs)
            print(f"polygraphy inspect diff-tactics: {theirs:.2f} s, {theirs / ours:.1f} times ours")


def _write(folder: Path, files: int, layers: int) -> None:
    builds = random_builds(layers, seed=1)
    for side in ("good", "bad"):
        (folder / side).mkdir()
        for number in range(files):
            (folder / side / f"replay_N{number}.json").write_text(replay_text(next(builds)))


def _median(command: list[str], runs: int) -> float:
    """Return the seconds of processor time that the median run of a command takes, whatever else runs here."""
    environment = {**os.environ, "POLYGRAPHY_USE_TENSORRT_RTX": "1"}
    seconds = []
    for _ in range(runs):
        begin = _processor_time()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        seconds.append(_processor_time() - begin)
    return statistics.median(seconds)


def _processor_time() -> float:
    """Return what the children that have ended took so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
