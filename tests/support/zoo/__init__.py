"""Generated models with a known answer: which nodes must stay FP32, and which a careful user keeps besides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.zoo import arithmetic, bodies, masks, norms, operator_sets, types
from tests.support.zoo.model import ZooModel

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ZooModel", "models"]


def models() -> list[ZooModel]:
    """Return the zoo; building one of its models takes milliseconds, except for the one of 3,000 nodes."""
    kinds: Sequence[list[ZooModel]] = (
        masks.models(),
        norms.models(),
        arithmetic.models(),
        bodies.models(),
        types.models(),
        operator_sets.models(),
    )
    return [model for kind in kinds for model in kind]
