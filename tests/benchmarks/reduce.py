"""``python -m tests.benchmarks.reduce [CASE…]``: ``reduce`` beside other reducers, on models with one planted fault.

Ours is the whole command, with simplifications and certificate, and without simplifications. Polygraphy's ``debug
reduce`` runs as its users run it, in both modes, with a check that builds (or runs the twin) and fails where the model
does. ddmin (picire's) and deletion of chunks of half the size each round (as C-Vise does) get our cuts, recorded inputs
and the comparison of failures, so that their numbers of checks tell what the search is worth. A dash: not run, or not
ended within its time or checks; an exclamation mark: the result fails in another way than the original.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import picire

from tests.benchmarks.reduce_oracle import Oracle
from tests.support.failing_models import CASES, PlantedCase
from trtforensics.onnx_models.cutting import UnknownValueError, take_apart
from trtforensics.onnx_models.drawing import random_samples
from trtforensics.reduce.deriving import Deriver, record
from trtforensics.reduce.failure import Sameness

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Judge = Callable[[Sequence[int]], bool]

MOST_CHECKS = 400
PATIENCE_S = 90
MOST_LINEAR = 104
"""Nodes of a model on which Polygraphy's linear mode, a check a node or more, is run."""

_POLYGRAPHY = "import sys; from polygraphy.tools import main; sys.exit(main())"
"""Polygraphy's command in our interpreter."""
_WITH_TESTS = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
"""The environment in which Polygraphy's check, in another folder, finds this package."""

logging.getLogger("picire").setLevel(logging.ERROR)


@dataclass(frozen=True)
class Reduced:
    """What a reducer came to: nodes left (0: nothing), checks, seconds, whether the result fails as the original."""

    nodes: int
    checks: int
    seconds: float
    same: bool

    def __str__(self) -> str:
        if not self.nodes:
            return f"{'-':>4} {self.checks:>5} {self.seconds:>6.1f}  "
        return f"{self.nodes:>4} {self.checks:>5} {self.seconds:>6.1f} {'' if self.same else '!':<1}"


class SpentError(Exception):
    """A reducer used all the checks that it may."""


def ours(*options: str) -> Callable[[PlantedCase, Path, Path], Reduced]:
    """Return the command with some options."""

    def run(case: PlantedCase, model: Path, folder: Path) -> Reduced:
        how = ("--precision", "fp16") if case.precision else ("--builder", "tensorrt_rtx")
        command = [sys.executable, "-m", "trtforensics", "reduce", str(model), "--artifacts-dir", str(folder / "out")]
        begin = time.monotonic()
        done = subprocess.run([*command, *how, *options, "--json", "--quiet"], capture_output=True, check=False)
        seconds = time.monotonic() - begin
        found = json.loads(done.stdout)
        return Reduced(len(found["reduction"]["left"]), found["builds"], seconds, bool(found["culprits"]))

    return run


def polygraphy(mode: str) -> Callable[[PlantedCase, Path, Path], Reduced]:
    """Return Polygraphy's reducer in a mode."""

    def run(case: PlantedCase, model: Path, folder: Path) -> Reduced:
        kind = "fp16" if case.precision else "rtx"
        count, result = folder / "count", folder / "reduced.onnx"
        line = [sys.executable, "-c", _POLYGRAPHY, "debug", "reduce", str(model), "-o", str(result), "--mode", mode]
        check = [
            "--check",
            sys.executable,
            "-m",
            "tests.benchmarks.reduce_check",
            "polygraphy_debug.onnx",
            kind,
            str(count),
        ]
        begin = time.monotonic()
        try:
            subprocess.run(
                [*line, *check], cwd=folder, env=_WITH_TESTS, capture_output=True, check=False, timeout=PATIENCE_S
            )
        except subprocess.TimeoutExpired:
            return Reduced(0, _lines(count), PATIENCE_S, same=False)
        seconds = time.monotonic() - begin
        if not result.exists():
            return Reduced(0, _lines(count), seconds, same=False)
        left = onnx.load(result)
        return Reduced(len(left.graph.node), _lines(count), seconds, _fails_alike(model, left, kind, folder))

    return run


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def _fails_alike(model: Path, left: onnx.ModelProto, kind: str, folder: Path) -> bool:
    oracle = Oracle(kind, folder)
    before = oracle.failure(onnx.load(model), None, frozenset())
    after = oracle.failure(left, None, frozenset())
    return before is not None and after is not None and not before.difference(after, Sameness.STRICT)


def deleting(delete: Callable[[Judge, int], list[int]]) -> Callable[[PlantedCase, Path, Path], Reduced]:
    """Return a reducer that leaves out nodes, with our cuts and the comparison of failures."""

    def run(case: PlantedCase, model: Path, folder: Path) -> Reduced:
        original = take_apart(str(model))
        deriver = Deriver(original, record(original, random_samples(original.model, {}, 1)[0]))
        oracle = Oracle("fp16" if case.precision else "rtx", folder)
        begin = time.monotonic()
        whole = oracle.failure(original.model, None, frozenset())
        known: dict[frozenset[int], bool] = {}

        def fails(kept: Sequence[int]) -> bool:
            subset = frozenset(kept)
            if subset not in known:
                if oracle.checks >= MOST_CHECKS:
                    raise SpentError
                known[subset] = bool(subset) and judged(subset)
            return known[subset]

        def judged(subset: frozenset[int]) -> bool:
            try:
                derived = deriver.derive(subset)
            except UnknownValueError:
                return False
            cut = frozenset(derived.inputs.keys() - original.sources.keys())
            failure = oracle.failure(derived.model, derived.inputs, cut)
            return failure is not None and whole is not None and not whole.difference(failure, Sameness.STRICT)

        try:
            left = delete(fails, len(original.nodes))
        except SpentError:
            return Reduced(0, oracle.checks, time.monotonic() - begin, same=False)
        return Reduced(len(left), oracle.checks, time.monotonic() - begin, same=True)

    return run


def ddmin(fails: Judge, count: int) -> list[int]:
    """Reduce with picire's ddmin, as it comes."""

    def test(config: list[int], _: object) -> picire.Outcome:
        return picire.Outcome.FAIL if fails(config) else picire.Outcome.PASS

    left: list[int] = picire.DD(test)(list(range(count)))
    return left


def deletion(fails: Judge, count: int) -> list[int]:
    """Leave out chunks from the end to the beginning, of half the size each round, as long as anything can go."""
    left, size = list(range(count)), count // 2
    while size:
        before = len(left)
        for start in range((len(left) - 1) // size * size, -1, -size):
            rest = left[:start] + left[start + size :]
            if fails(rest):
                left = rest
        size = min(size, len(left)) if len(left) < before and size == 1 else size // 2
    return left


REDUCERS: dict[str, Callable[[PlantedCase, Path, Path], Reduced]] = {
    "ours": ours(),
    "ours, nodes only": ours("--keep-values"),
    "polygraphy bisect": polygraphy("bisect"),
    "polygraphy linear": polygraphy("linear"),
    "ddmin": deleting(ddmin),
    "deletion": deleting(deletion),
}


def main() -> None:
    """Run the cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--only", action="append", choices=REDUCERS, default=[])
    args = parser.parse_args()
    reducers = {name: run for name, run in REDUCERS.items() if not args.only or name in args.only}
    if any("polygraphy" in name for name in reducers) and find_spec("onnx_graphsurgeon") is None:
        parser.error("Polygraphy reduces with onnx_graphsurgeon: install it, or choose others by --only")
    print(f"{'case':24} {'nodes':>5} {'known':>5}", *(f"| {name:<18}" for name in reducers), flush=True)
    print(f"{'':24} {'':>5} {'':>5}", *("| left checks  s    " for _ in reducers), flush=True)
    totals = dict.fromkeys(reducers, (0, 0, 0))
    for case in CASES:
        if args.cases and case.name not in args.cases:
            continue
        cells = []
        for name, reduce in reducers.items():
            if name == "polygraphy linear" and case.count > MOST_LINEAR:
                cells.append(f"| {'-    not run':<18}")
                continue
            with tempfile.TemporaryDirectory() as scratch:
                model = Path(scratch, "planted.onnx")
                onnx.save(case.model(), model)
                found = reduce(case, model, Path(scratch))
            right = found.same and abs(found.nodes - case.smallest) <= 1
            ran, good, checks = totals[name]
            totals[name] = (ran + 1, good + right, checks + found.checks)
            cells.append(f"| {found!s:<18}")
        print(f"{case.name:24} {case.count:>5} {case.smallest:>5}", *cells, flush=True)
    for name, (ran, good, checks) in totals.items():
        print(f"{name}: {good} of {ran} at the known minimum ± 1 with the same failure, {checks} checks")


if __name__ == "__main__":
    main()
