"""Free texts that end where what must follow them first stands: ``.+?(?=, Tactic: )``.

To say that such a terminal takes exactly some text, a search for the literals that may begin what follows is several
times as fast as the regex, which tries it at every byte.
"""

from __future__ import annotations

import re
from itertools import repeat
from operator import and_
from typing import Self

from trtforensics.model.regexes import LateRegex
from trtforensics.parsers.grammar.grammar import REGEX_FLAGS

_TERMINAL = r"\(\(\?>(.*)\)\)|\(\?>(.*)\)"
"""As a layout has it, perhaps captured."""

_LAZY = r"(?P<forbidden>\(\?![^()]*\))?\.\+\?(?P<follows>\(\?=.*\))"

_LITERAL = LateRegex(r"(?:\\(?P<escaped>[^\w\s])|(?P<plain>[^\\\[\](){}.?*+^$|]))(?![?*+{])")


class LazyText:
    """A terminal of this form."""

    def __init__(self, forbidden: str, follows: str, beginnings: list[bytes]) -> None:
        self._forbidden = re.compile(forbidden.encode("latin-1"), REGEX_FLAGS).match if forbidden else None
        self._follows = re.compile(follows.encode("latin-1"), REGEX_FLAGS).match
        self._beginnings = [(beginning, len(beginning) - 1) for beginning in beginnings]

    @classmethod
    def of(cls, regex: str) -> Self | None:
        """Return the terminal of a regex; None where it has another form, or what follows may begin with anything."""
        terminal = re.fullmatch(_TERMINAL, regex)
        found = re.fullmatch(_LAZY, terminal[1] or terminal[2]) if terminal else None
        if found is None:
            return None
        beginnings = [_beginning(choice) for choice in _choices(found["follows"][3:-1])]
        return cls(found["forbidden"] or "", found["follows"], beginnings) if all(beginnings) else None

    def surely_takes(self, data: bytes, begins: list[int], ends: list[int], limits: list[int]) -> list[bool]:
        """Say whether it takes just what stands between each of ``begins`` and ``ends``, in lines up to ``limits``.

        False may also mean that only the regex can tell.
        """
        taken = list(map(bool, map(self._follows, repeat(data), ends, limits)))
        if self._forbidden is not None:
            taken = list(map(and_, taken, map(bool, map(self._forbidden, repeat(data), begins, limits))))
        for beginning, more in self._beginnings:
            texts = [data[begin + 1 : end + more] for begin, end in zip(begins, ends, strict=True)]
            taken = [sure and beginning not in text for sure, text in zip(taken, texts, strict=True)]
        return taken


def _choices(regex: str) -> list[str]:
    """Cut a regex at the bars that are in no group."""
    choices, depth = [""], 0
    for part in re.findall(r"\\.|\[(?:\\.|[^\]\\])*\]|.", regex):
        depth += (part == "(") - (part == ")")
        if part == "|" and not depth:
            choices.append("")
        else:
            choices[-1] += part
    return choices


def _beginning(regex: str) -> bytes:
    """Return the literal that a regex without a choice begins with."""
    text, at = "", 0
    while found := _LITERAL.compiled.match(regex, at):
        text += found["escaped"] or found["plain"]
        at = found.end()
    return text.encode("latin-1")
