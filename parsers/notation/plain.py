"""Reads by regex the formats, names and tensors that do not nest, which are most of a log.

LALR (``nested.py``) takes some hundred microseconds a string, and Lark a tenth of a second to start; a large log has
ten thousand distinct strings. Each regex here matches only text that the grammar cannot read in another way: no symbol,
no bracket in a name, no second separator. For any other text the functions return None, and the grammar reads it. Tests
hold both ways equal.
"""

import re

from trtforensics.model.older_python import compiled

_COUNT = r"[1-9][0-9]{0,17}"
_STRIDE = rf"(?:0|-?{_COUNT})"
_ONE_FORMAT = rf"([A-Z][A-Za-z0-9]*)\(((?:{_STRIDE}(?:,{_STRIDE})*)?)(?:(:{_COUNT})((?:,{_STRIDE})*))?\)"
"""A format: its type, the strides up to a packed one, the components of that, the strides behind it."""
_FORMAT = re.compile(_ONE_FORMAT, re.ASCII)
_FURTHER = r"(?:, (?!\Z)|\Z)"
"""The separator behind an item of a list, or the end of the text."""
_FORMATS = re.compile(rf"(?:{_ONE_FORMAT}{_FURTHER})+", re.ASCII)

_ATOM = rf"(?:{_STRIDE}|[A-Za-z_][^\s(),:=]*)"
_OPERATOR = r"[^\s(),:=]+"
_EXPRESSION = _ATOM
for _ in range(4):
    _EXPRESSION = rf"(?:{_ATOM}|\({_OPERATOR}(?: {_EXPRESSION})*\))"
"""A stride of symbols, four operations deep: ``(* 64 (# 2 (SHAPE x)))``."""
_SYMBOLIC = rf"([A-Z][A-Za-z0-9]*)\(((?:{_EXPRESSION}(?::{_COUNT})?(?:,(?!\))|(?=\))))+)\)"
_BINDING = rf"(E[0-9]+)=({_EXPRESSION})"
_SYMBOLICS, _BINDINGS = rf"(?:{_SYMBOLIC}{_FURTHER})+", rf"(?:{_BINDING}{_FURTHER})+"
"""Few logs have symbols, so these regexes are compiled on first use."""
_WHERE = " where "
_SYMBOL = re.compile(r"(?<![^\s(),:=])E[0-9]+(?![^\s(),:=])")

_SEPARATOR = re.compile(r" \+ | \|\| ")
_INNER_SEPARATOR = re.compile(r" \+ |, ")
_POINTWISE, _FOREIGN, _FOREIGN_END = "PWN(", "{ForeignNode[", "]}"
_NESTING = (_POINTWISE, _FOREIGN, "\n")

_UNNAMED = r"\(Unnamed Layer\* [0-9]+\) \[[A-Z][A-Za-z0-9_ ]*\]"
_UNNAMED_LAYER = re.compile(_UNNAMED)
_FOREIGN_NODE = rf"\{{ForeignNode\[(?:{_UNNAMED}|[^\[\](),>\n])*\]\}}"
_NO_TYPE = r"\((?![A-Z][A-Za-z0-9]*\[)"
_PROFILE = r" \[profile [0-9]+\]"
"""Texts that TensorRT puts into names, whose parentheses and brackets do not open a type."""
_NAME = rf"(?! )(?:[^\[(,>{{ \n]++|{_PROFILE}|{_UNNAMED}|{_FOREIGN_NODE}|{_NO_TYPE}|[ {{])+"
"""A name. Words match as a whole: a type opens behind a blank, or at a bracket."""
_NEW, _OLD = r" \(([A-Z][A-Za-z0-9]*)\[([-0-9:,]*)\]\)", r"\[([A-Z][A-Za-z0-9]*)\(([-0-9:,]*)\)\]"
_SHORT = compiled(rf"({_NAME})(?:{_NEW}|{_OLD}){_FURTHER}", re.ASCII)

_ONE_DETAILED = (
    r"\{ Name: ([^,{}\n]+)(?:, Location: [A-Za-z]+)?, Dimensions: \[([^\]{}\n]*)\]"
    r"(, (?:Format/Datatype|Strides): [^{}\n]*) \}"
)
_DETAILED = compiled(_ONE_DETAILED, re.ASCII)
_DETAILED_LIST = compiled(rf"\[\]|\[ {_ONE_DETAILED}(?:, {_ONE_DETAILED})*\]", re.ASCII)


PlainFormat = tuple[str, tuple[int | str, ...], int, int]
"""A format: its type, its strides, which of them is packed (-1: none) and how many components that holds."""


def formats(text: str) -> list[PlainFormat] | None:
    """Read ``Float(784,28,1), Half(100352,50176:2,224,1)``: numbers alone, at most one of them packed."""
    if not _FORMATS.fullmatch(text):
        return None
    return [_format(*parts) for parts in _FORMAT.findall(text)]


def is_formats(text: str) -> bool:
    """Whether :func:`formats` can read a text; each of its formats is then printed as it stands."""
    return _FORMATS.fullmatch(text) is not None


def _format(dtype: str, strides: str, components: str, behind: str) -> PlainFormat:
    before = strides.split(",") if strides else []
    values = tuple(map(int, (*before, *behind.split(",")[1:])))
    return dtype, values, len(before) - 1 if components else -1, int(components[1:] or 1)


def symbolic_formats(text: str, definitions: str) -> list[PlainFormat] | None:
    """Read ``Float(E0:32,(# 2 (SHAPE x)),1) where E0=(* 64 (# 2 (SHAPE x)))``.

    Symbols are replaced by their definitions there, or in ``definitions``, which are the formats of the other side.
    """
    symbols: dict[str, str] = {}

    def known(printed_formats: re.Match[str]) -> str:
        return symbols.get(printed_formats[0], printed_formats[0])

    for source in filter(None, (definitions, text)):
        printed, where, bindings = source.partition(_WHERE)
        if not re.fullmatch(_SYMBOLICS, printed, re.ASCII) or (
            where and not re.fullmatch(_BINDINGS, bindings, re.ASCII)
        ):
            return None
        for symbol, value in re.findall(_BINDING, bindings, re.ASCII):
            symbols[symbol] = _SYMBOL.sub(known, value)
    printed_formats = re.findall(_SYMBOLIC, text.partition(_WHERE)[0], re.ASCII)
    if any(strides.count(":") > 1 for _, strides in printed_formats):
        return None
    return [_symbolic(dtype, _SYMBOL.sub(known, strides).split(",")) for dtype, strides in printed_formats]


def size(printed: str) -> int | str:
    """Return a stride or dimension as a number, a symbol as its text."""
    from trtforensics.parsers.text.numbers import is_whole  # noqa: PLC0415 - numpy, for few formats

    return int(printed) if is_whole(printed) else printed


def _symbolic(dtype: str, strides: list[str]) -> PlainFormat:
    values, _, components = zip(*(stride.partition(":") for stride in strides), strict=True)
    packed = next((place for place, printed in enumerate(components) if printed), -1)
    numbers = tuple(map(size, values))
    return dtype, numbers, packed, int("".join(components) or 1)


def members(name: str) -> tuple[str, ...] | None:
    """Read ``a + b || c``, ``{ForeignNode[a...b]}``, ``PWN(a, b)``; None where a part nests or is missing."""
    if name.startswith(_FOREIGN) and name.endswith(_FOREIGN_END):
        inner = name[len(_FOREIGN) : -len(_FOREIGN_END)]
        return ends(inner) if inner and "\n" not in inner and _FOREIGN_END not in inner else None
    if name.startswith(_POINTWISE) and name.endswith(")"):
        inner = name[len(_POINTWISE) : -1]
        others = _UNNAMED_LAYER.sub("", inner)
        parts = [] if any(sign in others for sign in ("(", ")", _FOREIGN)) else _INNER_SEPARATOR.split(inner)
    else:
        parts = [] if any(opening in name for opening in _NESTING) else _SEPARATOR.split(name)
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
    if len(sides) != 2:  # noqa: PLR2004 - inputs and outputs
        return None
    inputs, outputs = map(_short_list, sides)
    return None if inputs is None or outputs is None else (inputs, outputs)


def _short_list(text: str) -> list[Printed] | None:
    tensors: list[Printed] = []
    at = 0
    while at < len(text):
        tensor = _SHORT.match(text, at)
        if tensor is None:
            return None
        name, new, new_dims, old, old_dims = tensor.groups("")
        tensors.append((name, new or old, new_dims or old_dims))
        at = tensor.end()
    return tensors


def detailed_tensors(text: str) -> list[Printed] | None:
    """Read ``[ { Name: x, Location: Device, Dimensions: [1,3], Format/Datatype: Half }]``: name, format, dimensions."""
    if not _DETAILED_LIST.fullmatch(text):
        return None
    return [(name, printed, dims) for name, dims, printed in _DETAILED.findall(text)]
