"""A Dask cluster of this machine: a scheduler and workers as processes, as a user starts them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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
    """Wait until something holds."""
    for _ in range(DEADLINE * 20):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it never came to hold")
