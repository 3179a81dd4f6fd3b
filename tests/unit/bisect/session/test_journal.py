"""The files of an artifacts directory: journal, lock, job, sets of indexes; and what stored verdicts are good for."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.bisect.runner.options import RunOptions
from trtforensics.bisect.search import Ask, Verdict
from trtforensics.bisect.session import index_sets
from trtforensics.bisect.session.history import History
from trtforensics.bisect.session.job import Job, check_directory, write_job
from trtforensics.bisect.session.journal import Journal, read_journal
from trtforensics.bisect.session.lock import holder_of, locked
from trtforensics.errors import OutputError, SourceError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

ASK = Ask(frozenset({1, 2, 5}))


@given(st.frozensets(st.integers(0, 300)))
def test_a_set_of_indexes_comes_back(indexes: frozenset[int]) -> None:
    assert index_sets.from_text(index_sets.to_text(indexes)) == indexes


def test_a_set_of_indexes_is_short() -> None:
    assert index_sets.to_text(range(10_000)) == "0-9999"
    assert index_sets.to_text({7, 1, 2, 3, 9}) == "1-3,7,9"


def begin(journal: Journal, number: int = 1, active: str = "1-2,5") -> None:
    journal.write(
        "start", probe=number, folder=f"{number:04d}-x", active=active, build=0, check=0, purpose="p", suspects=""
    )


def end(journal: Journal, **changes: object) -> None:
    fields = {"verdict": "bad", "reason": "r", "judge": "check", "check": 0, "seconds": 1.0, "timed_out": False}
    more = {"timeout": None, "build_failed": False, "built": True, "log_checks": 1}
    journal.write("end", probe=1, **{**fields, **more, **changes})


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        begin(journal)
        end(journal, reason="control \n \x1b and \udce9 lone")
        begin(journal, 2, "")
    history, whole = read_journal(tmp_path / "journal.jsonl")
    assert whole == (tmp_path / "journal.jsonl").stat().st_size
    probe = history.of(ASK)
    assert probe is not None
    assert (probe.number, probe.running, probe.built, probe.log_checks) == (1, False, True, 1)
    assert probe.last is not None
    assert probe.last.verdict is Verdict.BAD
    assert history.probes[2].running
    assert history.next_number == 3


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_torn_last_line_never_happened_and_is_written_over(tmp_path: Path, cut: int) -> None:
    with Journal(tmp_path) as journal:
        begin(journal)
        end(journal)
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(tmp_path) as journal:
        assert journal.history.probes[1].running
        end(journal, verdict="good")
    history, _ = read_journal(path)
    assert [finished.verdict for finished in history.probes[1].finished] == ["good"]


@pytest.mark.parametrize(
    "line", ["{}", "[]", "7", "no", '{"event": "end", "probe": 9}', '{"event": "start", "probe": "x"}']
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    with Journal(tmp_path) as journal:
        begin(journal)
    path = tmp_path / "journal.jsonl"
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(SourceError, match=r"journal\.jsonl:2: is no line of a journal"):
        read_journal(path)


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Journal(tmp_path) as journal:
        monkeypatch.setattr("os.fdatasync", full)
        with pytest.raises(OutputError, match="no space left"):
            begin(journal)


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


def test_a_lock_is_held_by_one_and_by_nobody_after_a_crash(tmp_path: Path) -> None:
    script = (
        "import os, pathlib, sys; from trtforensics.bisect.session.lock import locked\n"
        "with locked(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read(1); os._exit(9)"
    )
    line = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert holder_of(tmp_path).startswith(f"process {other.pid} on ")
        with pytest.raises(UsageError, match=f"in use by process {other.pid}"), locked(tmp_path):
            pass
        other.communicate(b"x")
    assert (tmp_path / ".lock").read_text()  # it crashed: its name is still there, its lock is not
    assert holder_of(tmp_path) == ""
    with locked(tmp_path):
        assert holder_of(tmp_path).startswith(f"process {os.getpid()} on ")
    assert holder_of(tmp_path) == ""


def job(**changes: object) -> Job:
    parts: dict[str, object] = {"mode": "items", "items": [], "content": ["a"], "build": "make", "versions": {"t": "1"}}
    return Job(**{**parts, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mode": "tactics"}, "another mode"),
        ({"content": ["b"]}, "other items"),
        ({"build": None}, "another build command"),
        ({"versions": {}}, "other tool versions"),
    ],
)
def test_another_job_is_told_apart(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    write_job(tmp_path, job(), RunOptions())
    check_directory(tmp_path, job(items=[{"item": "for readers only"}]))
    with pytest.raises(UsageError, match=says):
        check_directory(tmp_path, job(**changes))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 99, "kind": "bisection"}', "\x00"])
def test_a_job_that_is_none_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "job.json").write_text(text)
    with pytest.raises(SourceError, match=r"job\.json"):
        check_directory(tmp_path, job())
