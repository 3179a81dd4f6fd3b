"""What the lines of a tactic tell of its kernel, as a JSON object."""

from __future__ import annotations

from typing import Any

from trtforensics.model.kernel import KernelFacts
from trtforensics.render.json_text import boolean, number, text_or_null, texts

_FIELDS = (
    "family",
    "operand",
    "accumulator",
    "output",
    "tile",
    "stages",
    "split_k",
    "sparse",
    "tensor_core",
    "architecture",
)


def kernel_facts(facts: KernelFacts) -> dict[str, Any] | None:
    """Return the object that docs/reference/commands/parse.md describes; None where nothing is known."""
    if _tells_nothing(facts):
        return None
    values = {name: getattr(facts, name) for name in _FIELDS}
    values["tile"] = list(facts.tile) if facts.tile else None
    return {**values, "by_convention": sorted(facts.by_convention)}


def kernel_facts_json(facts: KernelFacts) -> str:
    """Return what :func:`kernel_facts` does as JSON: a log has hundreds of kernels, and is to be read in a moment."""
    if _tells_nothing(facts):
        return "null"
    tile = "null" if facts.tile is None else f"[{', '.join(map(repr, facts.tile))}]"
    return (
        f'{{"family": {text_or_null(facts.family)}, "operand": {text_or_null(facts.operand)}, '
        f'"accumulator": {text_or_null(facts.accumulator)}, "output": {text_or_null(facts.output)}, "tile": {tile}, '
        f'"stages": {number(facts.stages)}, "split_k": {boolean(facts.split_k)}, "sparse": {boolean(facts.sparse)}, '
        f'"tensor_core": {boolean(facts.tensor_core)}, "architecture": {text_or_null(facts.architecture)}, '
        f'"by_convention": {texts(sorted(facts.by_convention))}}}'
    )


def _tells_nothing(facts: KernelFacts) -> bool:
    return facts == KernelFacts(facts.name)
