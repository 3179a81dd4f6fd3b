"""Layouts: how lines of the bulk kinds are read by counting blanks. They are derived from the grammar's alternatives.

An alternative is a row of terminals. Its literals that hold a blank are anchors. The place of an anchor follows from
counting separators: from the left end of the line up to the first free text, and from the right end behind the last
free text. An anchor between two free texts is searched for. What lies between two anchors is a segment: a number, a
tactic id, a text without blanks, or a free text.

A layout never decides alone: ``bulk.py`` compares every literal, checks every number, and accepts a text only where the
regex of its terminals matches exactly it.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.parsers.grammar.line_kinds import LineKind
    from trtforensics.parsers.grammar.patterns import CompiledRule, RuleTerminal


class Content(Enum):
    """What a segment holds, which decides how it is checked."""

    NUMBER = auto()
    INTEGER = auto()
    TACTIC = auto()
    HEX = auto()
    REST = auto()
    """Any text, not empty."""
    NONBLANK = auto()
    """Any text without separators."""
    WORD = auto()
    """A text without separators that its regex must match."""
    FREE = auto()
    """A text, perhaps with blanks, that its regex must match."""


_MOST_SEARCHED = 2
"""The most anchors that a layout may search for: each costs a search in every line that may be of the layout."""

_BLANK_FREE = {Content.NUMBER, Content.INTEGER, Content.TACTIC, Content.HEX, Content.NONBLANK, Content.WORD}


class Anchor(NamedTuple):
    """A literal and its place: its first blank is separator number ``place`` of the body, from the left or the right.

    ``offset`` is that blank's offset in the literal. ``place`` is None for a literal at the beginning or end of the
    body, and for one that is ``searched``, which stands where a search first finds it.
    """

    text: bytes
    offset: int = 0
    place: int | None = None
    from_right: bool = False
    searched: bool = False


class Segment(NamedTuple):
    """The text between two anchors: one ``terminal``, or several with literals without blanks between them.

    ``regex`` captures the ``fields`` in their order, one group each.
    """

    content: Content
    fields: tuple[str, ...]
    regex: str
    terminal: bool


class Layout(NamedTuple):
    """One alternative of a kind. ``segments[i]`` begins where ``anchors[i]`` ends; the first anchor may be empty.

    ``separators`` is the number of separators in the body; None where it holds a free text.
    """

    kind: LineKind
    anchors: tuple[Anchor, ...]
    segments: tuple[Segment, ...]
    separators: int | None
    closed: bool
    """Whether the last anchor is the end of the line."""
    first_byte: bytes
    """The first byte of a body that opens with text; empty where several bytes are possible."""

    @property
    def opener(self) -> bytes:
        """The literal that the body begins with; empty where it begins with text."""
        return self.anchors[0].text

    @property
    def from_right(self) -> bool:
        """Whether anchors are searched for from the right, which is so where the last anchor is counted.

        Names come first in a line, and they may hold text that looks like an anchor: ``(Unnamed Layer* 1) [Shuffle]``.
        """
        return any(anchor.searched for anchor in self.anchors) and not self.anchors[-1].searched

    @property
    def only_searched(self) -> bool:
        """Whether every anchor behind the opener has to be searched for."""
        return len(self.anchors) > 1 and all(anchor.searched for anchor in self.anchors[1:])


def layouts(rules: Iterable[CompiledRule]) -> list[Layout]:
    """Derive the layouts of the bulk kinds.

    Those with an opening literal come first, then those with a counted anchor, then those with the most anchors.
    """
    derived = []
    for rule in (rule for rule in rules if rule.is_bulk):
        for alternative in rule.alternatives:
            layout = _layout(rule.kind, _merge_literals(alternative))
            if layout is not None and any(anchor.text for anchor in layout.anchors):
                derived.append(layout)
    return sorted(derived, key=lambda layout: (not layout.opener, layout.only_searched, -len(layout.anchors)))


def ranks(derived: Iterable[Layout]) -> dict[str, int]:
    """Return a rank for each kind: a line that two kinds can read belongs to the kind of the lower rank.

    Such lines occur where programs that share a file run them into each other. An opening literal wins anyway. Among
    the other kinds those that search in every line come last, so that they search only the lines that are left. A kind
    without a layout comes behind them all.
    """
    free = [layout for layout in derived if not layout.opener]
    searching = {layout.kind.name for layout in free if layout.only_searched}
    free.sort(key=lambda layout: layout.kind.name in searching)
    opened = [layout for layout in derived if layout.opener]
    return {layout.kind.name: rank for rank, layout in reversed(list(enumerate(free + opened)))}


_FIRST_BYTE = r"\(*(?:\?>)([^\\\[\](){}.?*+^$|])(?![?*+{])(?!.*\|)"
"""A literal character at the beginning of a segment's regex that holds no choice."""
_BLANK_FREE_TERMINAL = r"(?:\w|\[[-\w]+\](?:\{\d+\}|\+)?)+(?:\(\?=.*\))?"
"""A terminal of letters, digits and classes of them, as ``0x[0-9a-f]{8}``, perhaps with a lookahead behind it."""
_CHARACTERS = r"\[(\^?)((?:[^\]\\]|\\.)*)\]\+|\\S\+"
_NUMBERS = ("0", "12345678", "0.5", "1234.00005678")
_TACTICS = ("0x0", "0x0123456789abcdef")
_NAME = "x_y"
_INTEGERS = ("0", "12345678")


@cache
def _content(regex: str) -> Content:
    """Return what a terminal holds, by the texts that its regex accepts."""
    if regex == ".+":
        return Content.REST
    return _numeric(regex) or _text(regex)


def _numeric(regex: str) -> Content | None:
    pattern = re.compile(regex, re.ASCII)
    if "(?=" in regex or pattern.fullmatch(_NAME):
        return None
    accepts = {
        Content.NUMBER: _NUMBERS,
        Content.TACTIC: (*_TACTICS, "-1"),
        Content.HEX: _TACTICS,
        Content.INTEGER: _INTEGERS,
    }
    return next((content for content, texts in accepts.items() if all(map(pattern.fullmatch, texts))), None)


def _text(regex: str) -> Content:
    if re.fullmatch(_BLANK_FREE_TERMINAL, regex):
        return Content.WORD
    characters = re.fullmatch(_CHARACTERS, regex)
    if characters is None:
        return Content.FREE
    if characters.group(2) is None or (characters.group(1), characters.group(2)) == ("^", " "):
        return Content.NONBLANK
    negated, members = bool(characters.group(1)), characters.group(2)
    return Content.WORD if negated == (" " in members) else Content.FREE


def _merge_literals(parts: tuple[RuleTerminal, ...]) -> list[str | RuleTerminal]:
    """Return an alternative with its literals as texts, adjacent literals as one."""
    merged: list[str | RuleTerminal] = []
    for part in parts:
        if part.literal and merged and isinstance(merged[-1], str):
            merged[-1] += part.literal
        else:
            merged.append(part.literal or part)
    return merged


def _layout(kind: LineKind, items: list[str | RuleTerminal]) -> Layout | None:
    """Cut an alternative at its anchors; None where counting blanks and a search or two are not enough to read it."""
    texts, segments = _cut(items)
    free = [i for i, segment in enumerate(segments) if segment.content in {Content.FREE, Content.REST}]
    first, last = (free[0], free[-1]) if free else (len(texts), len(texts))
    closed = len(texts) > len(segments)
    ends_early = any(segment.content is Content.REST for segment in (segments if closed else segments[:-1]))
    if ends_early or last - first > _MOST_SEARCHED:
        return None
    for i in range(first + 1, last):  # no separators are counted there
        if segments[i].content is Content.NONBLANK:
            segments[i] = segments[i]._replace(content=Content.WORD)
    separators = None if free else sum(text.count(" ") for text in texts)
    anchors = _anchors(texts, first, last, closed=closed)
    return Layout(kind, anchors, tuple(segments), separators, closed, b"" if texts[0] else _first_byte(segments[0]))


def _first_byte(segment: Segment) -> bytes:
    first = re.match(_FIRST_BYTE, segment.regex)
    return first[1].encode("latin-1") if first else b""


def _cut(items: list[str | RuleTerminal]) -> tuple[list[str], list[Segment]]:
    """Return the anchors' texts and the segments between them; one anchor more where the line ends with a literal."""
    texts: list[str] = [items[0] if isinstance(items[0], str) else ""]
    segments: list[Segment] = []
    held: list[str | RuleTerminal] = []
    rest = items[1:] if isinstance(items[0], str) else items
    for position, item in enumerate(rest):
        is_last = position == len(rest) - 1
        if isinstance(item, str) and (" " in item or is_last) and held:
            segments.append(_segment(held))
            texts.append(item)
            held = []
        else:
            held.append(item)
    if held:
        segments.append(_segment(held))
    return texts, segments


def _segment(items: list[str | RuleTerminal]) -> Segment:
    parts = [item for item in items if not isinstance(item, str)]
    fields = tuple(part.field for part in parts if part.field is not None)
    contents = [_content(part.regex) for part in parts]
    regex = "".join(map(_regex, items))
    if len(items) == 1:
        return Segment(contents[0], fields, regex, terminal=True)
    blank_free = all(" " not in item if isinstance(item, str) else True for item in items)
    blank_free = blank_free and all(content in _BLANK_FREE for content in contents)
    return Segment(Content.WORD if blank_free else Content.FREE, fields, regex, terminal=False)


def _regex(item: str | RuleTerminal) -> str:
    if isinstance(item, str):
        return re.escape(item)
    return f"((?>{item.regex}))" if item.field is not None else f"(?>{item.regex})"


def _anchors(texts: list[str], first: int, last: int, *, closed: bool) -> tuple[Anchor, ...]:
    """Return the anchors: counted up to the ``first`` free segment and behind the ``last``, searched between them."""
    anchors = []
    for index, text in enumerate(texts):
        literal, offset = text.encode("latin-1"), text.find(" ")
        if first < index <= last:
            anchors.append(Anchor(literal, searched=True))
        elif index == 0 or offset < 0 or (closed and index == len(texts) - 1):
            anchors.append(Anchor(literal, from_right=index > 0))
        elif index > last:
            behind = sum(t.count(" ") for t in texts[index:])
            anchors.append(Anchor(literal, offset, behind, from_right=True))
        else:
            before = sum(t.count(" ") for t in texts[:index])
            anchors.append(Anchor(literal, offset, before))
    return tuple(anchors)
