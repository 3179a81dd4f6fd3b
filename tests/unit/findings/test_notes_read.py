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


def test_every_kind_that_is_asked_for_is_one_of_the_grammar() -> None:
    """A rule that asks for a name that no line has is silent, and no log shows it."""
    known = {kind.name for kind in tables.kinds()} | {kind.name for kind in tables.kinds(CAUSE)}
    known |= tables.tables().patterns.keys()
    asked = {
        kind.value
        for path in (ROOT / "forensics" / "findings").rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "case.notes"
        for kind in call.args
        if isinstance(kind, ast.Constant)
    }
    assert len(asked) > 100
    assert asked <= known


def test_every_message_is_read_by_a_rule() -> None:
    assert tables.tables().patterns.keys() - READ_BY_RULES <= OF_HELPERS
