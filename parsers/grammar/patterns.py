"""What a rule's regexes tell: its messages in words, how its texts begin, and what stands around a blank in them.

In words, literals are as they are, fields stand in angle brackets, other text is "…".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

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
    rf"(?P<character>\\(?P<escaped>\W)|(?P<listed>{_CLASS})|(?P<plain>[^\\.^$|])|\\?.)"
    r"(?:\{(?P<times>\d+)\}|(?P<varying>[*+?{][\d,]*\}?))?"
)
"""A character or a class of them with its quantifier."""
_ASCII = "".join(map(chr, range(128)))


_OPENS = re.compile(r"\((?:(?P<read>\?[:>]|(?!\?))|(?P<seen>\?<?[=!])|)")
"""How a group begins: one whose text is read, a look-around; what is neither has flags, say."""
_TIMES = re.compile(r"(?:(?P<never>[*?]|\{0?,\d*\}|\{0\})|\+|\{[\d,]+\})[?+]?")
_LONGEST = 8
_LATIN = "".join(map(chr, range(256)))
_FEW = 10
"""A class with more characters counts as any character."""


class _Begun(NamedTuple):
    """How the texts of a part of a regex begin: whole texts, and beginnings behind which anything may follow."""

    whole: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()

    def followed(self, by: _Begun) -> _Begun:
        whole = {text + behind for text in self.whole for behind in by.whole}
        longer = {(text + behind)[:_LONGEST] for text in self.whole for behind in by.open}
        cut = {text[:_LONGEST] for text in whole if len(text) >= _LONGEST}
        return _Begun(frozenset(text for text in whole if len(text) < _LONGEST), self.open | longer | cut)

    def repeated(self, times: re.Match[str] | None) -> _Begun:
        """Return how the part begins with a quantifier behind it."""
        if times is None or self == _NOTHING:
            return self
        if times.group().startswith("?"):
            return _Begun(self.whole | {""}, self.open)
        return _Begun(frozenset({""} if times["never"] else ()), self.whole | self.open)


_NOTHING, _BLANK, _ANYTHING = _Begun(frozenset({""})), _Begun(frozenset({" "})), _Begun(open=frozenset({""}))


def beginnings_of(regex: str) -> tuple[str, ...]:
    """Return how every match begins: with one of these texts of at most eight characters; an empty one stands for any.

    Blanks in front do not count, neither those of the match nor those of the texts.
    """
    begun, _ = _alternatives(regex, 0, front=True)
    texts = {text.lstrip(" ") for text in begun.whole | begun.open}
    return ("",) if "" in texts else tuple(sorted(texts))


def _alternatives(regex: str, at: int, *, front: bool) -> tuple[_Begun, int]:
    """Read alternatives up to the end of their group; return where that is. In ``front`` blanks are nothing."""
    done, begun = _Begun(), _NOTHING
    while at < len(regex) and regex[at] != ")":
        if regex[at] == "|":
            done, begun, at = _Begun(done.whole | begun.whole, done.open | begun.open), _NOTHING, at + 1
            continue
        first = front and begun == _NOTHING
        part, at = _group(regex, at, front=first) if regex[at] == "(" else _single(regex, at)
        part = _NOTHING if first and part == _BLANK else part
        times = _TIMES.match(regex, at)
        begun, at = begun.followed(part.repeated(times)), times.end() if times else at
    return _Begun(done.whole | begun.whole, done.open | begun.open), at


def _group(regex: str, at: int, *, front: bool) -> tuple[_Begun, int]:
    opens = _OPENS.match(regex, at)
    begun, at = _alternatives(regex, opens.end() if opens else at + 1, front=front)
    if opens and opens["seen"]:
        begun = _NOTHING
    elif not opens or opens["read"] is None:
        begun = _ANYTHING
    return begun, at + 1


def _single(regex: str, at: int) -> tuple[_Begun, int]:
    item = _ITEM.match(regex, at)
    if item is None:
        return _ANYTHING, at + 1
    characters = item["escaped"] or item["plain"] or re.findall(item["listed"] or "(?!)", _LATIN)
    return (_Begun(frozenset(characters)) if 0 < len(characters) <= _FEW else _ANYTHING), item.end("character")


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
