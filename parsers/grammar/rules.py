"""A compiled rule of a grammar: its kind of line and its alternatives, terminal by terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trtforensics.parsers.grammar.line_kinds import LineKind


@dataclass(frozen=True, slots=True)
class RuleTerminal:
    """A terminal in an alternative: a literal text, or a regex that may fill a field."""

    literal: str
    regex: str
    field: str | None


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule: the kind of line that it reads, and the sequences of terminals that the kind's regex stands for."""

    kind: LineKind
    alternatives: tuple[tuple[RuleTerminal, ...], ...]
    is_bulk: bool
    """Whether lines of this kind fill logs."""
    decided_by: str
    """A regex of what behind a prefix shows that no further byte of the line can change how the prefix is read."""
