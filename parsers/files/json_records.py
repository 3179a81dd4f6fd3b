"""Reads JSON that TensorRT exports: several documents in one file, values with their places, names not escaped.

TensorRT puts names between quotes without escaping them. A quote, a backslash or a control character in a layer's name
makes a file that no JSON reader accepts. Such places are repaired and reported; any other damage is an error.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from trtforensics.errors import NotEngineInfoError
from trtforensics.model.engine import Repair
from trtforensics.parsers.files.json_text import Lines, skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.model.span import SourceSpan


class _RepeatedKeyError(ValueError):
    """An object has a key twice; JSON readers keep the last one without a word."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise _RepeatedKeyError(key)
        value[key] = item
    return value


_decode = json.JSONDecoder(strict=False, object_pairs_hook=_unique).raw_decode
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


class PlacedJson:
    """The documents of a text."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._lines = Lines(text, file)
        self._inserted: list[int] = []
        self.repairs: list[Repair] = []

    def documents(self, depth: int) -> Iterator[PlacedValue]:
        """Yield the documents in order; ``depth`` is how many levels of containers hold values with places.

        Raises:
            NotEngineInfoError: this is no JSON, and not for the reasons that can be repaired; the error says where.
        """
        at = skip(self._text, 0)
        while at < len(self._text):
            record, at = self._document(at, depth)
            yield record
            at = skip(self._text, at)

    def _document(self, at: int, depth: int) -> tuple[PlacedValue, int]:
        """Read a document as it stands, or else with its texts repaired."""
        try:
            return self._record(at, depth)
        except NotEngineInfoError as error:
            if self._inserted or not self._mend(at):
                raise
            try:
                return self._record(at, depth)
            except NotEngineInfoError:
                raise error from None

    def _record(self, at: int, depth: int) -> tuple[PlacedValue, int]:
        opening = self._text[at : at + 1]
        if depth and opening in {"{", "["}:
            return self._container(at, depth, closing="}" if opening == "{" else "]")
        span = self._place(at)
        value, end = self._plain(at)
        return PlacedValue(value, span), end

    def _container(self, begin: int, depth: int, *, closing: str) -> tuple[PlacedValue, int]:
        keyed = closing == "}"
        span = self._place(begin)
        pairs: dict[str, PlacedValue] = {}
        items: list[PlacedValue] = []
        at = skip(self._text, begin + 1)
        while self._text[at : at + 1] != closing:
            if pairs or items:
                at = self._behind(at, ",")
            if keyed:
                place = at
                key, at = self._plain(at)
                if str(key) in pairs:
                    raise self._repeated(place, str(key))
                pairs[str(key)], at = self._record(self._behind(skip(self._text, at), ":"), depth - 1)
            else:
                item, at = self._record(at, depth - 1)
                items.append(item)
                if len(items) > _MOST_ITEMS:
                    raise self._error(begin, f"a list holds more than {_MOST_ITEMS:,} entries, which no export does")
            at = skip(self._text, at)
        return PlacedValue(pairs if keyed else items, span), at + 1

    def _behind(self, at: int, mark: str) -> int:
        if self._text[at : at + 1] != mark:
            raise self._error(at, f"{mark!r} should stand here")
        return skip(self._text, at + 1)

    def _plain(self, at: int) -> tuple[Any, int]:
        try:
            return _decode(self._text, at)
        except json.JSONDecodeError as error:
            raise self._error(error.pos, f"this is no JSON: {error.msg}") from error
        except _RepeatedKeyError as error:
            raise self._repeated(at, str(error)) from error
        except RecursionError as error:
            raise self._error(at, "is nested too deep for an export of TensorRT") from error

    def _mend(self, begin: int) -> bool:
        """Escape the quotes and backslashes inside the texts from here to the end; return whether there are any."""
        old = self._text
        marks: list[int] = []
        opening = old.find('"', begin)
        while opening >= 0:
            closing = _CLOSES.search(old, opening + 1)
            end = closing.start() if closing else len(old)
            unescaped = [*islice(_unescaped(old, opening + 1, end), _MOST_UNESCAPED + 1)]
            if unescaped:
                shown = old[opening + 1 : min(end, opening + _SHOWN)]
                self.repairs.append(Repair(self._place(opening), f"a name that is not escaped: {shown}"))
            marks += unescaped
            if len(marks) > _MOST_UNESCAPED:
                what = f"more than {_MOST_UNESCAPED:,} quotes and backslashes are not escaped up to here"
                raise self._error(opening, what)
            opening = old.find('"', end + 1)
        cuts = [0, *marks, len(old)]
        self._text = "\\".join(old[a:b] for a, b in pairwise(cuts))
        self._inserted = [mark + count for count, mark in enumerate(marks)]
        return bool(marks)

    def _place(self, at: int) -> SourceSpan:
        return self._lines.place(at - bisect_left(self._inserted, at))

    def _repeated(self, at: int, key: str) -> NotEngineInfoError:
        return self._error(at, f"an object has the key {key!r} twice")

    def _error(self, at: int, what: str) -> NotEngineInfoError:
        if at >= len(self._text.rstrip()):
            return NotEngineInfoError(str(self._place(len(self._text.rstrip()))), "the JSON ends too early", _COPY)
        return NotEngineInfoError(str(self._place(at)), what, "Export it again")


_COPY = "Copy the file again, or export it again"


def _unescaped(text: str, begin: int, end: int) -> Iterator[int]:
    """Yield the places in a text of quotes and backslashes that must be escaped in JSON."""
    return (found.start() for found in _ESCAPE_OR_MARK.finditer(text, begin, end) if found[1])
