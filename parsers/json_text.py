"""JSON with places: where each key and value of a document stands, and which keys stand twice.

Two readers of one language. :func:`locate` runs the grammar (``grammars/nested/replay.lark``) and knows every place;
:func:`members` walks one object and leaves its values to the json module, fifty times as fast, for loading in bulk.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from json.decoder import scanstring
from typing import TYPE_CHECKING, Any, NamedTuple

from lark import Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from trtforensics.errors import NotAReplayError
from trtforensics.parsers import nested
from trtforensics.replay_model import FieldPath, TextSpan

if TYPE_CHECKING:
    from collections.abc import Callable

Node = Tree[Token] | Token

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?[0-9]+")
_SHOWN = 20


class Lines:
    """Turns an offset in a text into a place: line and column from 1, and the byte where the line begins."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._bytes = self._starts
        if not text.isascii():
            sizes = (len(line.encode("utf-8", "surrogatepass")) for line in re.findall("[^\n]*\n", text))
            self._bytes = [0, *accumulate(sizes)]

    def place(self, offset: int) -> TextSpan:
        """Return the place of the character at an offset."""
        line = bisect_right(self._starts, offset) - 1
        return TextSpan(self._file, line + 1, self._bytes[line], offset - self._starts[line] + 1)


class Member(NamedTuple):
    """A key of an object with its value; ``at`` is the offset of the key."""

    key: str
    at: int
    value: Any


def members(text: str, at: int, decode: Callable[[str, int], tuple[Any, int]]) -> tuple[list[Member], int]:
    """Read the object that begins at ``at``: its members in order, repeated keys included, and the offset behind it.

    ``decode`` reads the value at an offset and returns it with the offset behind it, as
    ``json.JSONDecoder().raw_decode`` does.

    Raises:
        ValueError: this is no object, or one that is damaged.
    """
    if text[at : at + 1] != "{":
        raise ValueError("not an object")
    found: list[Member] = []
    at = skip(text, at + 1)
    if text[at : at + 1] == "}":
        return found, at + 1
    while True:
        if text[at : at + 1] != '"':
            raise ValueError("not a key")
        key, end = scanstring(text, at + 1, True)  # noqa: FBT003 - its arguments are positional only
        end = skip(text, end)
        if text[end : end + 1] != ":":
            raise ValueError("no colon")
        value, end = decode(text, skip(text, end + 1))
        found.append(Member(key, at, value))
        end = skip(text, end)
        if text[end : end + 1] == "}":
            return found, end + 1
        if text[end : end + 1] != ",":
            raise ValueError("no comma")
        at = skip(text, end + 1)


def skip(text: str, at: int) -> int:
    """Return the offset of the next character that is not white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


@dataclass(slots=True)
class Places:
    """Where the keys and values of a document stand, by path; of a key that stands twice, the last."""

    values: dict[FieldPath, TextSpan] = field(default_factory=dict)
    keys: dict[FieldPath, TextSpan] = field(default_factory=dict)
    leaves: dict[FieldPath, Any] = field(default_factory=dict)
    """The values that are neither object nor array; an empty object or array too, as ``{}`` or ``[]``."""
    repeated: list[tuple[FieldPath, TextSpan]] = field(default_factory=list)
    """Keys that stand again later in the same object, each with its own place."""

    def of(self, path: FieldPath) -> TextSpan:
        """Return the place of a value; of what is missing, the place of what should hold it."""
        while path not in self.values:
            path = path[:-1]
        return self.values[path]


def locate(text: str, file: str) -> Places:
    """Read a document with the grammar.

    Raises:
        NotAReplayError: this is no JSON; it says where and what was expected.
    """
    lines = Lines(text, file)
    try:
        tree = nested.parser("replay").parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(error, text, lines) from error
    places = Places()
    todo: list[tuple[FieldPath, Node]] = [((), tree.children[0])]
    while todo:
        path, node = todo.pop()
        opening, *rest = node.children if isinstance(node, Tree) else [node]
        at = getattr(opening, "start_pos", None) or 0
        places.values[path] = lines.place(at)
        if isinstance(node, Token):
            try:
                _leaf(path, node, at, lines, places)
            except ValueError as error:
                what = "holds a number with more digits than Python reads"
                raise NotAReplayError(str(places.values[path]), what, "Restore it") from error
        elif not rest:
            places.leaves[path] = [] if node.data == "array" else {}
        elif node.data == "array":
            todo += [((*path, index), child) for index, child in enumerate(rest)]
        else:
            todo += _pairs(path, node, lines, places)
    return places


def _leaf(path: FieldPath, token: Token, at: int, lines: Lines, places: Places) -> None:
    if token.type != "INTEGERS":
        places.leaves[path] = json.loads(token)
        return
    for index, number in enumerate(_NUMBER.finditer(token)):
        places.values[*path, index] = lines.place(at + number.start())
        places.leaves[*path, index] = int(number.group())


def _pairs(path: FieldPath, node: Tree[Token], lines: Lines, places: Places) -> list[tuple[FieldPath, Node]]:
    """Give the members of an object, of a repeated key the last."""
    last: dict[FieldPath, Node] = {}
    for pair in nested.trees(node, "pair"):
        key, value = pair.children
        own = (*path, json.loads(str(key)))
        if own in last:
            places.repeated.append((own, places.keys[own]))
        places.keys[own] = lines.place(getattr(key, "start_pos", None) or 0)
        last[own] = value
    return list(last.items())


def _syntax_error(error: UnexpectedInput, text: str, lines: Lines) -> NotAReplayError:
    ended = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    offset = len(text.rstrip()) if ended else error.pos_in_stream or 0
    where = str(lines.place(offset))
    before = nested.parser("replay").parse_interactive(text[:offset])
    before.exhaust_lexer()
    wanted = _wanted(before.accepts())
    if ended:
        return NotAReplayError(where, f"the JSON ends too early: {wanted} should follow", "Copy the file again")
    shown = text[offset : offset + _SHOWN].partition("\n")[0]
    return NotAReplayError(
        where, f"this is no JSON: {wanted} should stand before {shown!r}", "Mend or replace the file"
    )


_WANTED = {
    "COLON": "a colon",
    "COMMA": "a comma",
    "RBRACE": "`}`",
    "RSQB": "`]`",
    "STRING": "a string",
    "$END": "the end of the file",
}
_VALUE = "NUMBER"


def _wanted(terminals: set[str]) -> str:
    if _VALUE in terminals:
        return "a value or `]`" if "RSQB" in terminals else "a value"
    names = [name for terminal, name in _WANTED.items() if terminal in terminals]
    return " or ".join(names) or "something else"
