"""One probe: its verdict, its checks, and the values that its commands get."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from trtforensics.bisection.runner.command import Ended
from trtforensics.bisection.runner.probe import ProbeOutcome, describe, judge_status
from trtforensics.bisection.search import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")


@for_each(
    ("status", "verdict"),
    [
        (0, Verdict.GOOD),
        (1, Verdict.BAD),
        (124, Verdict.BAD),
        (125, Verdict.UNRESOLVED),
        (126, Verdict.UNRESOLVED),
        (127, Verdict.UNRESOLVED),
        (128, Verdict.UNRESOLVED),
        (255, Verdict.UNRESOLVED),
        (-9, Verdict.UNRESOLVED),
    ],
)
def test_exit_statuses_and_signals(status: int, verdict: Verdict) -> None:
    assert judge_status(status, timed_out=False) is verdict


def test_a_check_that_ended_after_its_timeout_is_unresolved() -> None:
    assert judge_status(0, timed_out=True) is Verdict.UNRESOLVED


def test_ends_in_words() -> None:
    assert describe(Ended(-11, 1.0, 0)) == "died by SIGSEGV"
    assert describe(Ended(139, 1.0, 0)) == "exit status 139 (SIGSEGV)"
    assert describe(Ended(255, 1.0, 0)) == "exit status 255 (signal 127)"
    assert describe(Ended(127, 1.0, 0)) == "exit status 127 (the command is not found)"


@pytest.mark.parametrize(
    ("build", "check", "bad", "verdict"),
    [
        ("true", None, False, Verdict.GOOD),
        ("exit 3", None, False, Verdict.BAD),
        ("kill -9 $$", None, False, Verdict.UNRESOLVED),
        ("kill -9 $$", None, True, Verdict.BAD),
        ("exit 3", "true", False, Verdict.UNRESOLVED),
        ("exit 3", "true", True, Verdict.BAD),
        ("true", "exit 3", True, Verdict.BAD),
        ("true", "ls {engine}", False, Verdict.UNRESOLVED),
        ("touch {engine}", "ls {engine}", False, Verdict.GOOD),
        (None, "exit 3", False, Verdict.BAD),
    ],
)
def test_build_and_check_together(
    probe: Callable[..., ProbeOutcome], build: str | None, check: str | None, *, bad: bool, verdict: Verdict
) -> None:
    assert probe(build, check, build_failure_is_bad=bad).verdict is verdict


def test_values_are_quoted_and_in_the_environment(probe: Callable[..., ProbeOutcome], tmp_path: Path) -> None:
    probe(None, 'printf "%s\\n" {items} "$TRTFORENSICS_ITEMS" {other} "${HOME+x}"')
    same = str(tmp_path / "it's items")
    assert (tmp_path / "check.log").read_text().splitlines() == [same, same, "{other}", "x"]


def test_checks_go_on_as_long_as_they_agree(probe: Callable[..., ProbeOutcome], tmp_path: Path) -> None:
    agree = probe("true", "true", checks=3)
    assert (agree.verdict, len(agree.checks)) == (Verdict.GOOD, 3)
    assert (tmp_path / "check-3.log").exists()
    flip = probe("true", "echo >> n; test $(wc -l < n) -ne 2", checks=5)
    assert (flip.verdict, len(flip.checks)) == (Verdict.UNRESOLVED, 2)
    assert flip.reason.startswith("flaky")
