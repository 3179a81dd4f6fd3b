"""Which messages a rule reads is found in its code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.findings.rules.examples import EXAMPLES
from tests.unit.findings.rules.test_examples import log_of
from trtforensics.findings.case import Case
from trtforensics.findings.messages_read import kinds_read, messages_read
from trtforensics.findings.registry import rule_of, rules
from trtforensics.parsers.grammar import tables
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.model.notes import Note


OF_HELPERS = {
    *("poly_flags", "poly_run", "banner", "onnx_header", "unknown_option", "cache_scope", "myelin_budget"),
    "workspace_hint",
}
"""Kinds that functions outside of the rules' modules ask for."""


def test_every_message_is_read_by_a_rule() -> None:
    assert set(tables.patterns()) - {kind for rule in rules() for kind in kinds_read(rule)} <= OF_HELPERS


def test_a_rule_of_kinds_and_a_rule_of_a_function_have_their_messages() -> None:
    assert any("has no member named" in message for message in messages_read(rule_of("TF659")))
    assert any("Could not find any implementation for node <layer>" in one for one in messages_read(rule_of("TF301")))


def test_a_rule_that_reads_no_message_has_none() -> None:
    assert messages_read(rule_of("TF115")) == ()


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_a_rule_asks_for_no_other_kinds(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    real = Case.notes

    def notes(case: Case, *kinds: str) -> list[Note]:
        asked.update(kinds)
        return real(case, *kinds)

    path = tmp_path / "build.log"
    path.write_text(log_of(EXAMPLES[code].fires).text, encoding="utf-8", newline="\n")
    log = read_log(str(path), max_bytes=1 << 30, on_progress=lambda _: None).log
    monkeypatch.setattr(Case, "notes", notes)
    for build in log.builds:
        list(rule_of(code).check(Case(build, log, None, None, None, None)))
    assert asked.intersection(tables.patterns()) - OF_HELPERS <= set(kinds_read(rule_of(code)))
