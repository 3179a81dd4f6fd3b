"""A short list of what programs print in their own words. Of many lines of one form it gives the first and the last."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from trtforensics.console.counting import grouped
from trtforensics.console.secrets import masked
from trtforensics.knowledge.table import rows
from trtforensics.model.deferred import regex
from trtforensics.model.log import Build, BuildLog, Message
from trtforensics.render.names import shortened

_PATTERNS = {row["what"]: regex(row["pattern"]) for row in rows("own_lines", "trtforensics.render")}
"""What stands before a text, what is no news, what tells most, what varies in lines of one form."""
_TELLING = ("figure", "setting", "end")
_FINE = {"V", "X", "D"}
"""Levels of messages that only a developer of the program asks for."""
_AT_ONCE, _ROWS, _READ, _TEXT, _AGAIN, _END = 20, 60, 300, 160, 80, 10
"""A text of at most so many lines is not listed again; the most rows; how many characters of a line make its form, and
are shown of it and of the last line of its form; the last lines, which tell how the program ended."""
_SIGNS = regex("[/=]")
_ALIKE = (12, 4, 2)
"""Up to so many lines of one form are listed one by one. The first number that fits into the rows is taken."""


def own_lines(log: BuildLog, cited: Collection[int]) -> tuple[str, ...]:
    """Return warnings that no finding has ``cited`` and lines that no rule reads; of many the forms that tell most."""
    if log.source.lines <= _AT_ONCE:
        return ()
    lines = chain.from_iterable((*build.own_lines, *_warnings(build)) for build in log.builds)
    said = {each.span.line: each for each in lines if each.span.line not in cited and each.severity not in _FINE}
    return tuple(_outline([each for _, each in sorted(said.items()) if _tells(each.text[:_READ])]))


def _warnings(build: Build) -> Iterator[Message]:
    marked = (each for each in build.messages if each.severity in {"W", "E", "F"})
    return (replace(each, text=f"[{each.severity}] {each.text}") for each in marked)


def _outline(told: Sequence[Message]) -> list[str]:
    groups: list[list[Message]] = []
    for varying in ("number", "name"):
        of_form = [*grouped(told, partial(_form, _PATTERNS[varying])).values()]
        for most in _ALIKE:
            parted = ([group] if len(group) > most else [[each] for each in group] for group in of_form)
            groups = [*chain.from_iterable(parted)]
            if len(groups) <= _ROWS:
                return _in_order(groups)
    ends = {id(each) for each in told[-_END:]}
    groups.sort(key=lambda group: _worth(group[-1].text[:_READ]) + (id(group[-1]) in ends), reverse=True)
    return [*_in_order(groups[:_ROWS]), f"and {len(groups) - _ROWS} more forms"]


def _tells(text: str) -> bool:
    return _PATTERNS["word"].search(text) is not None and _PATTERNS["noise"].search(text) is None


def _form(hole: re.Pattern[str], line: Message) -> str:
    """Return a line's text with a sign of their kind for numbers, names, paths and settings."""
    marked = hole.sub(lambda match: (_SIGNS.findall(match[0]) or "#")[0], _PATTERNS["stamp"].sub("", line.text[:_READ]))
    return " ".join(marked.split())


def _worth(text: str) -> int:
    return sum(_PATTERNS[what].search(text) is not None for what in _TELLING)


def _in_order(groups: Sequence[Sequence[Message]]) -> list[str]:
    return [*map(_row, sorted(groups, key=lambda group: group[0].span.line))]


def _row(group: Sequence[Message]) -> str:
    first, last = group[0], group[-1]
    text = f"{first.span.line}: {_shown(first.text, _TEXT)}"
    if first is last:
        return text
    return f"{text} … {len(group)} such, the last {last.span.line}: {_shown(last.text, _AGAIN)}"


def _shown(text: str, most: int) -> str:
    return shortened(masked(" ".join(text.split())), most)
