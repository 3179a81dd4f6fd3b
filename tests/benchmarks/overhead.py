"""What a probe costs besides its commands: `python -m tests.benchmarks.overhead [N]`.

It runs N builds with `true` as build and check (`collect`), and beside it the same shell commands alone, so that
the ratio says what is ours. It also counts the flushes to the disk, and bisects N items with `true` builds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.bisection.levers.items import ItemsLever
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search import Search
from trtforensics.bisection.session.bisection import bisect
from trtforensics.bisection.session.collection import CollectionLever, RepeatedBuilds, collect

if TYPE_CHECKING:
    from collections.abc import Callable

PROBES = 1000


class Flushes:
    """Counts calls that wait for the disk, and the time they take."""

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0

    def counted(self, flush: Callable[[int], None]) -> Callable[[int], None]:
        """Return the same call, counted."""

        def call(descriptor: int) -> None:
            begin = time.perf_counter()
            flush(descriptor)
            self.seconds += time.perf_counter() - begin
            self.count += 1

        return call


def bare(count: int) -> float:
    """Return the seconds of `count` builds and checks without anything of ours."""
    begin = time.perf_counter()
    for _ in range(count * 2):
        subprocess.run(["/bin/sh", "-c", "true"], stdin=subprocess.DEVNULL, check=True, start_new_session=True)
    return time.perf_counter() - begin


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else PROBES
    flushes = Flushes()
    os.fsync, os.fdatasync = flushes.counted(os.fsync), flushes.counted(os.fdatasync)  # type: ignore[assignment]
    options = RunOptions(build="true", check="true")
    with tempfile.TemporaryDirectory() as scratch:
        begin, before = time.perf_counter(), os.times()
        collect(Path(scratch, "collect"), RepeatedBuilds(count), CollectionLever("engine"), options, lambda _text: None)
        ours, after = time.perf_counter() - begin, os.times()
        cpu = after.user + after.system - before.user - before.system
        told = f"{flushes.count / count:.2f} flushes a probe, {flushes.seconds / count * 1e3:.2f} ms of it"
        plain = bare(count)
        per = 1e3 / count
        print(f"collect, {count} probes: {ours * per:.2f} ms a probe; the commands alone {plain * per:.2f} ms")
        print(f"  ours: {(ours - plain) * per:.2f} ms a probe, {ours / plain:.2f} times the commands alone; {told}")
        print(f"  processor time of this process: {cpu / count * 1e3:.2f} ms a probe")
        names = [f"layer {number}" for number in range(count)]
        backend = ItemsLever(names)
        check = f"! grep -qx 'layer {count // 3}' {{items}}"
        begin = time.perf_counter()
        answer, _ = bisect(
            Path(scratch, "bisect"),
            backend,
            Search(backend.items),
            RunOptions(build="true", check=check),
            lambda _text: None,
        )
        took, builds = time.perf_counter() - begin, answer.builds
        print(f"bisect, {count} items: {builds} probes, {took / builds * 1e3:.2f} ms a probe, {answer.status}")


if __name__ == "__main__":
    main()
