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


PRINTED = """\
bad 1-2,5 build 0 check 0  # bad at 2026-01-01: probe 1: 3 of 8 items from bad; exit status 1
good 0 build 0 check 0  # good at 2026-01-01: probe 2: item0 from bad; exit status 0
bad 1-2,5 build 0 check 1  # bad at 2026-01-01: probe 1: 3 of 8 items from bad; exit status 1
"""


@pytest.mark.parametrize("place", [0, 2])
def test_one_edited_line_stands_for_each_look_at_its_mix(tmp_path: Path, place: int) -> None:
    lines = PRINTED.splitlines()
    lines[place] = lines[place].replace("bad 1", "good 1", 1)
    (tmp_path / "log").write_text("\n".join(lines))
    given = read_log(str(tmp_path / "log"), KEY, Judge("check"))
    looks = {(each.ask.build, each.ask.check): each for each in given if each.ask.active == ASK.active}
    assert set(looks) == {(0, 0), (0, 1), (1, 0)}
    assert {(each.verdict, each.edited) for each in looks.values()} == {(Verdict.GOOD, True)}
    assert {each.at.rpartition(":")[2] for each in looks.values()} == {str(place + 1)}
    assert [each.ask.active for each in given if not each.edited] == [frozenset({0})]


def test_with_noise_an_edited_line_is_the_verdict_of_its_own_check(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(PRINTED.replace("bad 1-2,5 build 0 check 1 ", "good 1-2,5 build 0 check 1 "))
    given = read_log(str(tmp_path / "log"), KEY, Judge("check"), exact=False)
    assert [(each.ask.check, each.verdict.value) for each in given] == [(0, "bad"), (0, "good"), (1, "good")]


def test_a_log_as_it_was_printed_has_no_edits(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(PRINTED)
    given = read_log(str(tmp_path / "log"), KEY, Judge("check"))
    assert [(each.ask.check, each.verdict.value, each.edited) for each in given] == [
        (0, "bad", False),
        (0, "good", False),
        (1, "bad", False),
    ]


def test_two_edited_lines_that_disagree_are_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(f"{PRINTED}good 3\nbad 3\n")
    with pytest.raises(SourceError, match=r"log:5: says bad of a mix that .*log:4 says is good"):
        read_log(str(tmp_path / "log"), KEY, Judge("check"))
