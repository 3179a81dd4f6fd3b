"""Every rule speaks at the right lines, and is silent on a look-alike."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import Marked, marked
from tests.unit.findings.rules.examples import EXAMPLES
from trtforensics.findings import rules as package
from trtforensics.findings.case import Need
from trtforensics.findings.engine import Inputs, judge
from trtforensics.findings.finding import Confidence
from trtforensics.findings.registry import rules
from trtforensics.findings.suppression import Suppression
from trtforensics.findings.tree import MAX_EVIDENCE
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

    from tests.emulator.engine.foreign import Transformer
    from trtforensics.findings.finding import Finding, Report
    from trtforensics.findings.rule import Rule

FAMILIES = {
    "1": "model",
    "2": "precision",
    "3": "tactics",
    "4": "configuration",
    "5": "reproducibility",
    "6": "running",
    "7": "log",
    "8": "replay",
    "9": "two_logs",
}
"""The folder of ``forensics/findings/rules/`` for the first digit of a code."""

NEEDING = {rule.code for rule in rules() if rule.needs}
"""Rules that want more than a log have tests of their own."""


def report_on(text: str, folder: Path) -> Report:
    """Return the report on a log."""
    path = folder / "build.log"
    path.write_text(text, encoding="utf-8", newline="\n")
    return judge(Inputs([read_log(str(path), max_bytes=1 << 30, on_progress=lambda _: None)]), Suppression())


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


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_it_speaks_at_the_right_lines(code: str, tmp_path: Path) -> None:
    example = EXAMPLES[code]
    log = log_of(example.fires, example.cites)
    assert log.marked
    found = of_code(report_on(log.text, tmp_path), code)
    assert sorted({e.span.line for one in found for e in one.evidence}) == log.marked
    texts = log.text.split("\n")
    assert all(e.text == texts[e.span.line - 1] for one in found for e in one.evidence)


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_it_is_silent_on_a_look_alike(code: str, tmp_path: Path) -> None:
    log = log_of(EXAMPLES[code].quiet)
    assert log.marked == []
    assert of_code(report_on(log.text, tmp_path), code) == []


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_what_is_not_certain_says_what_would_settle_it(code: str, tmp_path: Path) -> None:
    for finding in report_on(log_of(EXAMPLES[code].fires).text, tmp_path).findings:
        assert bool(finding.settle) == (finding.confidence is not Confidence.CERTAIN)
        assert 1 <= len(finding.evidence) <= MAX_EVIDENCE
        assert finding.evidence_total >= len(finding.evidence)
        assert finding.title
        assert finding.cause


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_every_code_is_explained(rule: Rule) -> None:
    told = rule.explanation
    assert told.cause
    assert told.confirm
    assert told.fixes
    assert told.sources
    assert rule.needs <= set(Need)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_the_first_digit_of_a_code_names_the_folder_of_its_rule(rule: Rule) -> None:
    family = importlib.import_module(f"{package.__name__}.{FAMILIES[rule.code.removeprefix('TF')[0]]}")
    modules = pkgutil.iter_modules(family.__path__, f"{family.__name__}.")
    assert any(rule in vars(importlib.import_module(module.name)).values() for module in modules)
