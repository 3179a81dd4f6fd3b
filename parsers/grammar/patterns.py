"""What a rule's regexes tell: its messages in words, for people, and the neighbours of a blank wherever it matches.

In words, literals are as they are, fields stand in angle brackets, other text is "…".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.parsers.grammar.grammar import CompiledRule, RuleTerminal


LOOK_AROUND = re.compile(r"\(\?<?[=!](?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)")
"""A look-around of a regex, with at most one group inside."""
_REPEATED = re.compile(r"(?:\[(?:[^\]\\]|\\.)*\]|\\[SsWwDdb]|\.)(?:[*+]\??|\{[0-9,]+\}\??|\?)?")
"""A class of characters, perhaps repeated."""


_ANY_OF_NAMES = re.compile(r"(?:[\w\\*+]{3,}\|){2}")
"""How a field begins that is one of several names."""


def patterns_of(rule: CompiledRule) -> tuple[str, ...]:
    """Return the messages that a rule reads, without those that are the beginning of another."""
    messages = {"".join(map(_words, terminals)).strip() for terminals in rule.alternatives}
    longest = (text for text in messages if not any(other != text and other.startswith(text) for other in messages))
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
    text = _REPEATED.sub("…", LOOK_AROUND.sub("", regex))
    text = re.sub(r"\(\?[:>]", "(", text)
    text = re.sub(r"\\(.)", r"\1", text)
    return re.sub(r"…(?:[*+?]|\s*…)*", "…", text)


Neighbours: TypeAlias = "tuple[tuple[int, str], ...]"
"""Offsets from a blank, each with the characters that may stand there."""

_FARTHEST = 8
_CLASS = r"\[(?:[^\]\\]|\\.)+\]"
_GROUP = re.compile(rf"\((?:[^()\\\[]|\\.|{_CLASS})*\)")
"""A group without groups in it."""
_ITEM = re.compile(
    rf"(?:\\(?P<escaped>\W)|(?P<listed>{_CLASS})|(?P<plain>[^\\.^$|])|\\?.)"
    r"(?:\{(?P<times>\d+)\}|(?P<varying>[*+?{][\d,]*\}?))?"
)
"""A character or a class of them with its quantifier."""
_ASCII = "".join(map(chr, range(128)))


def neighbours_of(rule: CompiledRule) -> list[Neighbours]:
    """Return for each alternative of a rule the neighbours of the blank about which most is known.

    Raises:
        ValueError: nothing is known.
    """
    return [_best("".join(re.escape(t.literal) or t.regex for t in terminals)) for terminals in rule.alternatives]


def _best(regex: str) -> Neighbours:
    regex = LOOK_AROUND.sub("", regex)
    while _GROUP.search(regex):
        regex = _GROUP.sub(".", regex)  # it may hold anything
    known = [near for run in _runs(regex) for near in _around_blanks(run)]
    best = max(known, key=lambda near: sum(1 / len(characters) for _, characters in near), default=())
    if not best:
        raise ValueError(f"no blank of {regex} has neighbours that are known")
    return best


def _runs(regex: str) -> Iterator[list[str]]:
    """Yield what follows each other in every match: the characters that each place may hold."""
    run: list[str] = []
    for item in _ITEM.finditer(regex):
        characters = item["escaped"] or item["plain"] or "".join(re.findall(item["listed"] or "(?!)", _ASCII))
        if characters and not item["varying"]:
            run += [characters] * int(item["times"] or 1)
        else:
            yield run
            run = []
    yield run


def _around_blanks(run: list[str]) -> Iterator[Neighbours]:
    for place, characters in enumerate(run):
        if characters == " ":
            first = max(place - _FARTHEST, 0)
            known = enumerate(run[first : place + _FARTHEST + 1], first - place)
            yield tuple((offset, allowed) for offset, allowed in known if offset)
