"""Run the fuzzer: ``python -m tests.fuzz --minutes 10 --seed 1 --keep /tmp/found``."""

from __future__ import annotations

import argparse
import os
import random
import secrets
import shlex
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fuzz.checks import check
from tests.fuzz.documents import FILES, check_document, damaged_document
from tests.fuzz.mutations import damaged

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENTS = 0.6
"""The share of inputs that are no logs."""
MOST_MIB = 1024
RESULTS = ("read", "refused")
FAILED = "failed"
ROOT = Path(__file__).resolve().parents[2]


def sources() -> list[list[bytes]]:
    """Return the lines of our own logs and, where there is one, of the corpus."""
    corpus = Path(os.environ.get("TRTFORENSICS_CORPUS") or ROOT.parent / "shared" / "corpus") / "buildlog"
    paths = [*sorted((ROOT / "testdata" / "logs").glob("*.log")), *sorted(corpus.glob("*"))]
    return [path.read_bytes().split(b"\n") for path in paths if path.is_file()]


def outcome(tried: Callable[[], str]) -> tuple[str, float]:
    """Check an input in a process of its own, so that one that dies, or takes too much memory, is a result.

    Return the result and the processor seconds that it took, those of the programs that it ran included.
    """
    child = os.fork()
    if not child:
        code = len(RESULTS)
        try:
            code = RESULTS.index(tried())
        finally:
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    if usage.ru_maxrss > MOST_MIB << 10:
        print(f"took {usage.ru_maxrss >> 10} MiB", flush=True)
        return FAILED, seconds
    return RESULTS[code] if 0 <= code < len(RESULTS) else FAILED, seconds


def main() -> int:
    """Try inputs until the time is over; print how many, and keep what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="processor time of all inputs (default 10)")
    parser.add_argument("--seed", type=int, help="repeat the inputs of a run (default: other inputs each time)")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="the folder for inputs that failed")
    parser.add_argument("inputs", type=Path, nargs="*", help="try these instead, and show what each raises")
    args = parser.parse_args()
    for path in args.inputs:
        kind = path.name.partition("-")[2].partition("-")[2]
        print(path, check_document(kind, path.read_bytes()) if kind in FILES else check(path.read_bytes()))
    if args.inputs:
        return 0
    logs = sources()
    seed = secrets.randbelow(1 << 32) if args.seed is None else args.seed
    print(f"seed {seed}", flush=True)
    for kind in ("replay.json", "layers.json", "cache.json", "trtforensics.toml"):
        check_document(kind, FILES[kind].encode())  # so that the processes that check inputs need not import
    pick = random.Random(seed)  # noqa: S311 - repeatable
    results: Counter[str] = Counter()
    kinds: Counter[tuple[str, str]] = Counter()
    slowest, used, size = 0.0, 0.0, 0
    while used < args.minutes * 60:
        kind = "log"
        if pick.random() < DOCUMENTS:
            kind, data = damaged_document(pick)
        else:
            data = damaged(pick.choice(logs), pick.choice(logs), pick)
        result, seconds = outcome(partial(check_document, kind, data) if kind in FILES else partial(check, data))
        kinds[kind, result] += 1
        results[result] += 1
        if result == FAILED:
            args.keep.mkdir(parents=True, exist_ok=True)
            kept = args.keep / f"{seed}-{results.total()}-{kind}"
            kept.write_bytes(data)
            print(f"failed; see why: python -m tests.fuzz {shlex.quote(str(kept))}", flush=True)
        slowest = max(slowest, seconds)
        used += seconds
        size += len(data)
    print(f"{results.total():,} inputs, {size / 1e6:,.0f} MB, slowest {slowest:.2f} processor s: {dict(results)}")
    print(", ".join(f"{kind} {result} {count:,}" for (kind, result), count in sorted(kinds.items())))
    return 1 if results[FAILED] else 0


if __name__ == "__main__":
    raise SystemExit(main())
