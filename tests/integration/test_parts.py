"""Several sources that are one build: the two halves of a cut log, and trtexec's stdout with its stderr."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.documents import document
from tests.support.repository import LOGS
from trtforensics.model.log import Outcome
from trtforensics.parsers.lines import processes
from trtforensics.render.log_text import summarise
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]
    Refuse = Callable[..., str]

SAMPLES = sorted(LOGS.glob("*.log"))

STDOUT = b"""\
&&&& RUNNING TensorRT.trtexec [TensorRT v101600] # trtexec --onnx=a.onnx --verbose
[11/21/2026-10:00:00] [V] [TRT] Original: 2 layers
[11/21/2026-10:00:01] [I] Finished parsing
&&&& FAILED TensorRT.trtexec [TensorRT v101600] # trtexec --onnx=a.onnx --verbose
[11/21/2026-10:00:03] [I] [TRT] [MemUsageChange] Init CUDA: CPU +2, GPU +0, now: CPU 22, GPU 291 (MiB)
"""
STDERR = b"""\
[11/21/2026-10:00:02] [E] Error[10]: IBuilder::buildSerializedNetwork: \
Error Code 10: Internal Error (Could not find any implementation for node {ForeignNode[a...b]}.)
[11/21/2026-10:00:02] [E] Engine could not be created from network
"""


@pytest.fixture
def both(tmp_path: Path) -> list[str]:
    (tmp_path / "build.log").write_bytes(STDOUT)
    (tmp_path / "build.err").write_bytes(STDERR)
    return [str(tmp_path / "build.log"), str(tmp_path / "build.err")]


def _cut(log: Path, folder: Path, at: int) -> list[str]:
    lines = log.read_bytes().splitlines(keepends=True)
    begin = next(n for n in range(at, len(lines)) if lines[n].startswith(b"["))
    paths = [folder / f"{at}.log.0", folder / f"{at}.log.1"]
    paths[0].write_bytes(b"".join(lines[:begin]))
    paths[1].write_bytes(b"".join(lines[begin:]))
    return [str(path) for path in paths]


@pytest.mark.parametrize("log", SAMPLES, ids=lambda log: log.stem)
def test_a_log_in_two_files_says_what_it_says_in_one(log: Path, tmp_path: Path) -> None:
    whole = load_build_log([str(log)])
    one = document(whole)
    pick = random.Random(0)
    for _ in range(3):
        paths = _cut(log, tmp_path, pick.randrange(1, whole.source.lines * 9 // 10))
        two = document(load_build_log(paths))
        assert {**two, "source": 0} == {**one, "source": 0}
        assert two["source"]["sha256"] == one["source"]["sha256"]
        assert [part["path"] for part in two["source"]["parts"]] == paths


@pytest.mark.parametrize("large", [False, True])
def test_errors_of_stderr_are_the_builds(both: list[str], large: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    if large:
        monkeypatch.setattr(processes, "LEAST_BYTES", 1)
        monkeypatch.setattr("os.cpu_count", lambda: 2)
    log = load_build_log(both)
    (build,) = log.builds
    assert (build.outcome, build.message_counts.error) == (Outcome.FAILED, 2)
    assert [message.span.line for message in build.messages] == [6, 7]
    assert [str(message.span) for message in build.messages] == [f"{both[1]}:1", f"{both[1]}:2"]
    assert build.messages[1].span.byte == STDERR.index(b"\n") + 1
    assert log.source.sha256 == hashlib.sha256(STDOUT + STDERR).hexdigest()


def test_stderr_that_was_given_first_belongs_to_the_build_too(both: list[str]) -> None:
    assert len(load_build_log(both[::-1]).builds) == 1


def test_two_logs_that_each_hold_a_run_are_two_builds(both: list[str]) -> None:
    again = Path(both[1])
    again.write_bytes(STDOUT)
    assert [build.first_line for build in load_build_log(both).builds] == [1, 6]


def test_an_empty_stderr_is_no_reason_to_refuse(both: list[str]) -> None:
    Path(both[1]).write_bytes(b"")
    log = load_build_log(both)
    assert len(log.builds) == 1
    assert "build.err is empty" in summarise(log)


def test_each_part_is_told_with_its_lines(both: list[str], run: Run) -> None:
    done = run("parse", *both)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"lines 1-5 are those of {both[0]}\nlines 6-7 are those of {both[1]}\n" in done.stdout
    parts = json.loads(run("parse", *both, "--json").stdout)["source"]["parts"]
    assert [(part["path"], part["lines"], part["first_line"]) for part in parts] == [(both[0], 5, 1), (both[1], 2, 6)]


def test_a_part_without_a_last_line_feed_ends_its_line(both: list[str]) -> None:
    Path(both[0]).write_bytes(STDOUT[:-1])
    log = load_build_log(both)
    assert log.lines.total == 7
    assert f"the last line (5) of {both[0]} has no line ending" in summarise(log)


@pytest.mark.parametrize(
    ("second", "sentence"),
    [("missing.err", "missing.err: there is no such file"), (".", ".: is a directory"), ("0", "is named twice")],
)
def test_a_part_that_cannot_be_read_is_one_sentence(
    both: list[str], second: str, sentence: str, refuse: Refuse
) -> None:
    assert sentence in refuse("parse", both[0], both[0] if second == "0" else second)
