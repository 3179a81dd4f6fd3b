"""A model of the zoo, with its samples and the answer that is expected of a precision search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt
    import onnx

    Feed = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class ZooModel:
    """A model by name.

    ``expected_minimal`` are the nodes that compute and must stay FP32: with them the model passes, without any one of
    them it fails. Nodes that only move data follow their producer and are not in it. ``expected_safe`` has besides
    every node that computes and touches a tensor that the minimal set leaves lost: it has infinities or NaN, or nothing
    but zeros, in ``precision`` (``fp16`` or ``bf16``), and has not in FP32, while what it is made of is not lost.
    With ``rounding`` that costs more than the cap, no set is certified: a curve shows that ``expected_minimal`` passes.
    ``accumulate`` is the type in which products sum. ``external`` models are saved with their weights in a file of
    their own.
    """

    name: str
    build: Callable[[], onnx.ModelProto]
    samples: Sequence[Feed]
    expected_minimal: frozenset[str]
    expected_safe: frozenset[str]
    precision: str = "fp16"
    accumulate: str = "fp32"
    external: bool = False
    rounding: bool = False
    large: bool = False


def nodes(scope: str, *ops: str) -> frozenset[str]:
    """Return names of nodes in a scope."""
    return frozenset(f"{scope}/{op}" for op in ops)
