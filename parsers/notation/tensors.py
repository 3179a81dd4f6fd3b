"""Reads the tensors and the detailed fields of an engine layer."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from trtforensics.model.data_types import ELEMENT_TYPES
from trtforensics.model.deferred import regex
from trtforensics.model.log import EngineTensor
from trtforensics.model.older_python import compiled
from trtforensics.parsers.grammar import nested
from trtforensics.parsers.notation import plain
from trtforensics.parsers.text.numbers import is_whole

if TYPE_CHECKING:
    from lark import Token, Tree

_DTYPES = {element.name: element.inspector for element in ELEMENT_TYPES.values() if element.inspector}
"""The types inside a ``Format/Datatype`` text, and their spelling everywhere else in a log."""

_DTYPE_IN_TEXT = regex("|".join(sorted(_DTYPES, key=len, reverse=True)))
_COMPONENTS_IN_TEXT = regex(r"channel % (\d+) == 0")
_WIDE = {"Two": 2, "Four": 4, "Eight": 8, "Sixteen": 16, "Thirty-two": 32}
_WIDE_IN_TEXT = regex(rf"({'|'.join(_WIDE)}) wide channel vectorized")
_V11 = regex(r", Strides: .*, Datatype: (?P<dtype>\w+), Format: (?P<format>.*)")
_TENSORS = r"(?:\[\]|\[ \{ Name: (?:[^}\n]*\})*?[^}\n]* \}\])"
_PARTS = regex(
    rf"(?P<inputs>{_TENSORS})(?:, Constants: {_TENSORS})?, Outputs: (?P<outputs>{_TENSORS})(?P<fields>(?:, [A-Z].*)?)"
)
"""A tensor list ends where the next part begins: nothing else in a line has the form ``}], Outputs: [``."""
_FIELD = compiled(
    r", ([A-Z][A-Za-z0-9]*+):"
    r"( (?:\{[^{}]*+\}|\[ONNX Layer: .*|\[[^\]]*+\])| ?[^,]*+(?:,(?! [A-Z][A-Za-z0-9]*+:)[^,]*+)*)"
)
"""Braces and brackets hold commas; Metadata runs to the end of the line; a kernel's name holds no ``, Key:``."""


class Details(NamedTuple):
    """The facts of a layer in a detailed line."""

    inputs: tuple[EngineTensor, ...]
    outputs: tuple[EngineTensor, ...]
    fields: dict[str, str]


@lru_cache(maxsize=1 << 12)
def short_tensors(text: str) -> tuple[tuple[EngineTensor, ...], tuple[EngineTensor, ...]] | None:
    """Read the inputs and outputs of a ``Layer(…)`` line; None where the text has another form."""
    read = plain.short_tensors(text)
    if read is None:
        return _nested_short(text)
    inputs, outputs = read
    return tuple(_short(*t) for t in inputs), tuple(_short(*t) for t in outputs)


def _nested_short(text: str) -> tuple[tuple[EngineTensor, ...], tuple[EngineTensor, ...]] | None:
    tree = nested.parse("tensors", text)
    if tree is None:
        return None
    sides = {
        str(side.data): tuple(_short(*_tokens(t, "NAME", "DTYPE", "DIMS")) for t in nested.trees(side, "tensor"))
        for side in nested.trees(tree, "inputs", "outputs")
    }
    return sides.get("inputs", ()), sides.get("outputs", ())


def _tokens(tree: Tree[Token], *names: str) -> tuple[str, ...]:
    return tuple(nested.token(tree, name) or "" for name in names)


def _short(name: str, dtype: str, printed: str) -> EngineTensor:
    dims, components = _dims(printed)
    return EngineTensor(name, dtype, dims, f"{dtype}[{printed}]", components)


def details(text: str) -> Details | None:
    """Read a detailed line from behind ``Inputs: ``; None where it has another form (a line that was cut, say)."""
    parts = _PARTS.fullmatch(text)
    inputs = _detailed_tensors(parts["inputs"]) if parts else None
    outputs = _detailed_tensors(parts["outputs"]) if parts else None
    if parts is None or inputs is None or outputs is None:
        return None
    fields = {key: value.strip(" ") for key, value in _FIELD.findall(parts["fields"])}
    return Details(inputs, outputs, fields)


@lru_cache(maxsize=1 << 14)
def _detailed_tensors(text: str) -> tuple[EngineTensor, ...] | None:
    read = plain.detailed_tensors(text)
    if read is not None:
        return tuple(_detailed(*tensor) for tensor in read)
    tree = nested.parse("detailed_tensors", text)
    return None if tree is None else tuple(_detailed(*_tokens(t, *_DETAILED)) for t in nested.trees(tree, "tensor"))


_DETAILED = ("NAME", "FORMAT", "DIMS")


def _detailed(name: str, printed: str, dimensions: str) -> EngineTensor:
    v11 = _V11.fullmatch(printed)
    dtype, text = (v11["dtype"], v11["format"]) if v11 else ("", printed.partition(": ")[2])
    return described(name, dimensions, text, dtype)


def described(name: str, dims: str, text: str, dtype: str = "") -> EngineTensor:
    """Make a tensor of the inspector's text, from a log's line or from JSON.

    ``dims`` is as printed between the brackets. ``text`` is ``Format/Datatype`` (up to TensorRT 10), or ``Format``
    beside a ``dtype`` of its own (TensorRT 11 and RTX).
    """
    sizes, components = _dims(dims)
    if not dtype:
        word = _DTYPE_IN_TEXT.search(text)
        dtype = _DTYPES[word.group()] if word else text
    packed = _COMPONENTS_IN_TEXT.search(text)
    wide = _WIDE_IN_TEXT.search(text)
    if packed and is_whole(packed.group(1)):
        components = int(packed.group(1))
    elif wide:
        components = _WIDE[wide.group(1)]
    return EngineTensor(name, dtype, sizes, "" if text == dtype else text, components)


@lru_cache(maxsize=1 << 12)
def _dims(printed: str) -> tuple[tuple[int | str, ...], int]:
    """Read ``-1,32:8,28,28`` as the dimensions and the components of a vectorised one (8; 1 for none)."""
    dims: list[int | str] = []
    components = 1
    for part in printed.split(",") if printed else ():
        size, _, packed = part.partition(":")
        components = int(packed) if is_whole(packed) else components
        dims.append(plain.size(size))
    return tuple(dims), components
