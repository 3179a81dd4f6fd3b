"""JSON in ASCII with a record a line: it reads and compares well, and a large log's records are not made twice.

What is not a record goes through :func:`pieces` as plain dicts and lists. A record is rendered by a function of its own
from :func:`text`, :func:`texts`, :func:`number` and :data:`WORD`, in less time than a dict of it would take to make.
All write what ``json.dumps`` does. Many objects of one form are woven from strands (:func:`woven`).
"""

from __future__ import annotations

import json
from itertools import chain, repeat
from json.encoder import encode_basestring_ascii as text
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["WORD", "Rendered", "Strand", "number", "pieces", "render", "text", "texts", "woven"]

WORD = {None: "null", True: "true", False: "false"}

_encode = json.JSONEncoder(allow_nan=False).encode


def texts(values: Iterable[str]) -> str:
    """Render a list of texts."""
    return f"[{', '.join(map(text, values))}]"


def number(value: float | None) -> str:
    """Render a number, or null.

    Raises:
        ValueError: JSON has no such number.
    """
    if value is None:
        return "null"
    return repr(value) if isfinite(value) else _encode(value)


Strand: TypeAlias = "str | Iterable[str]"
"""A piece of each of many texts: the one that they share, or one for each."""


def woven(size: int, strands: Iterable[Strand]) -> Iterator[tuple[str, ...]]:
    """Give each of ``size`` texts in pieces: one of each strand, in their order."""
    merged: list[Iterable[str]] = []
    shared = ""
    for strand in strands:
        if isinstance(strand, str):
            shared += strand
        else:
            merged += (repeat(shared, size), strand)
            shared = ""
    return zip(*merged, repeat(shared, size), strict=True)


class Rendered(NamedTuple):
    """A value of a document that is rendered already, in pieces."""

    pieces: Iterable[str]


def render(value: object, record_depth: int) -> str:
    """Render a document with everything that lies ``record_depth`` deep on a line of its own."""
    return "".join(pieces(value, record_depth))


def pieces(value: object, record_depth: int) -> Iterator[str]:
    """Give in pieces what :func:`render` returns: a large log's document is tens of megabytes."""
    out: list[Iterable[str]] = []
    _write(out, value, record_depth, 0)
    return chain(chain.from_iterable(out), ("\n",))


def _write(out: list[Iterable[str]], value: object, record_depth: int, depth: int) -> None:
    """Append the pieces of a value."""
    if isinstance(value, Rendered):
        out.append(value.pieces)
        return
    if not (depth < record_depth and value and isinstance(value, dict | list)):
        out.append((_flat(value),))
        return
    begin, end = f"\n{' ' * (depth + 1)}", f"\n{' ' * depth}"
    if isinstance(value, dict):
        opening = f"{{{begin}"
        for key, item in value.items():
            out.append((opening, text(key), ": "))
            _write(out, item, record_depth, depth + 1)
            opening = f",{begin}"
        out.append((f"{end}}}",))
    else:
        opening = f"[{begin}"
        for item in value:
            out.append((opening,))
            _write(out, item, record_depth, depth + 1)
            opening = f",{begin}"
        out.append((f"{end}]",))


def _flat(value: object) -> str:
    """Render a value on one line; what most of a small document's values are without the price of an encoder."""
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return WORD[value]
    if type(value) is int:
        return repr(value)
    return "{}" if value == {} else "[]" if value == [] else _encode(value)
