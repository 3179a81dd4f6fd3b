"""Every line that the grammar notes, and every cause that it looks for, is read by a rule or for an engine's facts."""

from __future__ import annotations

import ast

from tests.support.repository import ROOT
from tests.unit.findings.rules.test_examples import OF_HELPERS
from trtforensics.findings.registry import rules
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import CAUSE

READ_BY_RULES = {kind for rule in rules() for kind in rule.reads}


def test_every_kind_is_read() -> None:
    kinds = {kind.name for kind in tables.kinds() if kind.noted} | {kind.name for kind in tables.kinds(CAUSE)}
    engines = "\n".join(path.read_text("utf-8") for path in (ROOT / "forensics" / "engines").rglob("*.py"))
    texts = {node.value for node in ast.walk(ast.parse(engines)) if isinstance(node, ast.Constant)}
    assert kinds - READ_BY_RULES - OF_HELPERS - texts == set()


def test_every_message_is_read_by_a_rule() -> None:
    assert tables.tables().patterns.keys() - READ_BY_RULES <= OF_HELPERS
