"""Reads formats of the autotuner: ``Half(100352,50176:2,224,1)`` is a type and strides, the second packed by two."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from trtforensics.parsers.grammar import nested
from trtforensics.parsers.notation import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lark import Token, Tree

LONG_STRIDED = " long-strided"


@dataclass(frozen=True, slots=True)
class Format:
    """One format. ``strides`` are in elements, outermost first (TensorRT 7: innermost first), symbolic ones as text.

    ``vectorized_dim`` is the dimension that is packed, -1 for none; ``components`` how many elements a pack holds.
    ``long_strided`` is a mark of 8.5 on DRIVE, which NVIDIA does not explain.
    """

    dtype: str
    strides: tuple[int | str, ...]
    vectorized_dim: int = -1
    components: int = 1
    long_strided: bool = False

    @property
    def text(self) -> str:
        """The format as TensorRT prints it, symbols replaced by what they stand for."""
        strides = [str(s) for s in self.strides]
        if self.vectorized_dim >= 0:
            strides[self.vectorized_dim] += f":{self.components}"
        return f"{self.dtype}({','.join(strides)}){LONG_STRIDED if self.long_strided else ''}"


@lru_cache(maxsize=1 << 16)
def parse_formats(text: str, definitions: str = "") -> tuple[Format, ...] | None:
    """Read a list of formats; None where a text is none. ``definitions`` is the other side, with its ``where E0=…``."""
    if not text:
        return ()
    read = plain.formats(text) or plain.symbolic_formats(text, definitions)
    return tuple(Format(*fields) for fields in read) if read else _nested(text, definitions)


def _nested(text: str, definitions: str) -> tuple[Format, ...] | None:
    tree = nested.parse("formats", text)
    if tree is None:
        return None
    symbols: dict[str, str] = {}
    for source in (nested.parse("formats", definitions) if definitions else None, tree):
        for binding in nested.trees(source, "binding") if source else ():
            symbols[str(binding.children[0])] = _expression(binding.children[1], symbols)
    return tuple(_format(child, symbols) for child in nested.trees(tree, "format"))


def format_texts(text: str | None, other_side: str | None = "") -> tuple[str, ...]:
    """Return a printed list of formats as one text each; a list that cannot be read stays one text."""
    return _texts(text, other_side if other_side and " where " in other_side else "") if text else ()


@lru_cache(maxsize=1 << 16)
def both_sides(inputs: str | None, outputs: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return two printed lists of formats, of one combination, as one text each; see :func:`format_texts`."""
    return format_texts(inputs, outputs), format_texts(outputs, inputs)


@lru_cache(maxsize=1 << 16)
def _texts(text: str, definitions: str) -> tuple[str, ...]:
    if plain.is_formats(text):
        return tuple(text.split(", "))
    formats = parse_formats(text, definitions)
    return (text,) if formats is None else tuple(f.text for f in formats)


def _format(tree: Tree[Token], symbols: Mapping[str, str]) -> Format:
    strides: list[int | str] = []
    vectorized, components = -1, 1
    for position, stride in enumerate(nested.trees(tree, "stride")):
        strides.append(plain.size(_expression(stride.children[0], symbols)))
        packed = nested.token(stride, "COMPONENTS")
        if packed is not None:
            vectorized, components = position, int(packed)
    is_long = nested.token(tree, "LONG") is not None
    return Format(nested.token(tree, "DTYPE") or "", tuple(strides), vectorized, components, is_long)


def _expression(node: Tree[Token] | Token, symbols: Mapping[str, str]) -> str:
    if isinstance(node, str):  # a token
        return symbols.get(str(node), str(node))
    return f"({' '.join(_expression(child, symbols) for child in node.children)})"


_WIDE = re.compile(r"(Two|Four|Sixteen|Thirty-two) wide channel vectorized row major", re.IGNORECASE)
_CHANNEL_MAJOR = re.compile(r"[Cc]hannel major .*?(?:channel % (\d+) == 0)?(?: with (\d) spatial dimensions)?\Z")
_LINEAR = re.compile(r"[Rr]ow major linear")
_WIDTHS = {"two": 2, "four": 4, "sixteen": 16, "thirty-two": 32}


@lru_cache(maxsize=1 << 12)
def short_layout(format_: str, components: int = 1) -> str:
    """Return a layout in a word; empty where the format is not printed or has no such word.

    ``format_`` is the inspector's sentence (``Thirty-two wide channel vectorized row major Int8 format``: ``CHW32``)
    or a log's short form, of which ``components`` tells the packing. The words are those of ``nvinfer1::TensorFormat``.
    """
    wide = _WIDE.search(format_)
    if wide:
        return f"CHW{_WIDTHS[wide[1].lower()]}"
    if _LINEAR.search(format_):
        return "linear"
    major = _CHANNEL_MAJOR.search(format_)
    if major:
        return f"{'D' if major[2] == '3' else ''}HWC{major[1] or ''}"
    return f"vec{components}" if components > 1 else ""
