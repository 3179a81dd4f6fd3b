"""Which lines of a text hold what is searched for: a text, or a regular expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE = 1 << 20
"""Bytes that are searched at once: between slices other threads run."""


@dataclass(frozen=True)
class LineMatcher:
    """What is searched for. Case counts only where it has a capital letter; no match goes over the end of a line."""

    text: str
    regex: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern for text.

        Raises:
            re.error: It is no regular expression.
        """
        return re.compile(self.text if self.regex else re.escape(self.text), self._flags)

    @cached_property
    def _bytes(self) -> re.Pattern[bytes]:
        """The pattern for UTF-8, compiled for whole windows of lines."""
        expression = self.text.encode() if self.regex else _literal(self.text, exact=self._exact)
        return re.compile(expression, self._flags | re.MULTILINE)

    @property
    def _exact(self) -> bool:
        return self._word != self._word.lower()

    @property
    def _word(self) -> str:
        r"""The text without classes such as ``\S``, whose capital is no letter that is searched for."""
        return re.sub(r"\\.", "", self.text) if self.regex else self.text

    @property
    def _flags(self) -> re.RegexFlag:
        return re.RegexFlag(0) if self._exact else re.IGNORECASE

    def places(self, text: bytes) -> Iterator[int]:
        """Yield where lines begin that match, in lines joined by line feeds."""
        start = 0
        while start <= len(text):
            end = text.find(b"\n", start + SLICE)
            end = len(text) if end < 0 else end
            yield from self._places_in(text, start, end)
            start = end + 1

    def _places_in(self, text: bytes, start: int, end: int) -> Iterator[int]:
        if not self.regex and self.text.isascii():
            yield from _found(text[start:end] if self._exact else text[start:end].lower(), self.text.encode(), start)
            return
        while start <= end:
            match = self._bytes.search(text, start, end)
            if match is None:
                return
            begin = text.rfind(b"\n", 0, match.start()) + 1
            behind = text.find(b"\n", match.start())
            behind = end if behind < 0 else min(behind, end)
            if match.end() <= behind or self._bytes.search(text, begin, behind):
                yield begin
            start = behind + 1


def _found(text: bytes, wanted: bytes, offset: int) -> Iterator[int]:
    """Yield where lines begin that hold some bytes; ``offset`` is where ``text`` begins in the whole."""
    at = text.find(wanted)
    while at >= 0:
        yield offset + text.rfind(b"\n", 0, at) + 1
        behind = text.find(b"\n", at)
        if behind < 0:
            return
        at = text.find(wanted, behind)


def _literal(text: str, *, exact: bool) -> bytes:
    """Return a pattern for a text in UTF-8; without ``exact``, letters beyond ASCII match in both cases too."""
    if exact or text.isascii():
        return re.escape(text).encode()
    cases = ({letter, letter.lower(), letter.upper()} for letter in text)
    return b"".join(b"(?:%b)" % b"|".join(re.escape(case).encode() for case in sorted(each)) for each in cases)
