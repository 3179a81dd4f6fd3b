"""What stands around a blank in every text that a regex matches."""

from __future__ import annotations

import pytest

from tests.support.for_each import for_each
from trtforensics.parsers.grammar.line_kinds import LineKind
from trtforensics.parsers.grammar.patterns import CompiledRule, RuleTerminal, neighbours_of

_KIND = LineKind("a", "", (), (), (), "", None, noted=False)


@for_each(
    ("regex", "neighbours"),
    [
        ("a b", ((-1, "a"), (1, "b"))),
        (r"[0-2]{2}: ", ((-3, "012"), (-2, "012"), (-1, ":"))),
        (r"x\] [a-b]+", ((-2, "x"), (-1, "]"))),  # what is repeated is of no certain length
        (r"(?:a b)?c d", ((-1, "c"), (1, "d"))),  # what is optional may be missing
        (r"(?:x|(?:y z)) w", ((1, "w"),)),
        (r"(?<!\] )xy z(?= [A-Z])", ((-2, "x"), (-1, "y"), (1, "z"))),
        (r"a .b [c-d]", ((-1, "b"), (1, "cd"))),
    ],
)
def test_the_blank_about_which_most_is_known(regex: str, neighbours: tuple[tuple[int, str], ...]) -> None:
    rule = CompiledRule(_KIND, ((RuleTerminal("", regex, None),),), is_bulk=False, decided_by="")
    assert neighbours_of(rule) == [neighbours]


def test_a_rule_without_such_a_blank_is_refused() -> None:
    rule = CompiledRule(_KIND, ((RuleTerminal("", r".* .*", None),),), is_bulk=False, decided_by="")
    with pytest.raises(ValueError, match="no blank"):
        neighbours_of(rule)
