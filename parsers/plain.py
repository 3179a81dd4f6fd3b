"""The plain forms of the strings that nest, read by regex: most formats, names and tensors of a log nest nothing.

LALR (``nested.py``) takes some hundred microseconds a string and Lark a tenth of a second to start, and a large log has
ten thousand distinct strings. Each regex here accepts only text that holds nothing its grammar could read otherwise:
no symbol, no bracket in a name, no second separator. None means "not plain", and the grammar is asked. Tests hold
what is plain equal to what LALR reads.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trtforensics.regexes import LateRegex

_STRIDE = r"(?:0|-?[1-9][0-9]*)"
_ONE_FORMAT = rf"([A-Z][A-Za-z0-9]*)\(((?:{_STRIDE}(?:,{_STRIDE})*)?)(?:(:[1-9][0-9]*)((?:,{_STRIDE})*))?\)"
"""Type, the strides up to a packed one, its components, the strides behind it."""
_FORMAT = LateRegex(_ONE_FORMAT, re.ASCII)
_FORMATS = LateRegex(rf"{_ONE_FORMAT}(?:, {_ONE_FORMAT})*", re.ASCII)

_SEPARATOR = LateRegex(r" \+ | \|\| ")
_INNER_SEPARATOR = LateRegex(r" \+ |, ")
_POINTWISE, _FOREIGN, _FOREIGN_END = "PWN(", "{ForeignNode[", "]}"
_NESTING = (_POINTWISE, _FOREIGN, "\n")

_UNNAMED = r"\(Unnamed Layer\* [0-9]+\) \[[A-Z][A-Za-z ]*\]"
_FOREIGN_NODE = r"\{ForeignNode\[[^\[\](),>\n]*\]\}"
_PROFILE = r" \[profile [0-9]+\]"
"""What TensorRT puts into names; neither the parenthesis nor the brackets there can open a type."""
_NAME = rf"(?:{_UNNAMED}|{_FOREIGN_NODE}|[^\[(,> \n])(?:{_UNNAMED}|{_FOREIGN_NODE}|{_PROFILE}|[^\[(,>\n])*"
_NEW, _OLD = r" \(([A-Z][A-Za-z0-9]*)\[([-0-9:,]*)\]\)", r"\[([A-Z][A-Za-z0-9]*)\(([-0-9:,]*)\)\]"
_ONE_SHORT = rf"({_NAME})(?:{_NEW}|{_OLD})"
_SHORT = LateRegex(_ONE_SHORT, re.ASCII)
_SHORTS = LateRegex(rf"(?:{_ONE_SHORT}(?:, {_ONE_SHORT})*)?", re.ASCII)

_ONE_DETAILED = (
    r"\{ Name: ([^,{}\n]+)(?:, Location: [A-Za-z]+)?, Dimensions: \[([^\]{}\n]*)\]"
    r"(, (?:Format/Datatype|Strides): [^{}\n]*) \}"
)
_DETAILED = LateRegex(_ONE_DETAILED, re.ASCII)
_DETAILED_LIST = LateRegex(rf"\[\]|\[ {_ONE_DETAILED}(?:, {_ONE_DETAILED})*\]", re.ASCII)


class PlainFormat(NamedTuple):
    """A format: its type, strides as printed, which of them is packed (-1: none) and how many components that holds."""

    dtype: str
    strides: tuple[int, ...]
    packed: int
    components: int


def formats(text: str) -> list[PlainFormat] | None:
    """Read ``Float(784,28,1), Half(100352,50176:2,224,1)``: numbers alone, at most one of them packed."""
    if not _FORMATS.compiled.fullmatch(text):
        return None
    return [_format(*found) for found in _FORMAT.compiled.findall(text)]


def is_formats(text: str) -> bool:
    """Whether :func:`formats` reads a text; each format is then printed as it stands."""
    return _FORMATS.compiled.fullmatch(text) is not None


def _format(dtype: str, strides: str, components: str, behind: str) -> PlainFormat:
    before = strides.split(",") if strides else []
    values = tuple(map(int, (*before, *behind.split(",")[1:])))
    return PlainFormat(dtype, values, len(before) - 1 if components else -1, int(components[1:] or 1))


def members(name: str) -> tuple[str, ...] | None:
    """Read ``a + b || c``, ``{ForeignNode[a...b]}``, ``PWN(a, b)``; None where a part nests or is missing."""
    if name.startswith(_FOREIGN) and name.endswith(_FOREIGN_END):
        inner = name[len(_FOREIGN) : -len(_FOREIGN_END)]
        return ends(inner) if inner and "\n" not in inner and _FOREIGN_END not in inner else None
    if name.startswith(_POINTWISE) and name.endswith(")"):
        inner = name[len(_POINTWISE) : -1]
        parts = [] if any(sign in inner for sign in ("(", ")", _FOREIGN)) else _INNER_SEPARATOR.compiled.split(inner)
    else:
        parts = [] if any(opening in name for opening in _NESTING) else _SEPARATOR.compiled.split(name)
    return tuple(parts) if parts and all(parts) else None


def ends(members_range: str) -> tuple[str, ...]:
    """Return the two end points that a ForeignNode is named by, or the one."""
    first, _, last = members_range.partition("...")
    return (first, last) if last else (first,)


Printed = tuple[str, str, str]
"""Name, type and dimensions of a tensor."""


def short_tensors(text: str) -> tuple[list[Printed], list[Printed]] | None:
    """Read the two sides of ``x (Half[1,3]), w (Half[3]) -> y (Half[1])``, or of TensorRT 7's ``x[Half(1,3)] -> …``."""
    sides = text.split(" -> ")
    if len(sides) != 2 or not all(map(_SHORTS.compiled.fullmatch, sides)):  # noqa: PLR2004 - inputs and outputs
        return None
    read = [
        [
            (name, new or old, new_dims or old_dims)
            for name, new, new_dims, old, old_dims in _SHORT.compiled.findall(side)
        ]
        for side in sides
    ]
    return read[0], read[1]


def detailed_tensors(text: str) -> list[Printed] | None:
    """Read ``[ { Name: x, Location: Device, Dimensions: [1,3], Format/Datatype: Half }]``: name, format, dimensions."""
    if not _DETAILED_LIST.compiled.fullmatch(text):
        return None
    return [(name, printed, dims) for name, dims, printed in _DETAILED.compiled.findall(text)]
