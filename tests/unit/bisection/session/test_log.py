"""A log says what happened in a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.journals import KEY, begin, end
from trtforensics.bisection.session.journal import Journal, log_text, read_events

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
    return "".join(log_text(list(read_events(tmp_path, KEY)), KEY, ITEMS))


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
