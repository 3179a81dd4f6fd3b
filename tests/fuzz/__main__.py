"""Run the fuzzer: ``python -m tests.fuzz --minutes 10 --seed 1 --keep /tmp/found``."""

from __future__ import annotations

import argparse
import os
import random
import secrets
import shlex
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.checks import check
from tests.fuzz.mutations import damaged

RESULTS = ("read", "refused")
FAILED = "failed"
ROOT = Path(__file__).resolve().parents[2]


def sources() -> list[list[bytes]]:
    """Return the lines of our own logs and, where there is one, of the corpus."""
    corpus = Path(os.environ.get("TRTFORENSICS_CORPUS") or ROOT.parent / "shared" / "corpus") / "buildlog"
    paths = [*sorted((ROOT / "testdata" / "logs").glob("*.log")), *sorted(corpus.glob("*"))]
    return [path.read_bytes().split(b"\n") for path in paths if path.is_file()]


def outcome(data: bytes) -> str:
    """Check an input in a process of its own, so that one that dies is a result like any other."""
    child = os.fork()
    if not child:
        code = len(RESULTS)
        try:
            code = RESULTS.index(check(data))
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return RESULTS[code] if 0 <= code < len(RESULTS) else FAILED


def main() -> int:
    """Try inputs until the time is over; print how many, and keep what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, help="repeat the inputs of a run (default: other inputs each time)")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="the folder for inputs that failed")
    parser.add_argument("inputs", type=Path, nargs="*", help="try these instead, and show what each raises")
    args = parser.parse_args()
    for path in args.inputs:
        print(path, check(path.read_bytes()))
    if args.inputs:
        return 0
    logs = sources()
    seed = secrets.randbelow(1 << 32) if args.seed is None else args.seed
    print(f"seed {seed}", flush=True)
    pick = random.Random(seed)  # noqa: S311 - repeatable
    end = time.monotonic() + args.minutes * 60
    results: Counter[str] = Counter()
    slowest, size = 0.0, 0
    while time.monotonic() < end:
        data = damaged(pick.choice(logs), pick.choice(logs), pick)
        begin = time.monotonic()
        result = outcome(data)
        results[result] += 1
        if result == FAILED:
            args.keep.mkdir(parents=True, exist_ok=True)
            kept = args.keep / f"{seed}-{results.total()}.log"
            kept.write_bytes(data)
            print(f"failed; see why: python -m tests.fuzz {shlex.quote(str(kept))}", flush=True)
        slowest = max(slowest, time.monotonic() - begin)
        size += len(data)
    print(f"{results.total():,} inputs, {size / 1e6:,.0f} MB, slowest {slowest:.2f} s: {dict(results)}")
    return 1 if results[FAILED] else 0


if __name__ == "__main__":
    raise SystemExit(main())
