"""A bisection that is killed at random moments goes on where it was: nothing finished is lost or done again."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.emulator.bench import Bench

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bisect and collect run on Linux only"),
    pytest.mark.slow,
]

KILLS = 50
SOONEST, LATEST = 0.05, 0.75
"""Seconds from the start: from before the directory is there to the middle of a later probe."""


def finished(bench: Bench) -> set[tuple[object, ...]]:
    """Return what the journal has the end of: the subset, which build of it, which check."""
    started = {}
    ended: set[tuple[object, ...]] = set()
    for event in bench.events():
        if event["event"] == "start":
            identity = event["active"], event["build"], event["check"]
            assert identity not in ended, f"run twice: {identity}"
            started[event["probe"], event["check"]] = identity
        elif event["event"] == "end":
            ended.add(started[event["probe"], event["check"]])
    return ended


def killed_at(bench: Bench, moment: float, arguments: tuple[str, ...]) -> bool:
    """Run and kill after so many seconds; whether it had not ended by itself."""
    process = bench.start(bench.command(*arguments))
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()
    return process.returncode < 0


def test_killed_50_times_at_random_moments(tmp_path: Path) -> None:
    chance = random.Random(7)
    kills = sessions = 0
    while kills < KILLS:
        sessions += 1
        folder = tmp_path / str(sessions)
        folder.mkdir()
        bench = Bench(folder, "--layers", "30", "--seed", str(sessions), "--no-foreign")
        hidden = chance.choice(bench.differing)
        bench.hide((hidden,))
        arguments = "--build", bench.build("--seconds", "0.05"), "--check", bench.check()
        known: set[tuple[object, ...]] = set()
        while killed_at(bench, chance.uniform(SOONEST, LATEST), arguments):
            kills += 1
            if bench.out.joinpath("journal.jsonl").exists():
                assert known <= finished(bench)
                known = finished(bench)
            if kills == KILLS:
                break
        assert bench.run(*arguments).returncode == 0
        assert bench.culprits() == [{hidden}]
        assert bench.result()["status"] == "certified"
        assert bench.result()["builds"] == len(finished(bench)) <= 4 + 5


def test_a_build_that_outlives_its_killed_bisection_changes_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "--layers", "20", "--seed", "1", "--no-foreign")
    bench.hide((bench.differing[13],))
    arguments = "--build", bench.build("--seconds", "0.4"), "--check", bench.check()
    assert killed_at(bench, 1.0, arguments)
    begun = len(bench.probes())
    assert bench.run(*arguments).returncode == 0
    time.sleep(0.5)
    assert bench.culprits() == [{bench.differing[13]}]
    assert len(bench.probes()) <= begun + 4 + 5
    assert bench.result()["builds"] == len(finished(bench))
