"""Reads JSON with places: where each key and value of a document stands, down to a depth, and which keys stand twice.

Values below that depth, and all numbers and texts, are left to the json module.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from trtforensics.errors import ForensicsError
from trtforensics.model.replay import TextSpan

EVERYTHING = 1 << 16
"""A depth that no document reaches."""
_SPACE = re.compile(r"[ \t\n\r]*")
_CLOSING = {"{": "}", "[": "]"}
_SHOWN = 20


class Member(NamedTuple):
    """A value of an object or a list with its key or index; ``key_at`` and ``at`` are offsets of both."""

    key: str | int
    key_at: int
    value: Any
    """An object of the json module; :class:`Members` down to the depth that was asked for."""
    at: int


class Members(list[Member]):
    """The members of an object in order, repeated keys included, or of a list."""

    def __init__(self, opening: str) -> None:
        super().__init__()
        self.is_object = opening == "{"

    @cached_property
    def last(self) -> dict[str | int, Member]:
        """The members by key; of a key that stands twice, the last."""
        return {member.key: member for member in self}


def plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value as the json module reads it."""
    if not isinstance(value, Members):
        return value
    if value.is_object:
        return {key: plain(member.value) for key, member in value.last.items()}
    return [plain(member.value) for member in value]


class LocatedJson:
    """A text that is read as JSON; subclasses say what is refused, and with which error."""

    decoder = json.JSONDecoder()

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.lines = Lines(text, file)

    def refused(self, at: int, what: str, next_step: str) -> ForensicsError:
        """Return the error for what stands at an offset."""
        raise NotImplementedError

    def check(self, members: Members, begin: int, end: int) -> None:
        """Refuse what no such document has, while the members from ``begin`` to ``end`` are read."""
        raise NotImplementedError

    def value(self, at: int, depth: int, wanted: str = "a value") -> tuple[Any, int]:
        """Read the value at an offset down to a depth; return it with the offset behind it.

        Raises:
            ForensicsError: this is no JSON, and it says where and what is missing; or it is refused.
        """
        try:
            return self._value(at, depth, wanted)
        except RecursionError as error:
            raise self.refused(at, "is nested too deep", "Export it again") from error

    def _value(self, at: int, depth: int, wanted: str) -> tuple[Any, int]:
        opening = self.text[at : at + 1]
        if depth and opening in _CLOSING:
            return self._members(at, opening, depth - 1)
        try:
            return self.decoder.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            if error.pos > at and opening in _CLOSING:
                what = f"this is no JSON: {error.msg[0].lower()}{error.msg[1:]}"
                raise self._damaged(error.pos, what, "something") from error
            raise self.missing(at, wanted) from error
        except ValueError as error:
            raise self.refused(at, str(error), "Export it again") from error

    def skip(self, at: int) -> int:
        """Return the offset of the next character that is not white space."""
        space = _SPACE.match(self.text, at)
        return space.end() if space else at

    def missing(self, at: int, wanted: str) -> ForensicsError:
        """Return the error for a text in which something else is ``wanted`` at an offset."""
        shown = self.text[at : at + _SHOWN].partition("\n")[0]
        return self._damaged(at, f"this is no JSON: {wanted} should stand before {shown!r}", wanted)

    def _damaged(self, at: int, what: str, wanted: str) -> ForensicsError:
        end = len(self.text.rstrip())
        if at >= end:
            return self.refused(end, f"the JSON ends too early: {wanted} should follow", "Copy the file again")
        return self.refused(at, what, "Mend or replace the file")

    def _members(self, begin: int, opening: str, depth: int) -> tuple[Members, int]:
        members, closing = Members(opening), _CLOSING[opening]
        at = self.skip(begin + 1)
        while self.text[at : at + 1] != closing:
            if members:
                at = self._behind(at, ",", f"a comma or `{closing}`")
            key, key_at = len(members), at
            if members.is_object:
                wanted = "a string" if members else f"`{closing}` or a string"
                if self.text[at : at + 1] != '"':
                    raise self.missing(at, wanted)
                key, at = self._value(at, 0, wanted)
                at = self._behind(self.skip(at), ":", "a colon")
            wanted = "a value" if members or members.is_object else f"a value or `{closing}`"
            value, end = self._value(at, depth, wanted)
            members.append(Member(key, key_at, value, at))
            self.check(members, begin, end)
            at = self.skip(end)
        return members, at + 1

    def _behind(self, at: int, mark: str, wanted: str) -> int:
        if self.text[at : at + 1] != mark:
            raise self.missing(at, wanted)
        return self.skip(at + 1)


class Lines:
    """Turns an offset in a text into a place: line and column from 1, and the byte where the line begins."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        lines = text.split("\n")
        self._starts = self._bytes = _starts(map(len, lines))
        if not text.isascii():
            self._bytes = _starts(len(line.encode("utf-8", "surrogatepass")) for line in lines)

    def place(self, offset: int) -> TextSpan:
        """Return the place of the character at an offset."""
        line = bisect_right(self._starts, offset) - 1
        return TextSpan(self._file, line + 1, self._bytes[line], offset - self._starts[line] + 1)


def _starts(sizes: Iterable[int]) -> list[int]:
    """Return where each line begins; sizes are without the line feeds."""
    return [begin + number for number, begin in enumerate(accumulate(sizes, initial=0))][:-1]
