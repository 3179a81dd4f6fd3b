"""The journal of an artifacts directory: what is read back, what damage does, and what stored verdicts are good for."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from trtforensics.bisect.runner.options import RunOptions
from trtforensics.bisect.search import Ask, Verdict
from trtforensics.bisect.session.history import History
from trtforensics.bisect.session.journal import Journal, read_journal
from trtforensics.errors import OutputError, SourceError

if TYPE_CHECKING:
    from pathlib import Path

ASK = Ask(frozenset({1, 2, 5}))


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
