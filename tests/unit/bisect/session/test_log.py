"""A log that is read back gives the verdicts that it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.journals import ASK, KEY, begin, end
from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session.history import Judge
from trtforensics.bisect.session.job import JobKey
from trtforensics.bisect.session.journal import Journal, read_events
from trtforensics.bisect.session.log import log_lines, log_text, read_log
from trtforensics.errors import SourceError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

ITEMS = [f"item{number}" for number in range(KEY.items)]


def run(journal: Journal, judge: str) -> None:
    journal.write("run", check=f"./{judge}.sh", repeat=1, judge=judge)


@pytest.fixture
def text(tmp_path: Path) -> str:
    """The log of two runs: one verdict stands, one is forgotten, one is of another check, one probe has no end."""
    with Journal(tmp_path, KEY) as journal:
        run(journal, "check")
        begin(journal)
        end(journal, reason="x # y\n\x1b[31m")
        begin(journal, 2, "0-7")
        end(journal, probe=2, verdict="good")
        journal.write("forget", probe=2)
        run(journal, "other")
        begin(journal)
        end(journal, verdict="unresolved", judge="other")
        begin(journal, 3, "")
    return "".join(log_text(log_lines(list(read_events(tmp_path, KEY)), KEY, ITEMS)))


def test_a_log_says_what_happened(text: str) -> None:
    said = [line.split("  #")[0] if line[0] != "#" else line.split(": ", 1)[1] for line in text.splitlines()]
    assert [line.partition("  #")[0].partition(":")[0] for line in said] == [
        "job 0123456789abcdef",
        "a run begins",
        "check check",
        "bad 1-2,5 build 0 check 0",
        "good 0-7 build 0 check 0",
        "probe 2",
        "a run begins",
        "check other",
        "unresolved 1-2,5 build 0 check 0",
        "probe 3 began",
    ]
    assert "item1, item2, item5 from bad" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(("judge", "verdict"), [("check", Verdict.BAD), ("other", Verdict.UNRESOLVED)])
def test_a_log_is_read_back_for_its_check(text: str, tmp_path: Path, judge: str, verdict: Verdict) -> None:
    (tmp_path / "log").write_text(text)
    given = read_log(str(tmp_path / "log"), KEY, Judge(judge))
    assert [(each.ask.active, each.ask.build, each.verdict) for each in given] == [(ASK.active, 0, verdict)]
    assert given[0].at.startswith(f"{tmp_path}/log:")
    with pytest.raises(UsageError, match=r"log:1: is the log of another job"):
        read_log(str(tmp_path / "log"), JobKey("f" * 16, 8), Judge(judge))


@pytest.mark.parametrize(
    "line", ["good", "fine 0-3", "good 0-8", "bad 3-1", "good 0-99999999999", "good - build x", "bad 1 2"]
)
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "log").write_text(f"good -\n{line}  # comment\n")
    with pytest.raises(SourceError, match=r"log:2: "):
        read_log(str(tmp_path / "log"), KEY, Judge("check"))
