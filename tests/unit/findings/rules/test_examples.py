"""Every rule speaks at the right lines, and is silent on a look-alike."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.golden_findings import golden_findings, said_of
from tests.support.marked_logs import Marked, marked
from tests.unit.findings.rules.examples import EXAMPLES
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Confidence
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.registry import rule_of, rules
from trtforensics.findings.rules.excerpts import shown
from trtforensics.findings.suppression import Suppression
from trtforensics.findings.tree import MAX_EVIDENCE
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from tests.emulator.engine.foreign import Transformer
    from trtforensics.findings.finding import Finding, Report
    from trtforensics.findings.rule import Rule
    from trtforensics.model.log import BuildLog
    from trtforensics.model.notes import Note
    from trtforensics.sources.quoting import QuotedLog

OF_HELPERS = {
    "unusable_file",
    *("poly_verdict", "poly_run", "banner", "onnx_header", "unknown_option", "cache_scope", "myelin_budget"),
    *("workspace_hint", "dumped_node", "poly_required", "poly_stats_old"),
}
"""Kinds that steps and other helpers of rules ask for, or comparisons."""
NEEDING = {rule.code for rule in rules() if rule.needs}
"""Rules that want more than a log have tests of their own."""


def report_on(text: str, folder: Path) -> Report:
    """Return the report on a log."""
    return judge(Inputs([read(text, folder)]), Suppression())


def read(text: str, folder: Path) -> QuotedLog:
    """Return a log that is written to a folder and read."""
    path = folder / "build.log"
    path.write_text(text, encoding="utf-8", newline="\n")
    return read_log(str(path), max_bytes=1 << 30, on_progress=lambda _: None)


@cache
def example_of(code: str) -> tuple[Marked, QuotedLog, Report]:
    """Return the log of a rule's example, what was read of it, and the report: made once for all tests."""
    log = log_of(EXAMPLES[code].fires, EXAMPLES[code].cites)
    with TemporaryDirectory() as folder:
        found = read(log.text, Path(folder))
        return log, found, judge(Inputs([found]), Suppression())


def log_of(example: str | Transformer, cites: tuple[str, ...] = ()) -> Marked:
    """Return the log of an example and the lines that must be cited."""
    if isinstance(example, str):
        return marked(example)
    text = example.log().text()
    return Marked(text, [n for n, line in enumerate(text.split("\n"), 1) if any(part in line for part in cites)])


def of_code(report: Report, code: str) -> list[Finding]:
    """Return the findings of a code."""
    return [finding for finding in report.findings if finding.code == code]


def test_every_rule_of_a_log_has_an_example() -> None:
    assert EXAMPLES.keys() == {rule.code for rule in rules()} - NEEDING


@for_each("code", sorted(EXAMPLES))
def test_it_speaks_at_the_right_lines_and_asks_for_the_kinds_that_it_names(code: str) -> None:
    log, quoted, report = example_of(code)
    _speaks_at_the_marked_lines(code, log, report)
    _asks_for_the_kinds_that_it_names(rule_of(code), quoted.log)


def _speaks_at_the_marked_lines(code: str, log: Marked, report: Report) -> None:
    assert log.marked
    found = of_code(report, code)
    assert sorted({e.span.line for one in found for e in one.evidence}) == log.marked
    for finding in report.findings:
        assert bool(finding.settle) == (finding.confidence is not Confidence.CERTAIN)
        assert 1 <= len(finding.evidence) <= min(MAX_EVIDENCE, finding.evidence_total)
        assert finding.title
        assert finding.cause
    texts = log.text.split("\n")
    assert all(e.text == texts[e.span.line - 1] for one in found for e in one.evidence)
    assert said_of(code, report) == golden_findings()[code], "see `pytest tests/golden --update-golden`"


def _asks_for_the_kinds_that_it_names(rule: Rule, log: BuildLog) -> None:
    asked: set[str] = set()
    notes_of = Case.notes

    def notes(case: Case, *kinds: str) -> list[Note]:
        asked.update(kinds)
        return notes_of(case, *kinds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Case, "notes", notes)
        for build in log.builds:
            list(rule.check(Case(build, log)))
    assert asked - OF_HELPERS <= rule.reads


@for_each("code", sorted(EXAMPLES))
def test_it_is_silent_on_a_look_alike(code: str, tmp_path: Path) -> None:
    log = log_of(EXAMPLES[code].quiet)
    assert log.marked == []
    rule, found = rule_of(code), read(log.text, tmp_path)
    if rule.last or rule is shown or any(_speaks(rule, Case(build, found.log)) for build in found.log.builds):
        assert of_code(judge(Inputs([found]), Suppression()), code) == []


def _speaks(rule: Rule, case: Case) -> bool:
    """Whether a rule has anything to say, before others that explain it are asked."""
    return rule.concerns(case.kinds) and any(rule.check(case))
