"""Bisections on a Dask cluster of this machine: a scheduler and workers as processes, as a user starts them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bisect runs on Linux only"),
    pytest.mark.skipif(
        importlib.util.find_spec("distributed") is None, reason="needs the extra `cluster` (distributed)"
    ),
]
DEADLINE = 300
"""Seconds after which a hanging process fails its test."""


class Cluster:
    """A scheduler, and workers that are started as needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")
        log = folder / "scheduler0.log"
        until(lambda: "Scheduler at" in log.read_text())
        found = re.search(r"tcp://(127\.0\.0\.1:\d+)", log.read_text())
        assert found is not None
        self.address = found[1]

    def worker(self, *resources: str) -> subprocess.Popen[bytes]:
        """Start a worker, and wait until it is registered."""
        options = ("--no-nanny", "--nthreads", "2", "--no-dashboard", *resources)
        process = self._start("worker", f"tcp://{self.address}", *options)
        log = self.folder / f"worker{len(self.processes) - 1}.log"
        until(lambda: "Registered to" in log.read_text())
        return process

    def bisect(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a bisection of 16 items on it."""
        (self.folder / "items.txt").write_text("".join(f"item{n}\n" for n in range(16)))
        line = ["bisect", "items", "--items", "items.txt", "--artifacts-dir", "out", "--quiet"]
        return subprocess.run(
            [sys.executable, "-m", "trtforensics", *line, "--executor", f"dask://{self.address}", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            env={**os.environ, **environment},
            check=False,
        )

    def result(self) -> dict[str, Any]:
        """Return result.json."""
        document: dict[str, Any] = json.loads((self.folder / "out" / "result.json").read_text())
        return document

    def commands_with(self, words: bytes) -> list[Path]:
        """Return the processes in this cluster's folder that run a command."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if words in (path / "cmdline").read_bytes() and (path / "cwd").readlink().is_relative_to(self.folder):
                    found.append(path)
            except OSError:
                continue
        return found

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{kind}{len(self.processes)}.log").open("wb") as log:
            line = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments]
            process = subprocess.Popen(line, cwd=self.folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process


def until(holds: Any) -> None:
    for _ in range(DEADLINE * 20):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it never came to hold")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler; everything that was started is ended."""
    made = Cluster(tmp_path)
    yield made
    for process in reversed(made.processes):
        process.kill()
        process.wait()


def test_a_worker_killed_in_the_middle_of_a_probe_loses_no_verdict(cluster: Cluster) -> None:
    """The third build kills the worker that it runs on; the other worker runs that probe again."""
    for _ in range(2):
        cluster.worker("--resources", "GPU=1")
    (cluster.folder / "mine.sh").write_text(
        "case $TRTFORENSICS_PROBE in 0003*) mkdir killed 2>/dev/null && {\n"
        "echo $PPID > dead; kill -9 $PPID; sleep 601; };; esac\n"
        "echo $PPID >> workers; sleep 0.2; cp $TRTFORENSICS_ITEMS $TRTFORENSICS_ENGINE\n"
    )
    done = cluster.bisect("--build", ". ./mine.sh", "--check", "! grep -qx item5 {engine}")
    assert done.returncode == 0, done.stderr
    assert [[member["item"] for member in found] for found in cluster.result()["culprits"]] == [["item5"]]
    assert not any(probe["verdict"] == "unresolved" for probe in cluster.result()["probes"])
    dead = int((cluster.folder / "dead").read_text())
    workers = {int(line) for line in (cluster.folder / "workers").read_text().split()}
    assert len(workers | {dead}) == 2
    until(lambda: not cluster.commands_with(b"sleep\x00601"))
    assert dead in {process.pid for process in cluster.processes if process.poll() == -signal.SIGKILL}


def test_ctrl_c_ends_probes_on_workers(cluster: Cluster) -> None:
    cluster.worker("--resources", "GPU=1")
    (cluster.folder / "items.txt").write_text("a\nb\n")
    line = ["bisect", "items", "--items", "items.txt", "--artifacts-dir", "out", "--check", "echo > began; sleep 600"]
    process = subprocess.Popen(
        [sys.executable, "-m", "trtforensics", *line, "--executor", f"dask://{cluster.address}"],
        cwd=cluster.folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    until((cluster.folder / "began").exists)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130, errors
    journal = (cluster.folder / "out" / "journal.jsonl").read_text().splitlines()
    assert json.loads(journal[-1])["event"] == "stopped"
    until(lambda: not cluster.commands_with(b"sleep\x00600"))


def test_a_scheduler_that_is_lost_is_said(cluster: Cluster) -> None:
    cluster.worker("--resources", "GPU=1")
    killer = f"kill -9 {cluster.processes[0].pid}; sleep 602"
    done = cluster.bisect("--check", killer)
    assert done.returncode == 2
    assert "the scheduler was lost" in done.stderr
    until(lambda: not cluster.commands_with(b"sleep\x00602"))


def test_a_cluster_that_cannot_serve_is_refused(cluster: Cluster) -> None:
    cluster.worker()
    done = cluster.bisect("--check", "true")
    assert done.returncode == 2
    assert "resource GPU" in done.stderr
    with socket.socket() as taken:  # bound, so that nobody else listens there
        taken.bind(("127.0.0.1", 0))
        cluster.address = f"127.0.0.1:{taken.getsockname()[1]}"
        nobody = cluster.bisect("--check", "true", DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s")
    assert nobody.returncode == 2
    assert "no scheduler answers" in nobody.stderr
