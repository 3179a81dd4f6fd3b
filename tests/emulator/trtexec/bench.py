"""A folder in which a user bisects builds of the emulator: its replays, its hidden culprits, its commands."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.emulator.engine.files import culprits_of, read_replay
from tests.emulator.trtexec import cli as trtexec_cli
from tests.support.repository import ROOT, import_path

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = (sys.executable, "-m", "trtforensics")
DEADLINE = 300.0
"""Seconds after which a hanging process fails its test."""

QUICK = (sys.executable, "-S", "-m")
"""How a module of the emulator starts: without the packages that it does not need (but a model needs onnx)."""


class Bench:
    """Good and bad replays of one generated network; ``net`` are the options of the emulator that say which."""

    def __init__(self, folder: Path, *net: str, python: tuple[str, ...] = QUICK) -> None:
        self.folder = folder
        self.net = net
        self.python = shlex.join(python)
        self.out = folder / "out"
        self.checks = folder / "checks"
        self.replay("good.json", "--luck", "pair")
        self.replay("bad.json", "--luck", "pair", "--runner-up")
        self.good, self.bad = read_replay(folder / "good.json"), read_replay(folder / "bad.json")

    def replay(self, name: str, *options: str) -> None:
        """Build here and keep the replay."""
        log = self.folder / f"{name}.log"
        line = [*self.net, *options, "--save-replay", str(self.folder / name), "--log", str(log)]
        assert trtexec_cli.main(line) == 0, log.read_text()

    @property
    def differing(self) -> list[str]:
        """The layers whose entries differ, or that only one side has, in the order of the bad build."""
        names = dict.fromkeys([*self.bad, *self.good])
        return [name for name in names if self.bad.get(name) != self.good.get(name)]

    def hide(self, *sets: tuple[str, ...], name: str = "hidden.json") -> None:
        """Make the engines bad that run all layers of a set as the bad replay has them."""
        (self.folder / name).write_text(json.dumps(culprits_of(self.folder / "bad.json", *sets)))

    def build(self, *options: str, replay: str = "--replay {replay}") -> str:
        """Return a build command."""
        return (
            f"{self.python} tests.emulator.trtexec.cli {shlex.join([*self.net, *options])} {replay} --engine {{engine}}"
        )

    def check(self, *options: str, name: str = "hidden.json") -> str:
        """Return a check command; every check adds a byte to the file ``checks``."""
        words = ["--culprits", str(self.folder / name), "--save-tally", str(self.checks), *options]
        return f"{self.python} tests.emulator.trtexec.check {{engine}} {shlex.join(words)}"

    def command(self, *arguments: str) -> list[str]:
        """Return the line of a bisection."""
        given = ["bisect", "tactics", "--good", "good.json", "--bad", "bad.json", "--artifacts-dir", "out", "--quiet"]
        return [*COMMAND, *given, *arguments]

    def start(self, line: list[str]) -> subprocess.Popen[str]:
        """Start a command."""
        return subprocess.Popen(  # the caller waits or kills
            line,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": import_path(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, line: list[str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a bisection, or another command, to its end."""
        process = self.start(line or self.command(*arguments))
        out, err = process.communicate(timeout=DEADLINE)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def result(self) -> dict[str, Any]:
        """Return the answer as the directory has it."""
        document: dict[str, Any] = json.loads((self.out / "result.json").read_text())
        return document

    def culprits(self) -> list[set[str]]:
        """Return the sets of culprits, by layer."""
        return [{member["item"] for member in found} for found in self.result()["culprits"]]

    def probes(self) -> list[Path]:
        """Return the folders of the probes."""
        return sorted((self.out / "probes").iterdir())

    def events(self) -> list[dict[str, Any]]:
        """Return the journal; a last line that was cut off is left out, any other unreadable line fails."""
        lines = (self.out / "journal.jsonl").read_bytes().split(b"\n")
        return [json.loads(line) for line in lines[:-1]]
