"""Builds repeated without a lever: what must end a collection."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from trtforensics.bisect.runner import room as probe_room
from trtforensics.bisect.runner.options import RunOptions
from trtforensics.bisect.runner.room import DEFAULT_NEED
from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session import session
from trtforensics.bisect.session.collection import CollectionLever, RepeatedBuilds, collect
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
    for module in (probe_room, session):
        monkeypatch.setattr(module, "free_bytes", lambda _folder: room[(tmp_path / "began").exists()])
    with pytest.raises(OutputError, match=r"ran out of room while probe 0001-\w+ ran: only 0 KiB were free"):
        collect(out, RepeatedBuilds(3), CollectionLever("engine"), options, quiet)
    assert events(out) == ["run", "start", "stopped"]
    with pytest.raises(OutputError, match=r"has 0 KiB free before a probe\. .*`--need-free` is 64 MiB"):
        collect(out, RepeatedBuilds(3), CollectionLever("engine"), options, quiet)
    assert events(out) == ["run", "start", "stopped", "run"]
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    document = collect(out, RepeatedBuilds(3), CollectionLever("engine"), options, quiet)
    unresolved = document["unresolved"]
    assert isinstance(unresolved, list)
    assert len(unresolved) == 3


def test_a_collection_stops_at_the_first_of_a_kind(tmp_path: Path) -> None:
    options = RunOptions(build="true", check="case {probe} in 0004*) exit 1;; esac", jobs=2)
    document = collect(tmp_path, RepeatedBuilds(None, Verdict.BAD), CollectionLever("engine"), options, quiet)
    assert document["bad"] == ["0004-" + str(document["bad"])[7:13]]
    assert document["status"] == "collected"
