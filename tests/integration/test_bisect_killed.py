"""A bisection that is killed at random moments goes on where it was: nothing finished is lost or done again."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.emulator.trtexec.bench import Bench
from tests.kills import kill_sessions

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bisect and collect run on Linux only"),
    pytest.mark.slow,
]

KILLS = 50
EARLY = 0.2
"""Share of the kills that fall at any moment from the start of the process; the others while it probes."""

STARTING, PROBING = 0.4, 0.35
"""Seconds: within the first a process has begun, within the other it is at its second probe or third."""


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


def builds(bench: Bench) -> set[tuple[object, ...]]:
    """Return what was built: the subset, which build of it; what decides was built twice."""
    return {identity[:2] for identity in finished(bench)}


def killed_at(bench: Bench, moment: float, arguments: tuple[str, ...], *, early: bool) -> bool:
    """Run and kill after so many seconds, counted from the start or from the first new line of the journal.

    Returns whether the run had not ended by itself.
    """
    journal = bench.out / "journal.jsonl"
    before = journal.stat().st_size if journal.exists() else 0
    process = bench.start(bench.command(*arguments))
    while not early and process.poll() is None and not (journal.exists() and journal.stat().st_size > before):
        time.sleep(0.005)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()
    return process.returncode < 0


def killed(bench: Bench, chance: random.Random, arguments: tuple[str, ...]) -> bool:
    early = chance.random() < EARLY
    return killed_at(bench, chance.uniform(0, STARTING if early else PROBING), arguments, early=early)


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
        arguments = "--build", bench.build("--seconds", "0.03"), "--check", bench.check()
        known: set[tuple[object, ...]] = set()
        while killed(bench, chance, arguments):
            kills += 1
            if bench.out.joinpath("journal.jsonl").exists():
                assert known <= finished(bench)
                known = finished(bench)
            if kills == KILLS:
                break
        assert bench.run(*arguments).returncode == 0
        assert bench.culprits() == [{hidden}]
        assert bench.result()["status"] == "certified"
        assert bench.result()["builds"] == len(builds(bench)) <= 6 + 5


def test_a_build_that_outlives_its_killed_bisection_changes_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "--layers", "20", "--seed", "1", "--no-foreign")
    bench.hide((bench.differing[13],))
    arguments = "--build", bench.build("--seconds", "0.4"), "--check", bench.check()
    assert killed_at(bench, 0.7, arguments, early=False)
    begun = len(bench.probes())
    assert bench.run(*arguments).returncode == 0
    time.sleep(0.5)
    assert bench.culprits() == [{bench.differing[13]}]
    assert len(bench.probes()) <= begun + 6 + 5
    assert bench.result()["builds"] == len(builds(bench))


@pytest.mark.parametrize("kind", ["driver", "with watchdog", "building again", "two jobs"])
def test_killed_in_every_way(tmp_path: Path, kind: str) -> None:
    """A sample of what `python -m tests.kills` does."""
    kill_sessions(tmp_path, random.Random(11), 3, kind)
