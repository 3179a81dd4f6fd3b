"""What earlier probes say of the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from tests.support.journals import ASK, KEY, begin, end, made
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search import Verdict
from trtforensics.bisection.session.history import History, Judge, indexes_of, indexes_text
from trtforensics.bisection.session.journal import Journal

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
        ("another", None, False, {"made": made(status=3), "verdict": "unresolved"}, Verdict.UNRESOLVED),
        ("another", None, True, {"made": made(status=3), "verdict": "unresolved"}, Verdict.BAD),
        ("check", None, False, {"made": made(status=3), "verdict": "bad"}, Verdict.UNRESOLVED),
        ("no check", None, False, {"made": made(status=3), "verdict": "unresolved"}, Verdict.BAD),
        ("no check", None, False, {"made": made(status=200), "verdict": "bad"}, Verdict.UNRESOLVED),
        ("no check", None, False, {"made": made(status=0)}, Verdict.GOOD),
        ("check", None, True, {"made": made(status=3, unfit="refused"), "verdict": "bad"}, Verdict.UNRESOLVED),
        ("check", None, True, {"made": made(unfit="another tactic"), "verdict": "bad"}, Verdict.UNRESOLVED),
        ("check", 9.0, False, {"made": made(status=-2, timed_out=True, timeout=5.0)}, None),
        ("check", 5.0, True, {"made": made(status=-2, timed_out=True, timeout=5.0)}, Verdict.BAD),
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
    with Journal(tmp_path, KEY) as journal:
        begin(journal)
        end(journal, **changes)
        options = RunOptions(timeout=timeout, build_failure="bad" if build_failure_is_bad else "unresolved")
        found = journal.history.verdict(ASK, Judge(judge, by_build=judge == "no check"), options)
    assert (found.verdict if found else None) == known


def test_nothing_is_known_of_what_was_not_asked() -> None:
    assert History(8).verdict(ASK, Judge("check"), RunOptions()) is None


def test_a_build_that_was_begun_again_is_no_build_until_it_ends(tmp_path: Path) -> None:
    """The verdict of the earlier build stands, but nobody may look at what is in the folder."""
    with Journal(tmp_path, KEY) as journal:
        begin(journal)
        end(journal)
        begin(journal)
        journal.write("run", check="try", repeat=1, judge="check")
        probe = journal.history.probes[1]
        assert (probe.building, probe.made, probe.running) == (True, None, False)
        assert journal.history.verdict(ASK, Judge("check"), RunOptions()) is not None
        assert journal.history.verdict(ASK, Judge("no check", by_build=True), RunOptions()) is None


def test_what_a_failed_build_decided_is_not_known_once_it_is_built_again(tmp_path: Path) -> None:
    with Journal(tmp_path, KEY) as journal:
        begin(journal)
        end(journal, verdict="bad", made=made(status=3))
        begin(journal)
        assert journal.history.verdict(ASK, Judge("check"), RunOptions()) is None


def test_a_verdict_is_forgotten_or_given_by_a_person(tmp_path: Path) -> None:
    given = {"active": "1-2,5", "build": 0, "check": 0, "purpose": "given", "verdict": "good", "reason": "given"}
    with Journal(tmp_path, KEY) as journal:
        begin(journal)
        end(journal, made=made(status=3))
        journal.write("forget", probe=1)
        assert journal.history.verdict(ASK, Judge("check"), RunOptions()) is None
        journal.write("given", probe=1, judge="check", seconds=0, timed_out=False, timeout=None, **given)
        found = journal.history.verdict(ASK, Judge("check"), RunOptions())
    assert found is not None
    assert found.verdict is Verdict.GOOD


@pytest.mark.parametrize(("number", "active"), [(3, "0"), (0, "0"), (1, "0"), (2, "1-2,5"), (2, "8"), (2, "1,0")])
def test_a_probe_is_the_next_one_and_of_a_subset_of_the_items(tmp_path: Path, number: int, active: str) -> None:
    with Journal(tmp_path, KEY) as journal:
        begin(journal)
        with pytest.raises(ValueError, match=r"another one|no run of indexes"):
            begin(journal, number, active)


def test_a_probe_ends_once(tmp_path: Path) -> None:
    with Journal(tmp_path, KEY) as journal:
        begin(journal)
        end(journal)
        with pytest.raises(ValueError, match="ends and has not begun"):
            end(journal)


@given(st.frozensets(st.integers(0, 300)))
def test_a_set_of_indexes_comes_back(indexes: frozenset[int]) -> None:
    assert indexes_of(indexes_text(indexes), 301) == indexes


@for_each("text", ["301", "0-301", "9-8", "1,1", "2,1", "-1", "x", "1-", ",", "1,", " 1", "0-999999999999"])
def test_what_is_no_set_of_indexes_of_the_job_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no run of indexes below 301"):
        indexes_of(text, 301)


def test_a_set_of_indexes_is_short() -> None:
    assert indexes_text(range(10_000)) == "0-9999"
    assert indexes_text({7, 1, 2, 3, 9}) == "1-3,7,9"
