"""Reads the name of a GPU kernel: the types that it multiplies, sums and writes, and how it divides the work.

The rules are ``grammar/kernels.lark`` (families) and ``grammar/kernel_words.lark`` (words behind the types), read by
the regexes that are compiled from them. A name that no family reads has no facts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from trtforensics.model.kernel import KernelFacts
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import KERNEL, KERNEL_WORD

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping

    from trtforensics.parsers.grammar.line_kinds import LineKind

    Fields = Mapping[str, str]

_LIBRARIES = {"gemm": "cublas", "cudnn": "cudnn"}

_TYPES = {
    **dict.fromkeys(("f16", "fp16", "fp16x2", "half", "h"), "Half"),
    **dict.fromkeys(("f32", "fp32", "float", "s"), "Float"),
    **dict.fromkeys(("bf16", "t"), "BFloat16"),
    **dict.fromkeys(("i8", "s8", "int8", "int8x4"), "Int8"),
    **dict.fromkeys(("i32", "s32", "int32", "i"), "Int32"),
    **dict.fromkeys(("i4", "s4"), "Int4"),
    **dict.fromkeys(("e4m3", "e5m2"), "FP8"),
    "u8": "UInt8",
    "tf32": "TF32",
}
"""The words and letters of all families for a type, in lower case, and TensorRT's spelling of it."""


class _NameFacts(NamedTuple):
    """Fields of :class:`KernelFacts`: those that the name spells, and those that are so by convention."""

    stated: dict[str, Any]
    conventional: dict[str, Any]


@lru_cache(maxsize=1 << 16)
def read_kernel(name: str) -> KernelFacts:
    """Return what a kernel's name tells; nothing where no family of names has this form."""
    for kind in _possible(KERNEL, name):
        match = kind.match_text.fullmatch(name)
        if match is not None:
            return _facts(name, kind.name, _captured(kind, match))
    return KernelFacts(name)


def read_tactic(kernel: str, splits: int | None, outputs: tuple[str, ...] = ()) -> KernelFacts:
    """Return what the lines of a tactic tell: its kernel's name, and what overrides the name.

    ``splits`` is into how many parts its line says that the reduction is split, None where the line does not say.
    ``outputs`` are the formats that the layer writes (``Half(1,2:8)``): where all have one type, the kernel writes it.
    """
    types = frozenset([text.partition("(")[0] for text in outputs])
    return _read_tactic(kernel, splits, next(iter(types)) if len(types) == 1 else None)


@lru_cache(maxsize=1 << 16)
def _read_tactic(kernel: str, splits: int | None, output: str | None) -> KernelFacts:
    facts = read_kernel(kernel)
    by_lines: dict[str, Any] = {}
    if splits is not None:
        by_lines["split_k"] = splits > 1
    if facts.family is not None and output is not None:
        by_lines["output"] = output
    return replace(facts, **by_lines, by_convention=facts.by_convention - by_lines.keys()) if by_lines else facts


def _possible(grammar: str, name: str) -> Iterator[LineKind]:
    """Give the rules whose literals stand in a name; the others need not be compiled."""
    return (kind for kind in tables.kinds(grammar) if any(literal in name for literal in kind.literals))


def _captured(kind: LineKind, match: re.Match[str]) -> Fields:
    both = zip(kind.fields, match.groups(), strict=True)
    return {name: value.strip("_") for name, value in both if value is not None}


def _facts(name: str, rule: str, fields: Fields) -> KernelFacts:
    reader, family = _READERS[rule]
    stated, conventional = reader(fields)
    for word in _possible(KERNEL_WORD, name) if stated or conventional else ():
        match = word.match_text.search(name)
        if match is not None:
            word_facts = _word(word.name, _captured(word, match), stated)
            stated |= word_facts.stated
            conventional |= word_facts.conventional
    stated, conventional = _known(stated), _known(conventional)
    return KernelFacts(
        name,
        family=family or _LIBRARIES[fields["library"]],
        architecture=_architecture(fields),
        by_convention=frozenset(conventional.keys() - stated.keys()),
        **(conventional | stated),
    )


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def _architecture(fields: Fields) -> str | None:
    sm = fields.get("sm")
    return f"sm{sm.removeprefix('sm')}" if sm else fields.get("generation")


def _type(fields: Fields, name: str) -> str | None:
    return _TYPES.get(fields.get(name, "").lower())


def _types(fields: Fields) -> dict[str, Any]:
    return {name: _type(fields, name) for name in ("operand", "accumulator", "output")}


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x")))


def _division(fields: Fields) -> dict[str, Any]:
    """Return the tile and the stages of ``128x64`` (rows, columns) and ``64x6`` (depth, stages)."""
    tile = _sizes(fields["sizes"])
    depth, stages = fields.get("depth"), fields.get("stages")
    return {"tile": (*tile, int(depth)) if depth else tile, "stages": int(stages) if stages else None}


def _xmma(fields: Fields) -> _NameFacts:
    sparse = "sparse" in fields["operation"].split("_") or None
    return _NameFacts(_types(fields) | {"sparse": sparse}, {"sparse": False, "operand": _type(fields, "stored")})


def _plain_xmma(fields: Fields) -> _NameFacts:
    return _NameFacts(_types(fields) | {"tensor_core": True if "unit" in fields else None}, {})


def _library(fields: Fields) -> _NameFacts:
    by_letter = _TYPES[fields["letter"]]
    tensor_core = "unit" in fields
    operand = {"h": "Half", "s": None if tensor_core else "Float"}.get(fields["letter"])
    conventional = {"accumulator": by_letter, "output": by_letter, "operand": operand, "tensor_core": tensor_core}
    return _NameFacts(_types(fields) | _division(fields), conventional)


def _cutlass(fields: Fields) -> _NameFacts:
    by_letter = _TYPES[fields["letter"]]
    scalar = fields["class"] == "simt"
    operand = {"h": "Half", "s": "Float" if scalar else "TF32"}.get(fields["letter"])
    stated = _types(fields) | _division(fields) | _class(fields)
    return _NameFacts(stated, {"accumulator": by_letter, "output": by_letter, "operand": operand})


def _cutlass3(fields: Fields) -> _NameFacts:
    return _NameFacts(_types(fields) | _division(fields) | _class(fields), {})


def _class(fields: Fields) -> dict[str, Any]:
    return {"tensor_core": fields["class"] != "simt", "sparse": fields["class"] == "sptensorop"}


def _nvjet(fields: Fields) -> _NameFacts:
    return _NameFacts({}, _types(fields) | _division(fields))


def _no_types(_: Fields) -> _NameFacts:
    return _NameFacts({}, {})


def _word(word: str, fields: Fields, stated: Mapping[str, Any]) -> _NameFacts:
    word_facts = _WORDS.get(word)
    if word_facts is not None:
        return word_facts
    tile, stages, depth = stated.get("tile"), fields.get("stages"), fields.get("depth")
    if "sizes" in fields:
        tile = _sizes(fields["sizes"])
    elif depth and tile:
        tile = (*tile[:2], int(depth))
    return _NameFacts({"tile": tile, "stages": int(stages) if stages else stated.get("stages")}, {})


_WORDS = {
    "tensor": _NameFacts({"tensor_core": True}, {}),
    "sparse_tensor": _NameFacts({"tensor_core": True, "sparse": True}, {}),
    "warp_group": _NameFacts({}, {"tensor_core": True}),
    "scalar": _NameFacts({"tensor_core": False}, {}),
    "split_k": _NameFacts({"split_k": True}, {}),
}
"""What the words without a number tell; the others tell of tiles and stages."""

_READERS: dict[str, tuple[Callable[[Fields], _NameFacts], str]] = {
    "xmma": (_xmma, "xmma"),
    "xmma_pooling": (_plain_xmma, "xmma"),
    "xmma_depthwise": (_plain_xmma, "xmma"),
    "xmma_fused": (_plain_xmma, "xmma"),
    "library": (_library, ""),
    "cutlass": (_cutlass, "cutlass"),
    "cutlass3": (_cutlass3, "cutlass"),
    "nvjet": (_nvjet, "nvjet"),
    "first_layer": (_plain_xmma, "cutlass"),
    "myelin": (_no_types, "myelin"),
}
"""How the fields of each rule are read, and the rule's family; that of ``library`` is in the name."""
