"""Reads JSON that TensorRT exports: several documents in one file, values with their places, names not escaped.

TensorRT puts names between quotes without escaping them. A quote, a backslash or a control character in a layer's name
makes a file that no JSON reader accepts. Such places are repaired and reported; any other damage is an error.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from typing import Any, NamedTuple, TypeVar

from trtforensics.errors import NotEngineInfoError
from trtforensics.model.engine import Repair
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.files.located_json import LocatedJson, Members
from trtforensics.parsers.text.document import Document

_T = TypeVar("_T")


def each_document(
    document: Document, depth: int, read: Callable[[PlacedValue], _T], next_step: str
) -> tuple[tuple[_T, ...], tuple[Repair, ...]]:
    """Return what ``read`` makes of each document of a file, and what was repaired; ``depth`` is that of places.

    Raises:
        NotEngineInfoError: a document is no JSON or not whole, or there is none.
    """
    records = ExportedJson(document.data.decode("utf-8", "replace"), document.info.path)
    values = tuple(map(read, records.documents(depth)))
    if not values:
        raise NotEngineInfoError(document.info.path, "the file is empty", next_step)
    return values, tuple(records.repairs)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(_twice(next(key for key in keys if keys.count(key) > 1)))
    return value


def _twice(key: str) -> str:
    return f"an object has the key {key!r} twice"


_CLOSES = re.compile(r'(?<!\\)"(?=\s*(?::|[\]}]\s*(?:[,\]}]|$)|,\s*["{\[]|$))')
"""A quote that ends a text: behind it stands what follows a key or a value, which rarely stands inside a name."""
_ESCAPE_OR_MARK = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(["\\])')
_SHOWN = 60
_MOST_UNESCAPED = 1 << 17
"""Quotes and backslashes in need of repair: eight for each of 16,000 layers. Each takes some hundred bytes."""
_MOST_ITEMS = 1 << 16
"""Layers of an engine or entries of a profile; a layer takes some kilobytes until it is printed."""


class PlacedValue(NamedTuple):
    """A value with its place. Containers down to the requested depth hold such values, all others plain ones."""

    value: Any
    span: SourceSpan


class ExportedJson(LocatedJson):
    """The documents of a text."""

    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_unique)

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text, file)
        self._inserted: list[int] = []
        self.repairs: list[Repair] = []

    def documents(self, depth: int) -> Iterator[PlacedValue]:
        """Yield the documents in order; ``depth`` is how many levels of containers hold values with places.

        Raises:
            NotEngineInfoError: this is no JSON, and not for the reasons that can be repaired; the error says where.
        """
        at = self.skip(0)
        while at < len(self.text):
            value, end = self._document(at, depth)
            yield self._placed(value, at)
            at = self.skip(end)

    def refused(self, at: int, what: str, next_step: str) -> NotEngineInfoError:
        """Return the error for what stands at an offset."""
        return NotEngineInfoError(str(self._place(at)), what, next_step)

    def check(self, members: Members, begin: int, end: int) -> None:  # noqa: ARG002 - as in the base
        """Refuse a list that is too long.

        Raises:
            NotEngineInfoError: it is.
        """
        if len(members) > _MOST_ITEMS and not members.is_object:
            what = f"a list holds more than {_MOST_ITEMS:,} entries, which no export does"
            raise self.refused(begin, what, "Export it again")

    def _document(self, at: int, depth: int) -> tuple[Any, int]:
        """Read a document as it stands, or else with its texts repaired."""
        try:
            return self.value(at, depth)
        except NotEngineInfoError as error:
            if self._inserted or not self._mend(at):
                raise
            try:
                return self.value(at, depth)
            except NotEngineInfoError:
                raise error from None

    def _placed(self, value: Any, at: int) -> PlacedValue:  # noqa: ANN401 - any JSON value
        span = self._place(at)
        if not isinstance(value, Members):
            return PlacedValue(value, span)
        if not value.is_object:
            return PlacedValue([self._placed(member.value, member.at) for member in value], span)
        known: dict[str, PlacedValue] = {}
        for member in value:
            if member.key in known:
                raise self.refused(member.key_at, _twice(str(member.key)), "Export it again")
            known[str(member.key)] = self._placed(member.value, member.at)
        return PlacedValue(known, span)

    def _mend(self, begin: int) -> bool:
        """Escape the quotes and backslashes inside the texts from here to the end; return whether there are any."""
        old = self.text
        marks: list[int] = []
        opening = old.find('"', begin)
        while opening >= 0:
            closing = _CLOSES.search(old, opening + 1)
            end = closing.start() if closing else len(old)
            marked = (mark.start() for mark in _ESCAPE_OR_MARK.finditer(old, opening + 1, end) if mark[1])
            unescaped = [*islice(marked, _MOST_UNESCAPED + 1)]
            if unescaped:
                shown = old[opening + 1 : min(end, opening + _SHOWN)]
                self.repairs.append(Repair(self._place(opening), f"a name that is not escaped: {shown}"))
            marks += unescaped
            if len(marks) > _MOST_UNESCAPED:
                what = f"more than {_MOST_UNESCAPED:,} quotes and backslashes are not escaped up to here"
                raise self.refused(opening, what, "Export it again")
            opening = old.find('"', end + 1)
        cuts = [0, *marks, len(old)]
        self.text = "\\".join(old[a:b] for a, b in pairwise(cuts))
        self._inserted = [mark + count for count, mark in enumerate(marks)]
        return bool(marks)

    def _place(self, at: int) -> SourceSpan:
        return self.lines.place(at - bisect_left(self._inserted, at))
