"""Every line that the grammar notes for findings, and every cause that it looks for, is read by a rule."""

from __future__ import annotations

import ast

import pytest

from tests.support.repository import ROOT
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import CAUSE

KINDS = sorted({*(kind.name for kind in tables.kinds() if kind.noted), *(kind.name for kind in tables.kinds(CAUSE))})
FINDINGS = ROOT / "forensics" / "findings"
READ = {
    node.value
    for path in FINDINGS.rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text("utf-8")))
    if isinstance(node, ast.Constant) and isinstance(node.value, str)
}
"""The texts in the code of findings: the kinds that rules ask for are among them."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_rule_reads_the_kind(kind: str) -> None:
    assert kind in READ
