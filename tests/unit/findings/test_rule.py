"""A rule is refused where its code or its texts could not be shown."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.for_each import for_each
from trtforensics.findings.finding import Severity
from trtforensics.findings.registry import rule_of
from trtforensics.findings.rule import Fix, Rule, rule


def declared(code: str = "XX001", title: str = "A title", fix: Fix | str = "e", sources: tuple[str, ...] = ()) -> Rule:
    """Return a rule that finds nothing."""
    return rule(code, Severity.NOTE, title, cause="c", confirm="d", fixes=(fix,), sources=sources)(lambda _: ())


@for_each(
    "wrong",
    [
        {"code": "TF012"},
        {"code": "TF1234"},
        {"code": "TF201", "sources": ()},
        {"title": ""},
        {"fix": ""},
        {"fix": Fix("e", since="ten")},
    ],
)
def test_a_rule_that_could_not_be_shown_is_refused(wrong: dict[str, Any]) -> None:
    assert declared().code == "XX001"
    with pytest.raises(ValueError, match=r"^\S+ (is no|lacks|bounds)"):
        declared(**wrong)


def test_a_rule_has_the_messages_of_the_kinds_that_it_reads() -> None:
    assert any("has no member named" in message for message in rule_of("TF659").messages)
    assert any("Could not find any implementation for node <layer>" in one for one in rule_of("TF301").messages)
    assert rule_of("TF115").messages == ()
