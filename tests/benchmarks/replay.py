"""How long a replay of a thousand layers takes, beside json and Lark alone: ``python -m tests.benchmarks.replay``."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.replays import large
from trtforensics.parsers.grammar import nested
from trtforensics.replay.lint import Lint
from trtforensics.replay.mixing import Mixer
from trtforensics.replay.writing import to_text
from trtforensics.sources.replay import ReplayFile, load_replay

if TYPE_CHECKING:
    from collections.abc import Callable

_FLOAT_AS_TEXT = '"tactic": "0x1",'


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=1000, help="layers of the replay (default: 1000)")
    parser.add_argument("--runs", type=int, default=5, help="runs of which the median counts (default: 5)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        good, bad = (_written(Path(folder) / f"{seed}.json", arguments.layers, seed) for seed in (0, 1))
        wrong = Path(folder) / "wrong.json"
        wrong.write_text(_every_tactic_wrong(good.read_text()))
        text = good.read_text()
        print(f"{arguments.layers} layers, {len(text) / 1e6:.2f} MB; median of {arguments.runs} runs")
        base = _row("json.loads alone", partial(json.loads, text), arguments.runs)
        _row("load", partial(load_replay, str(good)), arguments.runs, base)
        lark = _row("Lark alone", partial(nested.parser("replay").parse, text), arguments.runs)
        _row("lint with a place for every layer", partial(_lint, str(wrong), arguments.layers), arguments.runs, lark)
        mixer = Mixer(load_replay(str(good)), load_replay(str(bad)))
        half = frozenset(mixer.layers[::2])
        _row("one mix of a bisection", partial(mixer.text, half), arguments.runs, base)


def _written(path: Path, layers: int, seed: int) -> Path:
    path.write_text(to_text(large(layers, seed)))
    return path


def _every_tactic_wrong(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(f"{_FLOAT_AS_TEXT}\n" if '"tactic": ' in line else line for line in lines)


def _lint(path: str, layers: int) -> None:
    file = ReplayFile(path)
    problems = Lint(file.replay, file.place).problems
    if len({problem.span.line for problem in problems}) != layers:
        raise SystemExit("lint did not find a place for every layer")


def _row(name: str, work: Callable[[], object], runs: int, base: float | None = None) -> float:
    taken = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    median = statistics.median(taken)
    ratio = f"{median / base:6.2f} x the row before it that is alone" if base else ""
    print(f"{name:36}{median * 1000:9.1f} ms  {ratio}")
    return median


if __name__ == "__main__":
    main()
