"""What README and the pages of the documentation say of rules and forms holds, and the rule that they show works."""

from __future__ import annotations

import re

from tests.support.repository import ROOT
from trtforensics.findings.case import Case
from trtforensics.findings.forms.rendering import FORMS
from trtforensics.findings.registry import rules
from trtforensics.findings.rule import Rule
from trtforensics.sources.build_log import load_build_log

README = (ROOT / "README.md").read_text(encoding="utf-8")
WRITE_A_RULE = (ROOT / "docs" / "how-to" / "write-a-rule.md").read_text(encoding="utf-8")
REPORT = (ROOT / "docs" / "reference" / "commands" / "report.md").read_text(encoding="utf-8")
MOST_WORDS = 1500


def test_the_rule_that_the_page_shows_speaks() -> None:
    found = re.search(r"# Write a rule\n.*?```python\n(.*?)```", WRITE_A_RULE, re.DOTALL)
    assert found is not None
    names: dict[str, object] = {}
    exec(compile(found.group(1), "write-a-rule.md", "exec"), names)  # noqa: S102 - our own example
    (shown,) = [value for value in names.values() if isinstance(value, Rule)]
    log = load_build_log([str(ROOT / "testdata" / "logs" / "emulated-trtexec-8.6.log")])
    (seen,) = shown.check(Case(log.builds[0], log))
    assert seen.spans[0] == log.builds[0].tuning[0].span
    assert found.group(1).count("\n") < 60


def test_the_reference_of_report_names_every_form() -> None:
    assert f"[--format {'|'.join(FORMS)}]" in REPORT


def test_the_number_of_rules_is_the_one_that_readme_names() -> None:
    assert f"{len(rules())} rules over the log" in README


def test_readme_is_read_in_a_few_minutes() -> None:
    assert len(README.split()) <= MOST_WORDS
