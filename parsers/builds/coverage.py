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
_FACTS = ("outcome", "engine_layers", "choices", "cached", "profiles", "command", "options", "onnx_nodes")

_shared = lru_cache(maxsize=1 << 10)(Coverage)
"""Thousands of builds of a log have the same coverage."""


def coverages(log: Log, columns: Mapping[str, Sequence[Any]]) -> list[Coverage]:
    """Return the coverage of each build; ``columns`` holds what was read of the builds, by the name of the field."""
    blank, other = log.counts("blank"), log.counts("other")
    lines = zip((np.diff(log.edges) - blank - other).tolist(), other.tolist(), strict=True)
    builds = zip(*(columns[name] for name in _FACTS), strict=True)
    named = log.having("onnx_header").tolist()
    return [
        _coverage(dict(zip(_FACTS, facts, strict=True)), is_named, *counts)
        for facts, is_named, counts in zip(builds, named, lines, strict=True)
    ]


def _coverage(facts: Mapping[str, Any], is_named: bool, own_lines: int, other_lines: int) -> Coverage:  # noqa: FBT001 - a fact among facts
    tuned: Sequence[Choice | CachedResult] = (*facts["choices"], *facts["cached"])
    layers: Sequence[EngineLayer] = facts["engine_layers"]
    return _shared(
        facts["outcome"] in {Outcome.PASSED, Outcome.FAILED},
        bool(layers),
        bool(tuned) or any(layer.tactic is not None for layer in layers),
        _times(facts["profiles"], tuned),
        bool(facts["command"]) or any(facts["options"].values()),
        is_named or bool(facts["onnx_nodes"]) or _MODEL_FILE.search(facts["command"] or "") is not None,
        own_lines,
        other_lines,
    )


def _times(profiles: Sequence[ProfileRun], tuned: Iterable[Choice | CachedResult]) -> TimeSource | None:
    if profiles:
        return TimeSource.MEASURED
    return TimeSource.TUNED if any(one.time_ms is not None for one in tuned) else None
