"""The layers some of whose tactics TensorRT skipped because they wanted more workspace than there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model.notes import StarvedLayer
from trtforensics.parsers.builds.views import latest

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.span import SourceSpan
    from trtforensics.model.timings import TacticTimings
    from trtforensics.parsers.builds.views import View

SKIPPED = ("tactic_skipped", "tactic_skipped_old")
_SHOWN = 3
"""Lines that a layer keeps."""


def starved_layers(view: View, timed: TacticTimings, span: Callable[[int], SourceSpan]) -> tuple[StarvedLayer, ...]:
    """Return them with what they asked for, in bytes, the most wanting layer first; 4.x to 10.x print such lines."""
    rows: dict[str, list[tuple[int, int, int]]] = {}
    for kind in view.present(SKIPPED):
        skipped = view.each(kind, "requested", "available")
        for (line, requested, available), layer in zip(skipped, _layers(timed, view.lines(kind)), strict=True):
            if requested is not None and available is not None:
                rows.setdefault(layer, []).append((requested, available, line))
    layers = [_starved(layer, found, span) for layer, found in rows.items()]
    return tuple(sorted(layers, key=lambda one: (-one.requested, one.spans[0].line)))


def _starved(layer: str, rows: list[tuple[int, int, int]], span: Callable[[int], SourceSpan]) -> StarvedLayer:
    requested, available, _ = max(rows)
    first = sorted(line for _, _, line in rows)[:_SHOWN]
    return StarvedLayer(layer, len(rows), requested, available, tuple(map(span, first)))


def _layers(timed: TacticTimings, lines: list[int]) -> list[str]:
    """Return the layer of the runner block that each line stands in; empty where none was begun."""
    layers = latest(timed.runner_line, timed.runner_layer, np.array(lines, np.int64))
    return [timed.texts[index] if index >= 0 else "" for index in layers.tolist()]
