"""Reads JSON with places: where each key and value of a document stands, and which keys stand twice.

There are two readers. :func:`locate` runs the grammar (``grammar/nested_rules/replay.lark``) and knows every place.
:func:`members` reads one object and leaves its values to the json module; it is fifty times as fast, and loads replays.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from lark import Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from trtforensics.errors import NotAReplayError
from trtforensics.model.replay import FieldPath, TextSpan
from trtforensics.parsers.grammar import nested
from trtforensics.parsers.text.json_bounds import values_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Node = Tree[Token] | Token

_key = json.JSONDecoder().raw_decode
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?[0-9]+")
_SHOWN = 20
_MOST_LOCATED = 1 << 16
"""Values of a text whose every place is known: a tree of them takes a hundred megabytes."""
_LEAST_BYTES_A_MEMBER = 64
_LONGEST_KEY = 1 << 20
_GIVE = "Give the file that Polygraphy's `--save-tactics` wrote"


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


class ObjectMember(NamedTuple):
    """A key of an object with its value; ``at`` is the offset of the key."""

    key: str
    at: int
    value: Any


def members(
    text: str, at: int, decode: Callable[[str, int], tuple[Any, int]], file: str
) -> tuple[list[ObjectMember], int]:
    """Read the object that begins at ``at``: its members in order, repeated keys included, and the offset behind it.

    ``decode`` reads the value at an offset and returns it with the offset behind it, as
    ``json.JSONDecoder().raw_decode`` does.

    Raises:
        ValueError: this is no object, or one that is damaged.
        NotAReplayError: the object has more members than a replay of its size, or a key of a million characters.
    """
    if text[at : at + 1] != "{":
        raise json.JSONDecodeError("Expecting an object", text, at)
    begin, found = at, list[ObjectMember]()
    at = skip(text, at + 1)
    if text[at : at + 1] == "}":
        return found, at + 1
    while True:
        if text[at : at + 1] != '"':
            raise json.JSONDecodeError("Expecting a key", text, at)
        key, end = _key(text, at)
        if len(key) > _LONGEST_KEY:
            raise NotAReplayError(file, f"holds a name of {len(key):,} characters, which no layer has", _GIVE)
        end = skip(text, end)
        if text[end : end + 1] != ":":
            raise json.JSONDecodeError("Expecting ':' delimiter", text, end)
        value, end = decode(text, skip(text, end + 1))
        found.append(ObjectMember(key, at, value))
        if len(found) > _MOST_LOCATED and len(found) * _LEAST_BYTES_A_MEMBER > end - begin:
            what = f"an object begins with {len(found):,} members in {end - begin:,} characters, which no replay does"
            raise NotAReplayError(file, what, _GIVE)
        end = skip(text, end)
        if text[end : end + 1] == "}":
            return found, end + 1
        if text[end : end + 1] != ",":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, end)
        at = skip(text, end + 1)


def skip(text: str, at: int) -> int:
    """Return the offset of the next character that is not white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


class _KeyAndValue(NamedTuple):
    key: Token
    value: Node


class Places:
    """Where the keys and values of a document stand, by path; of a key that stands twice, the last.

    :func:`locate` makes it. A path is looked up in the syntax tree when its place is needed.
    """

    def __init__(self, root: Node, lines: Lines) -> None:
        self._root = root
        self._lines = lines
        self._pairs: dict[int, dict[str, _KeyAndValue]] = {}

    def of(self, path: FieldPath) -> TextSpan:
        """Return the place of a value; of a missing value, the place of the container that should hold it."""
        node, at = self._root, _begin(self._root)
        for key in path:
            if isinstance(node, Token):
                return self._lines.place(_element(node, key) if node.type == "INTEGERS" else at)
            child = self._child(node, key)
            if child is None:
                break
            node, at = child, _begin(child)
        return self._lines.place(at)

    def key(self, path: FieldPath) -> TextSpan:
        """Return the place of a key that is there.

        Raises:
            KeyError: it is not.
        """
        node = self._root
        for step in path[:-1]:
            child = self._child(node, step) if isinstance(node, Tree) else None
            if child is None:
                raise KeyError(path)
            node = child
        return self._lines.place(_begin(self._members(node)[str(path[-1])].key))

    def repeated(self) -> list[tuple[FieldPath, TextSpan]]:
        """Return the keys that are repeated later in the same object, each with its own place."""
        found = []
        for path, node in self._walk():
            if isinstance(node, Tree) and node.data == "object":
                kept = self._members(node)
                for pair in _pairs_of(node):
                    name = json.loads(str(pair.key))
                    if kept[name].key is not pair.key:
                        found.append(((*path, name), self._lines.place(_begin(pair.key))))
        return found

    def leaves(self) -> dict[FieldPath, Any]:
        """Return the values that are neither object nor array, and empty ones, by path.

        Raises:
            NotAReplayError: a number has more digits than Python reads.
        """
        found: dict[FieldPath, Any] = {}
        for path, node in self._walk():
            try:
                if isinstance(node, Tree):
                    found |= {path: [] if node.data == "array" else {}} if not node.children[1:] else {}
                elif node.type == "INTEGERS":
                    found |= {(*path, index): number for index, number in enumerate(json.loads(str(node)))}
                else:
                    found[path] = json.loads(str(node))
            except ValueError as error:
                what = "holds a number with more digits than Python reads"
                raise NotAReplayError(str(self.of(path)), what, "Restore it") from error
        return found

    def _walk(self) -> Iterator[tuple[FieldPath, Node]]:
        todo: list[tuple[FieldPath, Node]] = [((), self._root)]
        while todo:
            path, node = todo.pop()
            yield path, node
            if isinstance(node, Token):
                continue
            if node.data == "array":
                todo += [((*path, index), child) for index, child in enumerate(node.children[1:])]
            else:
                todo += [((*path, name), pair.value) for name, pair in self._members(node).items()]

    def _child(self, node: Tree[Token], key: str | int) -> Node | None:
        if node.data == "array":
            return node.children[key + 1] if isinstance(key, int) and key + 1 < len(node.children) else None
        pair = self._members(node).get(str(key))
        return pair.value if pair is not None else None

    def _members(self, node: Node) -> dict[str, _KeyAndValue]:
        if id(node) not in self._pairs:
            self._pairs[id(node)] = {json.loads(str(pair.key)): pair for pair in _pairs_of(node)}
        return self._pairs[id(node)]


class EntryPlaces:
    """Where the entries of a large replay stand; what is inside an entry has the entry's place.

    A syntax tree takes some hundred times the memory of its text, so that :func:`locate` makes it of small texts only.

    Raises:
        NotAReplayError: this is no JSON, and the error says where; or it has more entries than a replay of its size.
    """

    def __init__(self, text: str, file: str, lines: Lines) -> None:
        self._lines = lines
        self._keys: dict[FieldPath, int] = {}
        self._repeated: list[tuple[FieldPath, int]] = []
        twice: list[str] = []

        def joined(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            counts = Counter(key for key, _ in pairs)
            twice.extend(key for key, count in counts.items() if count > 1)
            return dict(pairs)

        decode = json.JSONDecoder(object_pairs_hook=joined).raw_decode

        def entry(text: str, at: int) -> tuple[list[str], int]:
            twice.clear()
            _, end = decode(text, at)
            return [*twice], end

        def below_top(text: str, at: int) -> tuple[Any, int]:
            return members(text, at, entry, file) if text[at : at + 1] == "{" else decode(text, at)

        try:
            top, end = members(text, skip(text, 0), below_top, file)
        except json.JSONDecodeError as error:
            what = f"this is no JSON: {error.msg[0].lower()}{error.msg[1:]}"
            raise NotAReplayError(str(lines.place(error.pos)), what, "Mend or replace the file") from error
        if skip(text, end) < len(text):
            what = "this is no JSON: the end of the file should stand here"
            raise NotAReplayError(str(lines.place(skip(text, end))), what, "Mend or replace the file")
        for member in top:
            self._add((member.key,), member.at)
            for own in member.value if isinstance(member.value, list) else ():
                if isinstance(own, ObjectMember):
                    self._add((member.key, own.key), own.at)
                    self._repeated += [((member.key, own.key, name), own.at) for name in own.value]

    def of(self, path: FieldPath) -> TextSpan:
        """Return the place of the entry that a path leads to or into."""
        return self._lines.place(next((self._keys[path[:n]] for n in (2, 1) if path[:n] in self._keys), 0))

    def key(self, path: FieldPath) -> TextSpan:
        """Return the place of the last entry of a name."""
        return self.of(path)

    def repeated(self) -> list[tuple[FieldPath, TextSpan]]:
        """Return the entries that are repeated later, each with its own place."""
        return [(path, self._lines.place(at)) for path, at in self._repeated]

    def _add(self, path: FieldPath, at: int) -> None:
        if path in self._keys:
            self._repeated.append((path, self._keys[path]))
        self._keys[path] = at


def _pairs_of(node: Node) -> Iterator[_KeyAndValue]:
    """Yield the members of an object in the syntax tree; a key is always a token."""
    if isinstance(node, Tree):
        for pair in nested.trees(node, "pair"):
            key, value = pair.children
            if isinstance(key, Token):
                yield _KeyAndValue(key, value)


def _begin(node: Node) -> int:
    """Return the offset where a value begins: an object's and an array's first child is its opening bracket."""
    opening = node.children[0] if isinstance(node, Tree) else node
    return opening.start_pos or 0 if isinstance(opening, Token) else 0


def _element(integers: Token, index: str | int) -> int:
    """Return the offset of one number of a list of integers, or of the list."""
    numbers = list(_NUMBER.finditer(integers))
    at = integers.start_pos or 0
    return at + numbers[index].start() if isinstance(index, int) and index < len(numbers) else at


def locate(text: str, file: str) -> Places | EntryPlaces:
    """Read a document with the grammar; of a large one, find only the entries.

    Raises:
        NotAReplayError: this is no JSON; it says where and what was expected.
    """
    lines = Lines(text, file)
    if values_in(text) > _MOST_LOCATED:
        return EntryPlaces(text, file, lines)
    try:
        tree = nested.parser("replay").parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(error, text, lines) from error
    return Places(tree.children[0], lines)


def _syntax_error(error: UnexpectedInput, text: str, lines: Lines) -> NotAReplayError:
    ended = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    offset = len(text.rstrip()) if ended else error.pos_in_stream or 0
    where = str(lines.place(offset))
    before = nested.parser("replay").parse_interactive(text[:offset])
    before.exhaust_lexer()
    accepted: set[str] = before.accepts()  # type: ignore[no-untyped-call]
    wanted = _wanted(accepted)
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
