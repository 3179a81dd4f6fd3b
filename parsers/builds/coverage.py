"""What a log lets one judge of each build."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.model.log import Coverage, Outcome
from trtforensics.model.profile import TimeSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trtforensics.model.log import CachedResult, Choice, EngineLayer
    from trtforensics.model.profile import ProfileRun
    from trtforensics.parsers.builds.views import Log

_MODEL_FILE = re.compile(r"\.(?:onnx|uff|caffemodel|prototxt)\b")
_VERDICTS = frozenset({Outcome.PASSED, Outcome.FAILED})
_NO_ENGINE = False, False, None

_shared = lru_cache(maxsize=1 << 10)(Coverage)
"""Thousands of builds of a log have the same coverage."""


def coverages(log: Log, columns: Mapping[str, Sequence[Any]]) -> list[Coverage]:
    """Return the coverage of each build; ``columns`` holds what was read of the builds, by the name of the field."""
    blank, other = log.counts("blank"), log.counts("other")
    engines = map(_engine, *(columns[name] for name in ("engine_layers", "choices", "cached", "profiles")))
    runs = zip(columns["outcome"], columns["command"], columns["options"], strict=True)
    models = zip(log.having("onnx_header").tolist(), columns["onnx_nodes"], strict=True)
    lines = zip((np.diff(log.edges) - blank - other).tolist(), other.tolist(), strict=True)
    return [
        _shared(
            outcome in _VERDICTS,
            *engine,
            bool(command) or any(options.values()),
            named or bool(nodes) or (command is not None and _MODEL_FILE.search(command) is not None),
            *counts,
        )
        for engine, (outcome, command, options), (named, nodes), counts in zip(
            engines, runs, models, lines, strict=True
        )
    ]


def _engine(
    layers: Sequence[EngineLayer],
    choices: Sequence[Choice],
    cached: Sequence[CachedResult],
    profiles: Sequence[ProfileRun],
) -> tuple[bool, bool, TimeSource | None]:
    """Return whether a build has engine layers and tactics, and what its times are."""
    if not (layers or choices or cached or profiles):
        return _NO_ENGINE
    tuned: tuple[Choice | CachedResult, ...] = (*choices, *cached)
    has_tactics = bool(tuned) or any(layer.tactic is not None for layer in layers)
    return bool(layers), has_tactics, _times(profiles, tuned)


def _times(profiles: Sequence[ProfileRun], tuned: Iterable[Choice | CachedResult]) -> TimeSource | None:
    if profiles:
        return TimeSource.MEASURED
    return TimeSource.TUNED if any(one.time_ms is not None for one in tuned) else None
