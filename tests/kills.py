"""Bisections killed at random moments: `python -m tests.kills [N] [SEED]`.

Each goes on until it ends by itself. Then its answer is the right one, no probe was built again but those that ran when
a kill fell, and no process is left. Killed are the bisection, the bisection and its watchdog, one that builds again for
another check, one with two jobs, and workers of a Dask cluster (where `distributed` is installed).
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Callable

KILLS = 200
ITEMS = 40
EARLY = 0.3
"""Share of the kills that fall at any moment from the start of the process; the others while it probes."""

STARTING, PROBING = 0.6, 0.5
"""Seconds: within the first a process has begun, within the other it is at its second probe or third."""

PATIENCE_S = 300


@dataclass
class Killed:
    """A bisection of 40 items in a folder: an engine is half-written for a while, then whole."""

    folder: Path
    culprit: int
    chance: random.Random
    jobs: int = 1
    kills: int = 0
    in_flight: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        (self.folder / "items.txt").write_text("".join(f"item{number}\n" for number in range(ITEMS)))

    def line(self, culprit: int, *more: str) -> list[str]:
        """Return the command that looks for a culprit."""
        build = "echo {probe} >> built; head -n 1 {items} > {engine}; sleep 0.05; cp {items} {engine}; sleep 0.02"
        check = f"! grep -qx item{culprit} {{engine}}"
        given = ["--items", "items.txt", "--artifacts-dir", "out", "--quiet", "--jobs", str(self.jobs)]
        commands = ["--build", build, "--check", check]
        return [sys.executable, "-m", "trtforensics", "bisect", "items", *given, *commands, *more]

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        """Start the bisection."""
        pipe = subprocess.PIPE
        return subprocess.Popen(self.line(self.culprit, *more), cwd=self.folder, stdout=pipe, stderr=pipe)

    def kill_once(self, kill: Callable[[subprocess.Popen[bytes]], None]) -> bool:
        """Start it and kill it at a random moment; return whether it had not ended by itself."""
        before, process = self.journal_bytes(), self.start()
        early = self.chance.random() < EARLY
        while not early and process.poll() is None and self.journal_bytes() <= before:
            time.sleep(0.005)
        try:
            process.wait(self.chance.uniform(0, STARTING if early else PROBING))
        except subprocess.TimeoutExpired:
            kill(process)
        process.communicate(timeout=PATIENCE_S)
        killed = process.returncode < 0
        if killed:
            self.kills += 1
            self.in_flight.update(self.unfinished())
        return killed

    def journal_bytes(self) -> int:
        """Return the size of the journal."""
        path = self.folder / "out" / "journal.jsonl"
        return path.stat().st_size if path.exists() else 0

    def unfinished(self) -> set[int]:
        """Return the probes that have a start and no end; a torn last line does not count."""
        path = self.folder / "out" / "journal.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        running: set[int] = set()
        for event in map(json.loads, lines):
            if event["event"] == "start":
                running.add(event["probe"])
            elif event["event"] == "run":
                running.clear()
            elif event["event"] in {"end", "stopped"}:
                running.discard(event["probe"])
        return running

    def finish(self) -> None:
        """Run to the end, and look at everything that must hold."""
        process = self.start()
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, (self.folder, errors)
        self.judge()

    def judge(self) -> None:
        """Look at the answer, at what was built, and at what runs."""
        document = json.loads((self.folder / "out" / "result.json").read_text())
        found = [[member["item"] for member in members] for members in document["culprits"]]
        assert (document["status"], found) == ("certified", [[f"item{self.culprit}"]]), (self.folder, found)
        built = Counter(int(line.partition("-")[0]) for line in (self.folder / "built").read_text().split())
        again = {probe: count for probe, count in built.items() if count > 1 + self.in_flight[probe]}
        assert not again, (self.folder, again, self.in_flight)
        assert not left_running(self.folder), self.folder


def kill_driver(process: subprocess.Popen[bytes]) -> None:
    """Kill the bisection."""
    process.kill()


def kill_both(process: subprocess.Popen[bytes]) -> None:
    """Kill the watchdog, then the bisection."""
    for task in Path(f"/proc/{process.pid}/task").glob("*/children"):
        for child in task.read_text().split():
            if b"watchdog.py" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(int(child), signal.SIGKILL)
    process.kill()


def left_running(folder: Path) -> list[str]:
    """Return the processes whose working directory is below a folder, as command lines."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(folder):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def kill_sessions(folder: Path, chance: random.Random, kills: int, kind: str) -> int:
    """Kill bisections of a kind so often; return the number of bisections."""
    done = sessions = 0
    while done < kills:
        sessions += 1
        place = folder / f"{kind}{sessions}".replace(" ", "-")
        place.mkdir()
        run = Killed(place, chance.randrange(ITEMS), chance, jobs=2 if kind == "two jobs" else 1)
        if kind == "building again":
            culprit, run.culprit = run.culprit, (run.culprit + 11) % ITEMS
            run.finish()
            (place / "built").unlink()
            run.culprit = culprit
        while done + run.kills < kills and run.kill_once(kill_both if kind == "with watchdog" else kill_driver):
            pass
        done += run.kills
        run.finish()
    return sessions


def kill_workers(folder: Path, chance: random.Random, kills: int) -> int:
    """Kill workers of a cluster of two; return the number of bisections."""
    done = sessions = 0
    cluster = Cluster(folder)
    workers = [cluster.worker("--resources", "GPU=1") for _ in range(2)]
    try:
        while done < kills:
            sessions += 1
            place = folder / f"bisection{sessions}"
            place.mkdir()
            run = Killed(place, chance.randrange(ITEMS), chance, jobs=2)
            process = run.start("--executor", f"dask://{cluster.address}")
            while not run.journal_bytes():
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 2 * PROBING))
            run.in_flight.update(dict.fromkeys(run.unfinished(), 2))  # a scheduler may start its probe twice
            victim = chance.randrange(2)
            workers[victim].kill()
            workers[victim].wait()
            done += 1
            workers[victim] = cluster.worker("--resources", "GPU=1")
            _, errors = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0, (place, errors)
            run.judge()
    finally:
        for started in reversed(cluster.processes):
            started.kill()
            started.wait()
    return sessions


def main() -> None:
    """Kill, and print what was killed."""
    words = [int(word) for word in sys.argv[1:]]
    kills, seed = (*words, *(KILLS, 1)[len(words) :])
    chance = random.Random(seed)  # noqa: S311 - moments to kill at, no secrets
    kinds = {"driver": 0.3, "with watchdog": 0.3, "building again": 0.2, "two jobs": 0.15}
    with tempfile.TemporaryDirectory() as scratch:
        for kind, share in kinds.items():
            number = max(1, round(kills * share))
            sessions = kill_sessions(Path(scratch), chance, number, kind)
            print(f"{kind}: {number} kills, {sessions} bisections", flush=True)
        if importlib.util.find_spec("distributed") is not None:
            number = max(1, round(kills * (1 - sum(kinds.values()))))
            (folder := Path(scratch, "cluster")).mkdir()
            print(f"Dask workers: {number} kills, {kill_workers(folder, chance, number)} bisections", flush=True)


if __name__ == "__main__":
    main()
