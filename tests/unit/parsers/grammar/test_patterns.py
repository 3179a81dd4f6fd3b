"""The grammar's rules in words."""

from __future__ import annotations

import pytest

from tests.support.for_each import for_each
from trtforensics.parsers.grammar import tables


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        ("no_implementation", "…Could not find any implementation for node <layer>.<text>"),
        ("profile_taken", "Profile <index> has been chosen by another IExecutionContext"),
        ("parse_failed", 'While parsing node number <index> [<op> -> "<tensor>"]'),
    ],
)  # fmt: skip
def test_literals_stay_and_fields_are_named(kind: str, pattern: str) -> None:
    assert pattern in tables.tables().patterns[kind]


@for_each("kind", sorted(tables.tables().patterns))
def test_no_syntax_of_regexes_is_left(kind: str) -> None:
    assert tables.tables().patterns[kind]
    assert not [p for p in tables.tables().patterns[kind] if "(?" in p or ".*" in p or ".+" in p or "[0-9]" in p]
