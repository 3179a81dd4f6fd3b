"""Builds repeated without a lever: what must end a collection."""

from __future__ import annotations

import json
import shutil
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from trtforensics.bisect.runner.options import RunOptions
from trtforensics.bisect.search import Verdict
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
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=0))
    options = RunOptions(build="exit 200")
    with pytest.raises(OutputError, match="its disk is full"):
        collect(tmp_path, RepeatedBuilds(3), CollectionLever("engine"), options, quiet)
    assert events(tmp_path) == ["run", "start", "stopped"]
    monkeypatch.undo()
    document = collect(tmp_path, RepeatedBuilds(3), CollectionLever("engine"), options, quiet)
    unresolved = document["unresolved"]
    assert isinstance(unresolved, list)
    assert len(unresolved) == 3


def test_a_collection_stops_at_the_first_of_a_kind(tmp_path: Path) -> None:
    options = RunOptions(build="true", check="case {probe} in 0004*) exit 1;; esac", jobs=2)
    document = collect(tmp_path, RepeatedBuilds(None, Verdict.BAD), CollectionLever("engine"), options, quiet)
    assert document["bad"] == ["0004-" + str(document["bad"])[7:13]]
    assert document["status"] == "collected"
