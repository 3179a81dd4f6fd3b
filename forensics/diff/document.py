"""The JSON document of a comparison (``diff --json``), schema 1; docs/reference/commands describes every field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trtforensics.diff.times import document as times
from trtforensics.model.profile import TimeSource
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.notation.kernels import read_tactic
from trtforensics.render.json_text import dumps
from trtforensics.render.kernel_facts import kernel_facts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.diff.builds.views import BuildView
    from trtforensics.diff.differences import Comparison, Difference, PairHalf, SideValue, SuspiciousPair
    from trtforensics.diff.loading import ComparedSide
    from trtforensics.diff.scores import Counts
    from trtforensics.model.span import SourceSpan

SCHEMA = 1
_DIGITS = 4

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
        "skipped": [*_skipped(comparison.good, "good"), *_skipped(comparison.bad, "bad")],
        "matched": {how.value: count for how, count in comparison.matched.items()},
        "notes": list(comparison.notes),
        "unrelated": comparison.unrelated or None,
        "summary": comparison.summary(),
        "times": times.document(comparison.times) if comparison.times.tells else None,
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
        "layers": None if build.layers is None else len(build.layers),
        "operations": None if build.operations is None else len(build.operations),
        "notes": list(build.notes),
    }


def _skipped(side: ComparedSide, name: str) -> Iterable[JsonObject]:
    return ({"side": name, "path": one.path, "why": one.why} for one in side.skipped)


def _difference(index: int, row: Difference) -> JsonObject:
    return {
        "index": index,
        "type": row.type.value,
        "layer": row.layer,
        "matched_by": row.matched_by.value,
        "good": [_entry(entry) for entry in row.good],
        "bad": [_entry(entry) for entry in row.bad],
        "suspicion": round(row.suspicion, _DIGITS),
        "seen": _counts(row.counts),
        "consequence_of": row.cause,
        "why": list(row.why),
    }


def _entry(entry: SideValue) -> JsonObject:
    """Return a value with its builds, and the fields of the layer that represents it."""
    found: JsonObject = {"text": entry.text, "builds": entry.count, "lines": [_place(span) for span in entry.spans]}
    layer = entry.layer
    if layer is None:
        return found
    tensors = layer.tensors
    facts = read_tactic(layer.kernel or "", None, tensors.texts[tensors.inputs :])
    formats = {"inputs": list(tensors.texts[: tensors.inputs]), "outputs": list(tensors.texts[tensors.inputs :])}
    return {
        **found,
        "layers": list(entry.layers),
        "runner": layer.runner,
        "runner_id": layer.runner_id,
        "tactic": tactic_text(layer.tactic),
        "kernel": layer.kernel,
        "accumulator": facts.accumulator,
        "kernel_facts": kernel_facts(facts),
        "precision": None if tensors.types is None else list(tensors.types),
        **formats,
        "time_ms": layer.time_ms,
        "time_is": None if layer.time_ms is None else TimeSource.TUNED.value,
        "runner_up_ms": layer.runner_up_ms,
        "near_tie": layer.near_tie,
    }


def _place(span: SourceSpan) -> JsonObject:
    return {"path": span.file, "line": span.line}


def _counts(counts: Counts) -> JsonObject:
    return {"good": counts.good, "of_good": counts.of_good, "bad": counts.bad, "of_bad": counts.of_bad}


def _pair(pair: SuspiciousPair) -> JsonObject:
    return {
        "layers": [half.layer for half in pair.halves],
        "suspicion": round(pair.suspicion, _DIGITS),
        "seen": _counts(pair.counts),
        "halves": [_half(half) for half in pair.halves],
    }


def _half(half: PairHalf) -> JsonObject:
    place = _place(half.span) if half.span is not None else None
    return {"layer": half.layer, "text": half.text, "line": place, "seen": _counts(half.counts)}
