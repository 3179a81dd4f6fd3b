"""Rows of tables become rules."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from string import Formatter
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from trtforensics.findings.finding import Severity
from trtforensics.findings.observations import CLASSES
from trtforensics.findings.registry import rules
from trtforensics.findings.rule import Fix, explained, read_table, table_rules
from trtforensics.findings.rules.speed import dominant, reformats
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import CAUSE, SENTENCE
from trtforensics.parsers.notation.tracebacks import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.findings.case import Case

ROW = """# A topic.

XX001 warning: A plan: of another version
reads: missing_scale
cause: One thing
    or another.
confirm: Look.
fix: Mend it.
fix since 8.5 before 10: Replace it.
source: a log
source: another
follows: TF1* TF640
"""
SCALES = """
W Missing scale and zero-point for tensor a, expect fall back to non-int8 implementation for it
W Missing scale and zero-point for tensor b, expect fall back to non-int8 implementation for it
W Missing scale and zero-point for tensor a, expect fall back to non-int8 implementation for it
"""


def test_the_titles_of_rows_name_fields_of_the_lines_that_they_read() -> None:
    fields = {kind.name: set(kind.fields) for kind in (*tables.kinds(), *tables.kinds(CAUSE), *tables.kinds(SENTENCE))}
    unknown = []
    for rule in table_rules():
        assert isinstance(rule.check, partial)
        kinds, says, *_ = rule.check.args
        traced = set(FIELDS) if any(kind.startswith("python_") for kind in kinds) else set()
        for form in says:
            named = {name for _, name, listed, _ in Formatter().parse(form) if name and not listed}
            unknown += [(rule.code, form)] if not any(named <= fields[kind] | traced for kind in kinds) else []
    assert unknown == []


def test_the_title_of_a_row_has_the_values_that_its_lines_print() -> None:
    """``text`` alone may be the rest of a sentence that is always the same."""
    fields = {
        kind.name: set(kind.fields) - {"text"}
        for kind in (*tables.kinds(), *tables.kinds(CAUSE), *tables.kinds(SENTENCE))
    }
    bare = []
    for rule in table_rules():
        assert isinstance(rule.check, partial)
        kinds, says, *_ = rule.check.args
        bare += [rule.code] if any(fields[kind] for kind in kinds) and not any("{" in form for form in says) else []
    assert bare == []


def test_a_row_has_the_fields_of_a_rule() -> None:
    (rule,) = read_table(ROW)
    assert (rule.code, rule.severity, rule.title) == ("XX001", Severity.WARNING, "A plan: of another version")
    assert rule.explanation.cause == "One thing or another."
    assert rule.explanation.fixes == (Fix("Mend it."), Fix("Replace it.", "8.5", "10"))
    assert rule.explanation.sources == ("a log", "another")
    assert (rule.reads, rule.follows, rule.notes_alone) == (frozenset({"missing_scale"}), ("TF1*", "TF640"), True)


def test_every_row_of_a_modules_texts_has_its_function() -> None:
    tables_of = [files(f"trtforensics.findings.{folder}") / "texts" for folder in ("rules", "models")]
    without_reads = frozenset({"cause", "confirm"})
    texts = [table.read_text("utf-8") for folder in tables_of for table in folder.iterdir()]
    rows = {rule.code for text in texts for rule in read_table(text, without_reads)}
    assert {rule.code for rule in rules() if not rule.notes_alone} == rows


def test_a_function_that_is_explained_is_the_check_of_its_row() -> None:
    assert (dominant.code, dominant.severity, dominant.notes_alone) == ("TF608", Severity.NOTE, False)
    assert dominant.explanation.fixes[0].since == "10.0"
    with pytest.raises(KeyError, match="TF999"):
        explained("TF999")(reformats.check)


@pytest.mark.parametrize(
    ("fields", "titles", "settle"),
    [
        ("", [("A plan: of another version", 3)], ""),
        ("says: No range of {tensor}\nsettle: c", [("No range of a", 2), ("No range of b", 1)], "c"),
        ("says: No range of {tensor:listed}", [("No range of a, b", 3)], ""),
    ],
)
def test_a_row_gives_a_finding_for_each_title_or_one_that_lists(
    fields: str, titles: list[tuple[str, int]], settle: str, case_of: Callable[[str], Case]
) -> None:
    (rule,) = read_table(ROW + fields)
    seen = list(rule.check(case_of(SCALES)))
    assert [(one.title, len(one.spans)) for one in seen] == titles
    assert {one.settle for one in seen} == {settle}


def test_a_row_has_the_texts_of_special_cases() -> None:
    (rule,) = read_table(ROW + "cause old: It is old.\nfix old: Take a new one.\ncause new: It is new.\n")
    assert rule.variants == {"old": ("It is old.", "Take a new one."), "new": ("It is new.", "")}
    assert len(rule.explanation.fixes) == 2


def test_a_row_may_read_all_errors_that_explain_themselves_and_speak_last() -> None:
    (rule,) = read_table(ROW.replace("missing_scale", "missing_scale sentences") + "last: it sees what others cite\n")
    assert (rule.reads, rule.last) == (frozenset({"missing_scale", *CLASSES}), True)


@for_each(
    "wrong",
    [
        ROW + "cause: Again",
        ROW + "advice: Mend it",
        ROW.replace("reads: missing_scale\n", ""),
        ROW.replace("fix since 8.5 before 10", "fix since"),
        ROW.replace("XX001 warning", "XX001"),
    ],
)
def test_a_row_of_another_form_is_refused(wrong: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        list(read_table(wrong))
