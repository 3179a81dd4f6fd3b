"""JSON in ASCII with a record a line: it reads and compares well, and a large log's records are not made twice.

What is not a record goes through :func:`render` as plain dicts and lists. A record is rendered by a function of its own
from :func:`text`, :func:`texts`, :func:`number` and :data:`WORD`, in less time than a dict of it would take to make.
All write what ``json.dumps`` does.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii as text
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["WORD", "Records", "number", "render", "text", "texts"]

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


class Records(NamedTuple):
    """A list of objects in a document, a line each, and the function that renders one, whole or in pieces."""

    rendered: Callable[[Any], str | tuple[str, ...]]
    items: Sequence[Any]


def render(value: object, record_depth: int) -> str:
    """Render a document with everything that lies ``record_depth`` deep on a line of its own."""
    out: list[str] = []
    _write(out, value, record_depth, 0)
    out.append("\n")
    return "".join(out)


def _write(out: list[str], value: object, record_depth: int, depth: int) -> None:
    """Append the pieces of a value; they are joined once, because a large log's document is tens of megabytes."""
    if not (depth < record_depth and value and isinstance(value, dict | list | Records)):
        out.append(_flat(value))
        return
    begin, end = f"\n{' ' * (depth + 1)}", f"\n{' ' * depth}"
    if isinstance(value, Records):
        opening = f"[{begin}"
        for item in value.items:
            rendered = value.rendered(item)
            out += (opening, rendered) if isinstance(rendered, str) else (opening, *rendered)
            opening = f",{begin}"
        out.append(f"{end}]" if value.items else "[]")
    elif isinstance(value, dict):
        opening = f"{{{begin}"
        for key, item in value.items():
            out += (opening, text(key), ": ")
            _write(out, item, record_depth, depth + 1)
            opening = f",{begin}"
        out.append(f"{end}}}")
    else:
        opening = f"[{begin}"
        for item in value:
            out.append(opening)
            _write(out, item, record_depth, depth + 1)
            opening = f",{begin}"
        out.append(f"{end}]")


def _flat(value: object) -> str:
    """Render a value on one line; what most of a small document's values are without the price of an encoder."""
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return WORD[value]
    if type(value) is int:
        return repr(value)
    return "{}" if value == {} else "[]" if value == [] else _encode(value)
