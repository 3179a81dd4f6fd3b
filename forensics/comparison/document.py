"""The JSON document of a comparison (``diff --json``), schema 1; docs/reference/commands describes every field."""

from trtforensics.comparison.differences import Comparison, SideValue
from trtforensics.comparison.times import TimeComparison
from trtforensics.comparison.views import LayerView
from trtforensics.model.kernel import KernelFacts
from trtforensics.model.profile import TimeSource
from trtforensics.parsers.notation.kernels import read_tactic
from trtforensics.render.documents import Forms, JsonObject, document_of
from trtforensics.render.json_text import dumps, kernel_facts

SCHEMA = 1
_DIGITS = 4


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
    return {"schema": SCHEMA, "kind": "diff", **document_of("diff", comparison, _FORMS)}


def times_document(times: TimeComparison) -> JsonObject:
    """Return the comparison of times as an object for ``json.dump``."""
    return document_of("times", times, _FORMS)


def _side_value(value: SideValue) -> JsonObject:
    """Return a value with its builds, and the fields of the layer that represents it."""
    head = document_of("side_value", value)
    if value.layer is None:
        return head
    return {**head, "layers": list(value.layers), **document_of("compared_layer", value.layer, _FORMS)}


def _kernel(layer: LayerView) -> KernelFacts:
    return read_tactic(layer.kernel or "", None, layer.tensors.texts[layer.tensors.inputs :])


_FORMS: Forms = {
    "skipped": lambda comparison: [
        {"side": name, "path": path, "why": why}
        for name in ("good", "bad")
        for path, why in getattr(comparison, name).skipped
    ],
    "counts": lambda comparison: comparison.summary(),
    "told": lambda times: times_document(times) if times.tells else None,
    "numbered": lambda rows: [{"index": i, **document_of("difference", row, _FORMS)} for i, row in enumerate(rows)],
    "value_and_layer": _side_value,
    "accumulator": lambda layer: _kernel(layer).accumulator,
    "kernel_facts": lambda layer: kernel_facts(_kernel(layer)),
    "inputs": lambda tensors: list(tensors.texts[: tensors.inputs]),
    "outputs": lambda tensors: list(tensors.texts[tensors.inputs :]),
    "types": lambda types: None if types is None else list(types),
    "tuned": lambda time_ms: None if time_ms is None else TimeSource.TUNED.value,
    "suspicion": lambda suspicion: round(suspicion, _DIGITS),
    "seen": lambda counts: counts._asdict(),
    "layers": lambda halves: [half.layer for half in halves],
    "totals": lambda totals: {total.key: document_of("total", total, _FORMS) for total in totals},
    "significant_total": lambda total: None if total.noise is None else not total.within_noise,
    "significant": lambda delta: None if delta.noise_ms is None else not delta.within_noise,
    "sides": lambda counts: dict(zip(("good", "bad"), counts, strict=True)),
}
