"""A large file read by two processes says exactly what it says when one reads it."""

from __future__ import annotations

import os
import random
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.documents import document
from tests.support.repository import LOGS
from trtforensics.parsers.lines import processes
from trtforensics.parsers.text.source import open_source
from trtforensics.sources.build_log import load_build_log, read_build_log

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.model.log import BuildLog

SAMPLES = sorted(LOGS.glob("*.log"))


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LEAST_BYTES", 1)
    monkeypatch.setattr(processes, "_processors", lambda: 2)


def _in_one_go(path: Path) -> BuildLog:
    return read_build_log(open_source(str(path)))


def _middle(path: Path) -> int | None:
    with open_source(str(path)) as source:
        return processes.middle_of(source)


def _assert_same(path: Path) -> None:
    assert _middle(path) is not None
    both, one = load_build_log([str(path)]), _in_one_go(path)
    assert document(both) == document(one)
    assert both.source == one.source
    assert both.line_starts.tolist() == one.line_starts.tolist()
    for a, b in zip(both.builds, one.builds, strict=True):
        assert a.timings.line.tolist() == b.timings.line.tolist()
        assert a.timings.tactic.tolist() == b.timings.tactic.tolist()
        assert [c.runner for choice in a.choices for c in a.candidates(choice)] == [
            c.runner for choice in b.choices for c in b.candidates(choice)
        ]


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("log", SAMPLES, ids=lambda log: log.stem)
def test_our_own_logs_read_the_same(log: Path) -> None:
    _assert_same(log)


@pytest.mark.slow
@pytest.mark.usefixtures("everything_is_large")
def test_wherever_the_cut_falls_the_builds_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "several.log"
    verdict = b"&&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec\n"
    unknown = b"[11/21/2026-07:52:04] [V] [TRT] something that nobody knows 12\n"
    path.write_bytes(b"".join(log.read_bytes() + verdict + unknown for log in SAMPLES[:3]) + b"no line feed at the end")
    one = document(_in_one_go(path))
    for share in random.Random(5).sample(range(1, 100), 6):
        monkeypatch.setattr(processes, "_FIRST_SHARE", share / 100)
        assert document(load_build_log([str(path)])) == one


@pytest.mark.usefixtures("everything_is_large")
def test_a_fresh_interpreter_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_may_fork", lambda: False)
    _assert_same(SAMPLES[0])


@pytest.mark.usefixtures("everything_is_large")
def test_an_interpreter_that_dies_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_may_fork", lambda: False)
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert document(load_build_log([str(SAMPLES[0])])) == document(_in_one_go(SAMPLES[0]))


@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only")
@pytest.mark.usefixtures("everything_is_large")
def test_a_fork_that_dies_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_may_fork", lambda: True)
    monkeypatch.setattr(processes, "_send", lambda *_: os._exit(1))
    assert document(load_build_log([str(SAMPLES[0])])) == document(_in_one_go(SAMPLES[0]))


@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only")
@pytest.mark.usefixtures("everything_is_large")
def test_a_fork_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_may_fork", lambda: True)
    _assert_same(SAMPLES[0])


@pytest.mark.usefixtures("everything_is_large")
def test_what_is_not_plain_text_is_read_in_one_go(tmp_path: Path) -> None:
    path = tmp_path / "utf16.log"
    path.write_bytes(SAMPLES[0].read_bytes().decode().encode("utf-16"))
    assert _middle(path) is None


def test_a_small_file_is_read_in_one_go() -> None:
    assert _middle(SAMPLES[0]) is None
