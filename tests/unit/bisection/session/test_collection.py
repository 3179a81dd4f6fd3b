"""Builds repeated without a lever: what must end a collection."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from trtforensics.bisection.runner import command
from trtforensics.bisection.runner.command import DEFAULT_NEED
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search import Verdict
from trtforensics.bisection.session import session
from trtforensics.bisection.session.collection import CollectionLever, RepeatedBuilds, collect
from trtforensics.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")


def quiet(_text: str) -> None:
    """Show nothing."""


def events(directory: Path) -> list[str]:
    return [json.loads(line)["event"] for line in (directory / "journal.jsonl").read_text().splitlines()]


def test_a_build_that_fails_on_a_full_disk_is_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = RunOptions(build="touch began; exit 200; cd {dir}")
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    room = {True: 0, False: DEFAULT_NEED}
    for module in (command, session):
        monkeypatch.setattr(module, "free_bytes", lambda _folder: room[(tmp_path / "began").exists()])
    with pytest.raises(OutputError, match=r"ran out of disk space while probe 0001-\w+ ran: only 0 KiB were free"):
        collect(out, RepeatedBuilds(3), CollectionLever("engine"), options, quiet)
    assert events(out) == ["run", "start", "stopped"]
    with pytest.raises(OutputError, match=r"has 0 KiB free before a probe\. .*`--need-free` is 64 MiB"):
        collect(out, RepeatedBuilds(3), CollectionLever("engine"), options, quiet)
    assert events(out) == ["run", "start", "stopped", "run"]
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    answer = collect(out, RepeatedBuilds(3), CollectionLever("engine"), options, quiet)
    assert len(answer.unresolved) == 3


def test_a_collection_stops_at_the_first_of_a_kind(tmp_path: Path) -> None:
    options = RunOptions(build="true", check="case {probe} in 0004*) exit 1;; esac", jobs=2)
    answer = collect(tmp_path, RepeatedBuilds(None, Verdict.BAD), CollectionLever("engine"), options, quiet)
    (folder,) = answer.bad
    assert folder.startswith("0004-")
    assert answer.status == "collected"


def test_a_collection_says_where_it_stands(tmp_path: Path) -> None:
    said: list[str] = []
    options = RunOptions(build="true", check="case {probe} in 0002*) exit 1;; esac")
    collect(tmp_path, RepeatedBuilds(3), CollectionLever("engine"), options, said.append)
    assert [text.rpartition("; ")[0] for text in said] == [
        "0 good, 0 bad, 0 unresolved; 1 running",
        "1 good, 0 bad, 0 unresolved; 1 running",
        "1 good, 1 bad, 0 unresolved; 1 running",
    ]
