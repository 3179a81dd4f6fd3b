"""What the lines of a tactic tell of its kernel, as a JSON object."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from trtforensics.model.kernel import KernelFacts


def kernel_facts(facts: KernelFacts) -> dict[str, Any] | None:
    """Return the object that docs/reference/commands/parse.md describes; None where nothing is known."""
    if facts == KernelFacts(facts.name):
        return None
    values = asdict(facts)
    del values["name"]
    tile = list(facts.tile) if facts.tile else None
    return {**values, "tile": tile, "by_convention": sorted(facts.by_convention)}
