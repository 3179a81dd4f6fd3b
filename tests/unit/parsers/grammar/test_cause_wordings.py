"""Causes in the wordings of several versions and programs, each beside a line that is nearly the same."""

from __future__ import annotations

from pathlib import Path

from tests.support.for_each import for_each
from trtforensics.parsers.builds.notes import causes
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import CAUSE


def wordings() -> dict[str, list[str]]:
    """Return the rows of each cause; the head of the file says how they are written."""
    rows: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("cause_wordings.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(("+ ", "- ")):
            next(reversed(rows.values())).append(line)
        elif not line.startswith("#"):
            rows[line.partition(" = ")[0]] = []
    return rows


WORDINGS = wordings()


@for_each("cause", WORDINGS)
def test_each_wording_names_the_cause_and_the_look_alike_does_not(cause: str) -> None:
    rows = WORDINGS[cause]
    assert [row[0] for row in rows] == ["+", "+", "+", "-"]
    assert len(set(rows)) == len(rows)
    assert [row for row in rows if (cause in dict(causes(row[2:]))) != row.startswith("+")] == []


def test_every_cause_has_wordings() -> None:
    assert WORDINGS.keys() == {kind.name for kind in tables.kinds(CAUSE)}


def test_a_list_of_error_codes_reports_no_error() -> None:
    assert causes("  Code=14,Name=ErrorCode.REFIT_FAILED,Meaning=Refitting the engine failed") == ()
    assert causes("Refitting the engine failed") == (("program_error", {"text": None}),)
    assert [kind for kind, _ in causes("code=2,name=x,text=out of memory")] == ["out_of_memory"]
