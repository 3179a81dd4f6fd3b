"""Bisections on a Dask cluster of this machine: a scheduler and workers as processes, as a user starts them."""

from __future__ import annotations

import importlib.util
import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.cluster import DEADLINE, Cluster, until
from tests.support.repository import LOGS
from trtforensics.datasets.store import Dataset, columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bisect runs on Linux only"),
    pytest.mark.skipif(
        importlib.util.find_spec("distributed") is None, reason="needs the extra `cluster` (distributed)"
    ),
]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler; everything that was started is ended."""
    made = Cluster(tmp_path)
    yield made
    for process in reversed(made.processes):
        process.kill()
        process.wait()


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_scheduler_that_is_lost_is_said(cluster: Cluster) -> None:
    cluster.worker("--resources", "GPU=1")
    killer = f"kill -9 {cluster.processes[0].pid}; sleep 602"
    done = cluster.bisect("--check", killer)
    assert done.returncode == 2
    assert "the scheduler was lost" in done.stderr
    until(lambda: not cluster.commands_with(b"sleep\x00602"))


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_a_killed_bisection_left_on_a_worker_ends_for_the_next(cluster: Cluster) -> None:
    """The only worker still builds what it was given; the next run takes the ticket back, and has the worker."""
    cluster.worker("--resources", "GPU=1")
    stay = cluster.folder / "stay"
    stay.touch()
    build = "if test -e {dir}/../../../stay; then touch up; sleep 603; fi"
    commands = ("--build", build, "--check", "! grep -qx item5 {items}")
    (cluster.folder / "items.txt").write_text("".join(f"item{n}\n" for n in range(16)))
    line = ["bisect", "items", "--items", "items.txt", "--artifacts-dir", "out", *commands]
    process = subprocess.Popen(
        [sys.executable, "-m", "trtforensics", *line, "--executor", f"dask://{cluster.address}"], cwd=cluster.folder
    )
    until((cluster.folder / "up").exists)
    process.kill()
    process.wait()
    assert cluster.commands_with(b"sleep\x00603")
    stay.unlink()
    done = cluster.bisect(*commands)
    assert done.returncode == 0, done.stderr
    assert not cluster.commands_with(b"sleep\x00603")
    assert [[member["item"] for member in found] for found in cluster.result()["culprits"]] == [["item5"]]


@pytest.mark.slow
def test_an_ingest_loses_no_row_to_a_killed_worker(cluster: Cluster) -> None:
    """A worker is killed when the first parts are there; the dataset has the rows of one that was made here."""
    pytest.importorskip("pyarrow", reason="a dataset needs the extra `table`")
    workers = [cluster.worker(), cluster.worker()]
    logs = cluster.folder / "logs"
    logs.mkdir()
    for path in LOGS.glob("*.log"):
        for number in range(4):
            (logs / f"{number}-{path.name}").write_bytes(path.read_bytes())
    line = [sys.executable, "-m", "trtforensics", "ingest", str(logs), "--quiet", "--into"]
    subprocess.run([*line, "here"], cwd=cluster.folder, check=True, stdout=subprocess.DEVNULL)
    there = [*line, "there", "--executor", f"dask://{cluster.address}"]
    with subprocess.Popen(there, cwd=cluster.folder, stdout=subprocess.PIPE, text=True) as process:
        until(lambda: any((cluster.folder / "there" / "parts").glob("[0-9a-f]*")) or process.poll() is not None)
        workers[0].kill()
        told, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0
    assert told == f"there: {len(list(logs.iterdir()))} read\n"
    one, other = (Dataset.opened(str(cluster.folder / name)) for name in ("here", "there"))
    for name in columns().keys() - {"sources"}:
        tables = (each.table(name).to_table().to_pylist() for each in (one, other))
        left, right = (sorted(map(repr, table)) for table in tables)
        assert left == right, name
    assert one.sources().keys() == other.sources().keys()
