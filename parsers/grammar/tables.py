"""The tables that reading a log needs: every kind of line with its regex, and the layouts of those that fill logs.

They are data in ``tables.json``, which ``generate.py`` makes of the grammars: compiling those takes Lark and a second.
Its first line is a digest of the rest and of the grammars. A table that was damaged, or is of other grammars than those
beside it, would change what a log says without a word; it is refused.
"""

from __future__ import annotations

import json
import os
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from trtforensics.errors import DamagedTablesError
from trtforensics.parsers.grammar.layouts import Anchor, Content, Layout, Segment
from trtforensics.parsers.grammar.line_kinds import LINE, LineKind

if TYPE_CHECKING:
    from trtforensics.parsers.grammar.patterns import Neighbours

PATH = os.path.join(os.path.dirname(__file__), "tables.json")  # noqa: PTH118, PTH120 - every start would pay for pathlib


class GrammarTables(NamedTuple):
    """The kinds of each grammar by its start rule, those of lines that also come bare, and the layouts.

    ``patterns`` are the messages that findings read, by kind, in words: ``<field>`` is captured, ``…`` is any text.
    ``decided_by`` says of each kind of prefix what must follow it so that no further byte can change how it is read.
    ``neighbours`` is what stands around a blank in each prefix at which lines are cut.
    """

    kinds: dict[str, tuple[LineKind, ...]]
    bare: tuple[LineKind, ...]
    layouts: tuple[Layout, ...]
    patterns: dict[str, tuple[str, ...]]
    decided_by: dict[str, str]
    neighbours: tuple[Neighbours, ...]


def digest_of(data: bytes) -> str:
    """Return the digest of the tables' text and of the grammars that they are made of."""
    digest = sha256(data)
    folder = os.path.dirname(PATH)  # noqa: PTH120 - see PATH
    for name in sorted(os.listdir(folder)):  # noqa: PTH208 - see PATH
        if name.endswith(".lark"):
            with open(os.path.join(folder, name), "rb") as file:  # noqa: PTH118, PTH123 - see PATH
                digest.update(file.read().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def kinds(start: str = LINE) -> tuple[LineKind, ...]:
    """Return every kind of line (or of prefix, or of cause)."""
    return tables().kinds[start]


@cache
def tables() -> GrammarTables:
    """Read the tables.

    Raises:
        DamagedTablesError: they are not those that were made of the grammars.
    """
    with open(PATH, "rb") as file:  # noqa: PTH123 - see PATH
        digest, _, data = file.read().partition(b"\n")
    if digest.decode("ascii", "replace") != digest_of(data):
        raise DamagedTablesError(PATH, "is not what was made of the grammars beside it", "Install trtforensics again")
    stored = json.loads(data)
    of_start = {start: tuple(map(_kind, rows)) for start, rows in stored["kinds"].items()}
    by_name = {kind.name: kind for kind in of_start[LINE]}
    bare = tuple(by_name[name] for name in stored["bare"])
    layouts = tuple(_layout(by_name[name], *row) for name, *row in stored["layouts"])
    patterns = {kind: tuple(messages) for kind, messages in stored["patterns"].items()}
    neighbours = tuple(tuple((offset, allowed) for offset, allowed in near) for near in stored["neighbours"])
    return GrammarTables(of_start, bare, layouts, patterns, stored["decided_by"], neighbours)


def _kind(row: list[Any]) -> LineKind:
    name, regex, fields, openers, starts, needle, kept, noted = row
    kept = None if kept is None else tuple(kept)
    return LineKind(name, regex, tuple(fields), tuple(openers), tuple(starts), needle, kept, noted)


def _layout(kind: LineKind, anchors: list[Any], segments: list[Any], *rest: Any) -> Layout:  # noqa: ANN401 - any JSON
    separators, closed, first_byte = rest
    return Layout(
        kind,
        tuple([Anchor(text.encode("latin-1"), *place) for text, *place in anchors]),
        tuple([Segment(Content[content], tuple(fields), *more) for content, fields, *more in segments]),
        separators,
        closed,
        first_byte.encode("latin-1"),
    )
