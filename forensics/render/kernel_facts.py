"""What the lines of a tactic tell of its kernel, as a JSON object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trtforensics.model.kernel import KernelFacts

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
    """Return the object that README describes; None where nothing is told."""
    told = {name: getattr(facts, name) for name in _FIELDS}
    if all(value is None for value in told.values()):
        return None
    told["tile"] = list(facts.tile) if facts.tile else None
    return {**told, "by_convention": sorted(facts.by_convention)}
