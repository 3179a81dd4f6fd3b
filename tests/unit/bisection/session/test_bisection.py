"""The loop of a session, in this process: what must not be taken for a verdict."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from trtforensics.bisection.levers.items import ItemsLever
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search import Search, Verdict
from trtforensics.bisection.session.bisection import bisect

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")


def quiet(_text: str) -> None:
    """Show nothing."""


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
    answer, _ = bisect(tmp_path, first, Search(first.items), options, quiet)
    assert answer.status == "certified"
    again = Scored(8, 3)
    answer, fixed = bisect(tmp_path, again, Search(again.items), options, quiet)
    assert (answer.status, again.prepared, answer.reused) == ("certified", 0, answer.builds)
    assert [line.partition(":")[0] for line in fixed] == ["items.txt", "culprits.txt"]
    lax = Scored(8, 9)
    answer, _ = bisect(tmp_path, lax, Search(lax.items), options, quiet)
    assert (answer.status, lax.prepared) == ("not-reproduced", 0)


def test_a_build_that_is_not_what_was_asked_has_no_vote(tmp_path: Path) -> None:
    lever = Scored(8, 2, frozenset(range(8)))
    options = RunOptions(build="true", check="test $(cat {dir}/score) -le 2")
    answer, _ = bisect(tmp_path, lever, Search(lever.items), options, quiet)
    assert answer.status != "certified"
    assert list((tmp_path / "unresolved").iterdir())
    assert "another tactic was used" in [probe.reason for probe in answer.probes]
