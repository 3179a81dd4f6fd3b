"""The rules of the grammars as they stand, compiled once a process: a compilation takes most of a second."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from trtforensics.parsers.grammar.grammar import compile_rules
from trtforensics.parsers.grammar.line_kinds import LINE

if TYPE_CHECKING:
    from trtforensics.parsers.grammar.patterns import CompiledRule


@cache
def rules_of(start: str = LINE) -> tuple[CompiledRule, ...]:
    """Return the rules of a grammar, in its order."""
    return tuple(compile_rules(start))
