"""The loop of a session, in this process: what must end it, and what must not be taken for a verdict."""

from __future__ import annotations

import json
import shutil
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from trtforensics.bisect.levers.items import ItemsLever
from trtforensics.bisect.runner.options import RunOptions
from trtforensics.bisect.search import Search, Verdict
from trtforensics.bisect.session.bisection import bisect
from trtforensics.bisect.session.collection import CollectionLever, RepeatedBuilds, collect
from trtforensics.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")


def quiet(_text: str) -> None:
    """Show nothing."""


def events(directory: Path) -> list[str]:
    return [json.loads(line)["event"] for line in (directory / "journal.jsonl").read_text().splitlines()]


class Scored(ItemsLever):
    """Items whose check leaves a score, here the number of active items, that a limit judges; some probes drift."""

    def __init__(self, count: int, limit: int, drifting: frozenset[int] | None = None) -> None:
        super().__init__([f"item{n}" for n in range(count)])
        self.settings = f"limit {limit}"
        self.limit = limit
        self.drifting = drifting
        self.prepared = 0

    def prepare(self, active: frozenset[int], folder: Path) -> Mapping[str, Path]:
        """Count, and write a score as a check would."""
        self.prepared += 1
        (folder / "score").write_text(str(int(3 in active) * 5))
        return super().prepare(active, folder)

    def verify(self, active: frozenset[int], folder: Path) -> str:  # noqa: ARG002 - not needed here
        """Find a drift."""
        return "another tactic was used" if active == self.drifting else ""

    def rejudge(self, folder: Path) -> tuple[Verdict, str] | None:
        """Judge by the score."""
        bad = int((folder / "score").read_text()) > self.limit
        return (Verdict.BAD if bad else Verdict.GOOD), "score"


def test_new_settings_judge_stored_scores_without_a_probe(tmp_path: Path) -> None:
    options = RunOptions(build="true", check="test $(cat {dir}/score) -le 2")
    first = Scored(8, 2)
    document, _ = bisect(tmp_path, first, Search(first.items), options, quiet)
    assert document["status"] == "certified"
    again = Scored(8, 3)
    document, fixed = bisect(tmp_path, again, Search(again.items), options, quiet)
    assert (document["status"], again.prepared, document["reused"]) == ("certified", 0, document["builds"])
    assert [line.partition(":")[0] for line in fixed] == ["items.txt", "culprits.txt"]
    lax = Scored(8, 9)
    document, _ = bisect(tmp_path, lax, Search(lax.items), options, quiet)
    assert (document["status"], lax.prepared) == ("not-reproduced", 0)


def test_a_build_that_is_not_what_was_asked_has_no_vote(tmp_path: Path) -> None:
    backend = Scored(8, 2, frozenset(range(8)))
    options = RunOptions(build="true", check="test $(cat {dir}/score) -le 2")
    document, _ = bisect(tmp_path, backend, Search(backend.items), options, quiet)
    assert document["status"] != "certified"
    assert list((tmp_path / "unresolved").iterdir())
    probes = document["probes"]
    assert isinstance(probes, list)
    assert "another tactic was used" in [probe["reason"] for probe in probes]


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
