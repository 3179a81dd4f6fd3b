"""Reads the name of a GPU kernel: the types that it multiplies, sums and writes, and how it divides the work.

The rules are ``grammar/kernels.lark`` (families) and ``grammar/kernel_words.lark`` (words behind the types), read by
the regexes that are compiled from them. A name that no family reads has no facts.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from trtforensics.model.data_types import ELEMENT_TYPES
from trtforensics.model.kernel import KernelFacts
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import KERNEL, KERNEL_WORD, LineKind

Fields = Mapping[str, str]

_LIBRARIES = {"gemm": "cublas", "cudnn": "cudnn"}

TYPES = {word: element.name for element in ELEMENT_TYPES.values() for word in element.kernels.split()}
"""The words and letters of all families for a type, in lower case, and TensorRT's spelling of it."""


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
    return _read_tactic(kernel, splits, only_type(outputs))


@lru_cache(maxsize=1 << 12)
def only_type(formats: tuple[str, ...]) -> str | None:
    """Return the type of formats (``Half(1,2:8)``); None where they have several, or there are none."""
    types = {text.partition("(")[0] for text in formats}
    return types.pop() if len(types) == 1 else None


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
    stated = {} if rule == "myelin" else _stated(fields)
    conventional = _by_convention(rule, fields)
    if rule == "nvjet":
        stated, conventional = {}, stated
    for word in _possible(KERNEL_WORD, name) if stated or conventional else ():
        match = word.match_text.search(name)
        if match is not None and word.name == "warp_group":
            conventional["tensor_core"] = True
        elif match is not None:
            stated |= _WORDS.get(word.name) or _sized(_captured(word, match), stated)
    stated, conventional, sm = _known(stated), _known(conventional), fields.get("sm")
    return KernelFacts(
        name,
        family=_FAMILIES.get(rule) or _LIBRARIES[fields["library"]],
        architecture=f"sm{sm.removeprefix('sm')}" if sm else fields.get("generation"),
        by_convention=frozenset(conventional.keys() - stated.keys()),
        **(conventional | stated),
    )


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def _type(fields: Fields, name: str) -> str | None:
    return TYPES.get(fields.get(name, "").lower())


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x")))


def _stated(fields: Fields) -> dict[str, Any]:
    """Return what the fields of a name spell; of ``128x64`` and ``64x6`` rows, columns, depth and stages."""
    facts: dict[str, Any] = {name: _type(fields, name) for name in ("operand", "accumulator", "output")}
    if "sizes" in fields:
        tile, depth, stages = _sizes(fields["sizes"]), fields.get("depth"), fields.get("stages")
        facts |= {"tile": (*tile, int(depth)) if depth else tile, "stages": int(stages) if stages else None}
    if "class" in fields:
        facts |= {"tensor_core": fields["class"] != "simt", "sparse": fields["class"] == "sptensorop"}
    elif "unit" in fields and "letter" not in fields:
        facts["tensor_core"] = True
    if "sparse" in fields.get("operation", "").split("_"):
        facts["sparse"] = True
    return facts


def _by_convention(rule: str, fields: Fields) -> dict[str, Any]:
    """Return what a letter of a name, or a word that is missing, means in a family."""
    if rule == "xmma":
        return {"sparse": False, "operand": _type(fields, "stored")}
    if "letter" not in fields:
        return {}
    of_letter, tensor_core = TYPES[fields["letter"]], "unit" in fields
    if rule == "library":
        single = None if tensor_core else "Float"
    else:
        single = "Float" if fields["class"] == "simt" else "TF32"
    operand = {"h": "Half", "s": single}.get(fields["letter"])
    facts = {"accumulator": of_letter, "output": of_letter, "operand": operand}
    return facts | {"tensor_core": tensor_core} if rule == "library" else facts


def _sized(fields: Fields, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a word with numbers tells of tile and stages."""
    tile, stages, depth = stated.get("tile"), fields.get("stages"), fields.get("depth")
    if "sizes" in fields:
        tile = _sizes(fields["sizes"])
    elif depth and tile:
        tile = (*tile[:2], int(depth))
    return {"tile": tile, "stages": int(stages) if stages else stated.get("stages")}


_WORDS: Mapping[str, dict[str, Any]] = {
    "tensor": {"tensor_core": True},
    "sparse_tensor": {"tensor_core": True, "sparse": True},
    "scalar": {"tensor_core": False},
    "split_k": {"split_k": True},
}
"""What the words without a number state."""
_FAMILIES = {
    **dict.fromkeys(("xmma", "xmma_pooling", "xmma_depthwise", "xmma_fused"), "xmma"),
    **dict.fromkeys(("cutlass", "cutlass3", "first_layer"), "cutlass"),
    "nvjet": "nvjet",
    "myelin": "myelin",
}
"""The family of each rule; that of ``library`` is in the name."""
