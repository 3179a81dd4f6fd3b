"""Facts about an engine's layers that several rules use: times, types, ForeignNodes, reformats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.parsers.notation.names import is_foreign_node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import Build, CachedResult, Choice, EngineLayer
    from trtforensics.model.span import SourceSpan

FULL = "Float"
_SPELLINGS = {
    "Float": FULL,
    "FP32": FULL,
    "Half": "Half",
    "FP16": "Half",
    "BF16": "BFloat16",
    "BFloat16": "BFloat16",
    "FP8": "FP8",
    "Int8": "Int8",
    "INT8": "Int8",
    "FP4": "FP4",
    "Int4": "Int4",
}
"""The types in which an engine computes, as TensorRT 7 to 11 spells them; other types are of indexes and masks."""


def is_foreign(layer: EngineLayer) -> bool:
    """Whether a layer is a ForeignNode, or a Myelin kernel inside one."""
    return is_foreign_node(layer.name) or layer.type in {"Myelin", "kgen"} or "_myl" in layer.name


def is_reformat(layer: EngineLayer) -> bool:
    """Whether a layer is a copy that changes a format or a type; a NoOp of that name copies nothing."""
    return layer.type in {"Reformat", "MyelinReformat"}


def timing_of(build: Build, layer: EngineLayer) -> Choice | CachedResult | None:
    """Return the choice or cached result that a layer came from; None where the log does not show it."""
    if layer.choice is not None:
        return build.choices[layer.choice]
    return build.cached[layer.cached] if layer.cached is not None else None


def tuned_ms(build: Build, layers: Sequence[EngineLayer]) -> float:
    """Return the sum of the layers' times when they were tuned, in ms; layers without a time count as 0."""
    timings = (timing_of(build, layer) for layer in layers)
    return sum(one.time_ms or 0.0 for one in timings if one is not None)


def output_types(layer: EngineLayer) -> set[str]:
    """Return the computing types of a layer's outputs, each in one spelling."""
    return {_SPELLINGS[kind] for kind in layer.output_types if kind in _SPELLINGS}


def in_engine(build: Build, pass_index: int | None) -> bool:
    """Whether a pass may have made the engine: the log does not say that it was discarded."""
    return pass_index is None or build.passes[pass_index].chosen is not False


def spans_of(layers: Sequence[EngineLayer]) -> list[SourceSpan]:
    """Return the lines of layers."""
    return [layer.span for layer in layers]
