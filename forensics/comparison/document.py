"""The JSON document of a comparison (``diff --json``), schema 1; docs/reference/commands describes every field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trtforensics.model.profile import TimeSource
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.notation.kernels import read_tactic
from trtforensics.render.json_text import dumps, kernel_facts

if TYPE_CHECKING:
    from trtforensics.comparison.differences import Comparison, Difference, SideValue
    from trtforensics.comparison.runs import Measured
    from trtforensics.comparison.scores import SuspiciousPair
    from trtforensics.comparison.times import (
        LayerDelta,
        LayerTimes,
        OtherCircumstance,
        TimeComparison,
        TimedHalf,
        TotalDelta,
    )
    from trtforensics.comparison.views import BuildView
    from trtforensics.model.span import SourceSpan


SCHEMA = 1
_DIGITS = 4
_MS_DIGITS = 7

JsonObject = dict[str, Any]


def to_json(comparison: Comparison) -> str:
    """Render the document in ASCII, one difference a line."""
    parts = []
    for key, value in document(comparison).items():
        if isinstance(value, list) and value:
            rows = ",\n  ".join(dumps(row) for row in value)
            parts.append(f' "{key}": [\n  {rows}\n ]')
        else:
            parts.append(f' "{key}": {dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def document(comparison: Comparison) -> JsonObject:
    """Return a comparison as an object for ``json.dump``."""
    return {
        "schema": SCHEMA,
        "kind": "diff",
        "good": [_build(build) for build in comparison.good.builds],
        "bad": [_build(build) for build in comparison.bad.builds],
        "skipped": [
            {"side": name, "path": path, "why": why}
            for name, side in (("good", comparison.good), ("bad", comparison.bad))
            for path, why in side.skipped
        ],
        "matched": {how.value: count for how, count in comparison.matched.items()},
        "notes": list(comparison.notes),
        "unrelated": comparison.unrelated or None,
        "summary": comparison.summary(),
        "times": times_document(comparison.times) if comparison.times.tells else None,
        "differences": [_difference(index, row) for index, row in enumerate(comparison.differences)],
        "pairs": [_pair(pair) for pair in comparison.pairs],
        "other_pairs": comparison.other_pairs,
    }


def _build(build: BuildView) -> JsonObject:
    return {
        "path": build.source,
        "kind": build.kind.value,
        "what": build.what,
        "tensorrt_version": build.tensorrt_version,
        "headline": build.headline or None,
        "layers": None if build.layers is None else len(build.layers),
        "operations": None if build.operations is None else len(build.operations),
        "notes": list(build.notes),
    }


def _difference(index: int, row: Difference) -> JsonObject:
    return {
        "index": index,
        "type": row.type.value,
        "layer": row.layer,
        "matched_by": row.matched_by.value,
        "good": [_entry(entry) for entry in row.good],
        "bad": [_entry(entry) for entry in row.bad],
        "suspicion": round(row.suspicion, _DIGITS),
        "seen": row.counts._asdict(),
        "consequence_of": row.cause,
        "why": list(row.why),
    }


def _entry(entry: SideValue) -> JsonObject:
    """Return a value with its builds, and the fields of the layer that represents it."""
    head: JsonObject = {"text": entry.text, "builds": entry.count, "lines": [_place(span) for span in entry.spans]}
    layer = entry.layer
    if layer is None:
        return head
    tensors = layer.tensors
    facts = read_tactic(layer.kernel or "", None, tensors.texts[tensors.inputs :])
    return {
        **head,
        "layers": list(entry.layers),
        "runner": layer.runner,
        "runner_id": layer.runner_id,
        "tactic": tactic_text(layer.tactic),
        "kernel": layer.kernel,
        "accumulator": facts.accumulator,
        "kernel_facts": kernel_facts(facts),
        "precision": None if tensors.types is None else list(tensors.types),
        "inputs": list(tensors.texts[: tensors.inputs]),
        "outputs": list(tensors.texts[tensors.inputs :]),
        "time_ms": layer.time_ms,
        "time_is": None if layer.time_ms is None else TimeSource.TUNED.value,
        "runner_up_ms": layer.runner_up_ms,
        "near_tie": layer.near_tie,
    }


def _place(span: SourceSpan | None) -> JsonObject | None:
    return None if span is None else {"path": span.file, "line": span.line}


def _pair(pair: SuspiciousPair) -> JsonObject:
    return {
        "layers": [half.layer for half in pair.halves],
        "suspicion": round(pair.suspicion, _DIGITS),
        "seen": pair.counts._asdict(),
        "halves": [
            {"layer": half.layer, "text": half.text, "line": _place(half.span), "seen": half.counts._asdict()}
            for half in pair.halves
        ],
    }


def times_document(times: TimeComparison) -> JsonObject:
    """Return the comparison of times as an object for ``json.dump``."""
    return {
        "circumstances": [_circumstance(circumstance) for circumstance in times.circumstances],
        "totals": {total.key: _total(total) for total in times.totals},
        "layers": None if times.layers is None else _layers(times.layers),
    }


def _circumstance(circumstance: OtherCircumstance) -> JsonObject:
    good, bad = (
        [{"value": stated.value, "line": _place(stated.span)} for stated in side]
        for side in (circumstance.good, circumstance.bad)
    )
    return {"block": circumstance.block, "name": circumstance.name, "good": good, "bad": bad}


def _total(total: TotalDelta) -> JsonObject:
    return {
        "good": _measured(total.good),
        "bad": _measured(total.bad),
        "delta": _round(total.delta),
        "spread": _round(total.noise),
        "significant": None if total.noise is None else not total.within_noise,
    }


def _measured(total: Measured) -> JsonObject:
    return {**_rounded(total, "value", "spread", "mean"), "count": total.count, "line": _place(total.span)}


def _layers(layers: LayerTimes) -> JsonObject:
    return {
        "time_is": layers.time_is.value,
        **_rounded(layers, "good_ms", "bad_ms"),
        "untimed": {"good": layers.untimed[0], "bad": layers.untimed[1]},
        "types": [
            {"type": delta.type, **_rounded(delta, "good_layers", "bad_layers", "good_ms", "bad_ms", "delta_ms")}
            for delta in layers.types
        ],
        "rows": [_row(row) for row in layers.rows],
        "left_out": [_row(row) for row in layers.left_out],
    }


def _row(row: LayerDelta) -> JsonObject:
    return {
        "layer": row.name,
        "matched_by": row.how,
        "delta_ms": _round(row.delta_ms),
        "good": _timed_half(row.good),
        "bad": _timed_half(row.bad),
        "changes": list(row.changes),
        "noise_ms": _round(row.noise_ms),
        "significant": None if row.noise_ms is None else not row.within_noise,
    }


def _timed_half(half: TimedHalf) -> JsonObject:
    layers = {"layers": list(half.layers), "types": list(half.types), "ms": _round(half.ms)}
    return {**layers, "lines": [_place(span) for span in half.spans]}


def _rounded(record: object, *names: str) -> JsonObject:
    return {name: _round(getattr(record, name)) for name in names}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, _MS_DIGITS)
