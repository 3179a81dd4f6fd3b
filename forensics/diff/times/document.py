"""The times of a comparison for ``diff --json``: the objects under ``times``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.diff.builds.runs import Circumstance, Measured
    from trtforensics.diff.times.comparing import OtherCircumstance, TimeComparison, TotalDelta
    from trtforensics.diff.times.deltas import LayerDelta, LayerTimes, TimedHalf, TypeDelta
    from trtforensics.model.span import SourceSpan

JsonObject = dict[str, Any]
_DIGITS = 7


def document(times: TimeComparison) -> JsonObject:
    """Return the comparison of times as an object for ``json.dump``."""
    return {
        "circumstances": [_circumstance(one) for one in times.circumstances],
        "totals": {total.key: _total(total) for total in times.totals},
        "layers": None if times.layers is None else _layers(times.layers),
    }


def _circumstance(one: OtherCircumstance) -> JsonObject:
    return {"block": one.block, "name": one.name, "good": _stated(one.good), "bad": _stated(one.bad)}


def _stated(values: Sequence[Circumstance]) -> list[JsonObject]:
    return [{"value": one.value, "line": None if one.span is None else _place(one.span)} for one in values]


def _total(total: TotalDelta) -> JsonObject:
    sides = {"good": _measured(total.good), "bad": _measured(total.bad)}
    return {
        **sides,
        "delta": _round(total.delta),
        "spread": _round(total.noise),
        "significant": _judged(total.noise, total),
    }


def _measured(one: Measured) -> JsonObject:
    values = {"value": _round(one.value), "spread": _round(one.spread), "mean": _round(one.mean), "count": one.count}
    return {**values, "line": _place(one.span)}


def _layers(layers: LayerTimes) -> JsonObject:
    return {
        "time_is": layers.time_is.value,
        "good_ms": _round(layers.good_ms),
        "bad_ms": _round(layers.bad_ms),
        "untimed": {"good": layers.untimed[0], "bad": layers.untimed[1]},
        "types": [_type(one) for one in layers.types],
        "rows": [_row(one) for one in layers.rows],
    }


def _type(one: TypeDelta) -> JsonObject:
    layers = {"good_layers": _round(one.good_layers), "bad_layers": _round(one.bad_layers)}
    times = {"good_ms": _round(one.good_ms), "bad_ms": _round(one.bad_ms), "delta_ms": _round(one.delta_ms)}
    return {"type": one.type, **layers, **times}


def _row(row: LayerDelta) -> JsonObject:
    return {
        "layer": row.name,
        "matched_by": row.how,
        "delta_ms": _round(row.delta_ms),
        "good": _half(row.good),
        "bad": _half(row.bad),
        "changes": list(row.changes),
        "noise_ms": _round(row.noise_ms),
        "significant": _judged(row.noise_ms, row),
    }


def _half(half: TimedHalf) -> JsonObject:
    layers = {"layers": list(half.layers), "types": list(half.types), "ms": _round(half.ms)}
    return {**layers, "lines": [_place(span) for span in half.spans]}


def _judged(noise: float | None, one: LayerDelta | TotalDelta) -> bool | None:
    """Return whether a difference is larger than chance may make it; None where nothing tells."""
    return None if noise is None else not one.within_noise


def _place(span: SourceSpan) -> JsonObject:
    return {"path": span.file, "line": span.line}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
