"""What is written to a journal is read back, and damage is named."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from tests.support.journals import ASK, begin, end
from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session.journal import Journal, read_journal
from trtforensics.errors import OutputError, SourceError

if TYPE_CHECKING:
    from pathlib import Path


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
