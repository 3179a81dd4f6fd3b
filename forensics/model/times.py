"""Which layers of an engine take how long: by the profile of a run where there is one, else by the autotuner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.model.profile import TimeSource

if TYPE_CHECKING:
    from trtforensics.model.log import Build, CachedResult, Choice, EngineLayer
    from trtforensics.model.span import SourceSpan

NO_KERNEL = frozenset({"NoOp", "Constant"})
"""Types of layers that run no kernel and take no time."""


@dataclass(frozen=True, slots=True)
class TimedLayer:
    """A layer with its time in ms, and its ``share`` of the time of all.

    ``what`` is its type or its runner, empty where that is not known. A ForeignNode that was tuned is one layer: the
    autotuner timed it as a whole. ``tuned`` is what the autotuner chose for it.
    """

    name: str
    time_ms: float
    time_is: TimeSource
    what: str
    share: float
    span: SourceSpan
    tuned: Choice | CachedResult | None = None


def slowest_layers(build: Build) -> list[TimedLayer]:
    """Return the layers of a build's engine that have a time, slowest first; never measured and tuned ones together."""
    layers = _measured(build) if build.profile else _tuned(build)
    return sorted(layers, key=lambda layer: -layer.time_ms)


def _measured(build: Build) -> list[TimedLayer]:
    whole = sum(row.total_ms for row in build.profile) or 1.0
    types = dict(enumerate(layer.type for layer in build.engine_layers))
    return [
        TimedLayer(
            row.name,
            row.average_ms,
            TimeSource.MEASURED,
            "" if row.engine_layer is None else types[row.engine_layer],
            row.total_ms / whole,
            row.span,
            None if row.engine_layer is None else _origin(build, build.engine_layers[row.engine_layer]),
        )
        for row in build.profile
    ]


def _tuned(build: Build) -> list[TimedLayer]:
    every: tuple[Choice | CachedResult, ...] = (*build.choices, *build.cached)
    final = [(one, one.time_ms) for one in every if one.final and one.time_ms is not None]
    whole = sum(ms for _, ms in final) or 1.0
    return [TimedLayer(one.layer, ms, TimeSource.TUNED, one.runner, ms / whole, one.span, one) for one, ms in final]


def _origin(build: Build, layer: EngineLayer) -> Choice | CachedResult | None:
    if layer.choice is not None:
        return build.choices[layer.choice]
    return None if layer.cached is None else build.cached[layer.cached]


def shares(build: Build) -> list[float | None]:
    """Return for each of the engine's layers its share of the time of all (0 to 1); None where it has no time."""
    if build.profile:
        whole = sum(row.total_ms for row in build.profile) or 1.0
        rows = (None if layer.profile is None else build.profile[layer.profile] for layer in build.engine_layers)
        return [None if row is None else row.total_ms / whole for row in rows]
    whole = sum(layer.time_ms for layer in _tuned(build)) or 1.0
    return [None if layer.time_ms is None else layer.time_ms / whole for layer in build.engine_layers]


def timed_note(build: Build) -> str:
    """Say how many of the engine's layers have a time, as ``15 of 29 layers timed, 4 run no kernel``.

    The kernels of a ForeignNode that was tuned as a whole count as timed.
    """
    layers = build.engine_layers
    from_tuning = not any(layer.profile is not None for layer in layers)
    timed = sum(
        layer.time_ms is not None or (from_tuning and (layer.choice is not None or layer.cached is not None))
        for layer in layers
    )
    silent = sum(layer.time_ms is None and layer.type in NO_KERNEL for layer in layers)
    return f"{timed} of {len(layers)} layers timed" + (f", {silent} run no kernel" if silent else "")
