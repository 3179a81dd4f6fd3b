"""Every line that the grammar notes, and every cause that it looks for, is read by a rule or for an engine's facts."""

from __future__ import annotations

import ast

import pytest

from tests.support.repository import ROOT
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import CAUSE

KINDS = sorted({*(kind.name for kind in tables.kinds() if kind.noted), *(kind.name for kind in tables.kinds(CAUSE))})
READERS = (ROOT / "forensics" / "findings", ROOT / "forensics" / "engines")
READ = {
    node.value
    for folder in READERS
    for path in folder.rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text("utf-8")))
    if isinstance(node, ast.Constant) and isinstance(node.value, str)
}
"""The texts in the code that reads notes: the kinds that it asks for are among them."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_rule_reads_the_kind(kind: str) -> None:
    assert kind in READ
