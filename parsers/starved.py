"""The layers some of whose tactics TensorRT skipped because they wanted more workspace than there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.notes import StarvedLayer

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model import SourceSpan, TacticTimings
    from trtforensics.parsers.views import View

_SHOWN = 3
"""Lines that a layer keeps."""


def starved_layers(view: View, timed: TacticTimings, span: Callable[[int], SourceSpan]) -> tuple[StarvedLayer, ...]:
    """Return them with what they asked for, in bytes, the most wanting layer first; 4.x to 10.x print such lines."""
    rows: dict[str, list[tuple[int, int, int]]] = {}
    for kind in ("tactic_skipped", "tactic_skipped_old"):
        for line, requested, available in view.each(kind, "requested", "available"):
            if requested is not None and available is not None:
                rows.setdefault(_layer(timed, line), []).append((requested, available, line))
    layers = [_starved(layer, found, span) for layer, found in rows.items()]
    return tuple(sorted(layers, key=lambda one: (-one.requested, one.spans[0].line)))


def _starved(layer: str, rows: list[tuple[int, int, int]], span: Callable[[int], SourceSpan]) -> StarvedLayer:
    requested, available, _ = max(rows)
    first = sorted(line for _, _, line in rows)[:_SHOWN]
    return StarvedLayer(layer, len(rows), requested, available, tuple(map(span, first)))


def _layer(timed: TacticTimings, line: int) -> str:
    """Return the layer of the runner block that a line stands in; empty where none was begun."""
    runner = int(timed.runner_line.searchsorted(line)) - 1
    text = int(timed.runner_layer[runner]) if runner >= 0 else -1
    return timed.texts[text] if text >= 0 else ""
