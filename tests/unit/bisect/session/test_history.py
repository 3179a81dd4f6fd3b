"""What earlier probes say of the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.journals import ASK, begin, end
from trtforensics.bisect.runner.options import RunOptions
from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session.history import History
from trtforensics.bisect.session.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("judge", "timeout", "build_failure_is_bad", "changes", "known"),
    [
        ("check", None, False, {}, Verdict.BAD),
        ("another", None, False, {}, None),
        ("check", 5.0, False, {"timed_out": True, "timeout": 5.0, "verdict": "unresolved"}, Verdict.UNRESOLVED),
        ("check", 4.0, False, {"timed_out": True, "timeout": 5.0, "verdict": "unresolved"}, Verdict.UNRESOLVED),
        ("check", 6.0, False, {"timed_out": True, "timeout": 5.0, "verdict": "unresolved"}, None),
        ("check", None, False, {"timed_out": True, "timeout": 5.0, "verdict": "unresolved"}, None),
        ("another", None, False, {"build_failed": True, "verdict": "unresolved"}, Verdict.UNRESOLVED),
        ("another", None, True, {"build_failed": True, "verdict": "unresolved"}, Verdict.BAD),
        ("check", None, False, {"build_failed": True, "verdict": "bad"}, Verdict.UNRESOLVED),
    ],
)
def test_what_a_stored_verdict_is_good_for(  # noqa: PLR0913, PLR0917 - a table of cases
    tmp_path: Path,
    judge: str,
    timeout: float | None,
    build_failure_is_bad: bool,  # noqa: FBT001 - as above
    changes: dict[str, object],
    known: Verdict | None,
) -> None:
    with Journal(tmp_path) as journal:
        begin(journal)
        end(journal, **changes)
        options = RunOptions(timeout=timeout, build_failure_is_bad=build_failure_is_bad)
        found = journal.history.verdict(ASK, judge, options)
    assert (found.verdict if found else None) == known


def test_nothing_is_known_of_what_was_not_asked() -> None:
    assert History().verdict(ASK, "check", RunOptions()) is None
