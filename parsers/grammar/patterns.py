"""A rule of the grammars in words, for people: literals as they are, fields in angle brackets, other text as "…"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trtforensics.parsers.grammar.grammar import CompiledRule, RuleTerminal

_LOOK = re.compile(r"\(\?<?[=!](?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)")
"""A look-around of a regex, with at most one group inside."""
_REPEATED = re.compile(r"(?:\[(?:[^\]\\]|\\.)*\]|\\[SsWwDdb]|\.)(?:[*+]\??|\{[0-9,]+\}\??|\?)?")
"""A class of characters, perhaps repeated."""


_ANY_OF_NAMES = re.compile(r"(?:[\w\\*+]{3,}\|){2}")
"""How a field begins that is one of several names."""


def patterns_of(rule: CompiledRule) -> tuple[str, ...]:
    """Return the messages that a rule reads, without those that are the beginning of another."""
    found = {"".join(map(_words, terminals)).strip() for terminals in rule.alternatives}
    longest = (one for one in found if not any(other != one and other.startswith(one) for other in found))
    return tuple(sorted(longest))


def _words(terminal: RuleTerminal) -> str:
    if terminal.literal:
        return terminal.literal
    if not terminal.field:
        return _readable(terminal.regex)
    listed = _readable(terminal.regex) if _ANY_OF_NAMES.match(terminal.regex) else ""
    return f"<{terminal.field}: {listed}>" if listed else f"<{terminal.field}>"


def _readable(regex: str) -> str:
    """Return a regex without its syntax: what may be any text becomes "…"."""
    text = _REPEATED.sub("…", _LOOK.sub("", regex))
    text = re.sub(r"\(\?[:>]", "(", text)
    text = re.sub(r"\\(.)", r"\1", text)
    return re.sub(r"…(?:[*+?]|\s*…)*", "…", text)
