"""Run the fuzzer: ``python -m tests.fuzz --minutes 10 --seed 1 --keep /tmp/found``."""

from __future__ import annotations

import argparse
import os
import random
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.fuzz.checks import check
from tests.fuzz.mutations import damaged

ROOT = Path(__file__).resolve().parents[2]


def sources() -> list[list[bytes]]:
    """Return the lines of our own logs and, where there is one, of the corpus."""
    corpus = Path(os.environ.get("TRTFORENSICS_CORPUS") or ROOT.parent / "shared" / "corpus") / "buildlog"
    paths = [*sorted((ROOT / "testdata" / "logs").glob("*.log")), *sorted(corpus.glob("*"))]
    return [path.read_bytes().split(b"\n") for path in paths if path.is_file()]


def main() -> int:
    """Try inputs until the time is over; print how many, and keep what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="the folder for inputs that failed")
    args = parser.parse_args()
    logs = sources()
    pick = random.Random(args.seed)  # noqa: S311 - repeatable
    end = time.monotonic() + args.minutes * 60
    results: Counter[str] = Counter()
    slowest, size = 0.0, 0
    while time.monotonic() < end:
        data = damaged(pick.choice(logs), pick.choice(logs), pick)
        begin = time.monotonic()
        try:
            results[check(data)] += 1
        except Exception as bug:  # noqa: BLE001 - a fuzzer looks for any
            where = traceback.extract_tb(bug.__traceback__)[-1]
            name = f"{type(bug).__name__}-{Path(where.filename).stem}-{where.lineno}"
            results[name] += 1
            args.keep.mkdir(parents=True, exist_ok=True)
            (args.keep / f"{name}-{results.total()}.log").write_bytes(data)
        slowest = max(slowest, time.monotonic() - begin)
        size += len(data)
    print(f"{results.total():,} inputs, {size / 1e6:,.0f} MB, slowest {slowest:.2f} s: {dict(results)}")
    return 1 if set(results) - {"read", "refused"} else 0


if __name__ == "__main__":
    raise SystemExit(main())
