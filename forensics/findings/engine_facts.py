"""Facts about an engine's layers that several rules use: times, types, ForeignNodes, reformats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from trtforensics.model.profile import TimeSource
from trtforensics.parsers.notation import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.model.log import Build, CachedResult, Choice, EngineLayer
    from trtforensics.model.span import SourceSpan

FULL = "Float"
_SPELLINGS = {
    "Float": FULL,
    "FP32": FULL,
    "TF32": FULL,
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
    return names.is_foreign_node(layer.name) or layer.type in {"Myelin", "kgen"} or "_myl" in layer.name


def is_reformat(layer: EngineLayer) -> bool:
    """Whether a layer is a copy that changes a format or a type; a NoOp of that name copies nothing."""
    return layer.type in {"Reformat", "MyelinReformat"}


_QUANTIZE_NODE = re.compile(r"QuantizeLinear(?:_clone_\d+)?$")


def is_quantize_node(layer: EngineLayer) -> bool:
    """Whether a layer is a Q or a DQ of the model, or TensorRT's clone of one, by its name."""
    return _QUANTIZE_NODE.search(layer.name) is not None and not names.is_reformat(layer.name)


class TimeShare(NamedTuple):
    """How long some layers take, in ms, their share of the time of all, and where the times are from."""

    ms: float
    share: float
    source: TimeSource

    def __str__(self) -> str:
        return f"{self.share:.0%} of the {self.source} time"


def time_share(build: Build, layers: Sequence[EngineLayer]) -> TimeShare | None:
    """Return the share that layers of the engine have of its time, measured or else tuned; None unless all are timed.

    The kernels of a ForeignNode that was tuned as a whole count once.
    """
    if build.profile:
        known = [layer.time_ms for layer in layers if layer.profile is not None and layer.time_ms is not None]
        whole = sum(row.average_ms for row in build.profile)
        return _share(sum(known), whole, TimeSource.MEASURED) if len(known) == len(layers) else None
    tuned = [_tuning_of(build, layer) for layer in layers]
    if any(one is None or one.time_ms is None for one in tuned):
        return None
    every = (_tuning_of(build, layer) for layer in build.engine_layers)
    return _share(_tuned_ms(tuned), _tuned_ms(every), TimeSource.TUNED)


def _share(ms: float, whole: float, source: TimeSource) -> TimeShare | None:
    return TimeShare(ms, ms / whole, source) if whole else None


def _tuning_of(build: Build, layer: EngineLayer) -> Choice | CachedResult | None:
    if layer.choice is not None:
        return build.choices[layer.choice]
    return build.cached[layer.cached] if layer.cached is not None else None


def _tuned_ms(tuned: Iterable[Choice | CachedResult | None]) -> float:
    return sum(one.time_ms or 0.0 for one in {id(one): one for one in tuned if one is not None}.values())


def output_types(layer: EngineLayer) -> set[str]:
    """Return the computing types of a layer's outputs, each in one spelling."""
    return {_SPELLINGS[kind] for kind in layer.output_types if kind in _SPELLINGS}


def input_types(layer: EngineLayer) -> set[str]:
    """Return the computing types of a layer's inputs, each in one spelling."""
    return {_SPELLINGS[tensor.dtype] for tensor in layer.inputs if tensor.dtype in _SPELLINGS}


def layer_types(layer: EngineLayer) -> set[str]:
    """Return the types that a layer writes and the one that it computes in, where known; TF32 counts as FP32."""
    known = layer.compute_precision
    own = {_SPELLINGS[known.type]} if known is not None and known.type in _SPELLINGS else set()
    return output_types(layer) | own


def spans_of(layers: Sequence[EngineLayer]) -> list[SourceSpan]:
    """Return the lines of layers."""
    return [layer.span for layer in layers]


def runs_in(case: Case, kind: str) -> bool | None:
    """Whether a layer reads, writes or computes in a type (``Half``); None where the log does not tell.

    It does not tell without engine layers, and what is inside a ForeignNode is unknown too.
    """
    if any(kind in layer_types(layer) | input_types(layer) for layer in case.engine):
        return True
    typed = [layer for layer in case.engine if layer_types(layer) | input_types(layer)]
    return None if not typed or any(map(is_foreign, case.engine)) else False
