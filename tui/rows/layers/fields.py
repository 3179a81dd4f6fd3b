"""What a filter can ask of a layer, of a candidate or of an ONNX node, by the names of the fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.engines.alternatives import WORDS
from trtforensics.model.timings import tactic_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.engines.why import Reason
    from trtforensics.tui.rows.layers.entries import LayerEntry


def fields_of(entry: LayerEntry, why: Iterable[Reason]) -> dict[str, object]:
    """Return the fields of a layer; times are in ms, shares and margins in per cent, None for what is not known.

    ``type`` names all types of a layer, in TensorRT's word and in trtexec's (``Half FP16``).
    """
    subject, layer = entry.subject, entry.layer
    types = dict.fromkeys((*entry.input_types, *entry.output_types, entry.compute))
    return {
        "name": entry.name,
        "number": entry.number,
        "kind": entry.kind,
        "type": " ".join(word for kind in types for word in (kind, WORDS.get(kind, ""))).strip(),
        "in": " ".join(entry.input_types),
        "out": " ".join(entry.output_types),
        "compute": entry.compute,
        "time": entry.time_ms,
        "share": None if entry.share is None else entry.share * 100,
        "margin": _percent(entry.margin),
        "other": _percent(entry.other.ratio if entry.other else None),
        "runner": subject.runner if subject else None,
        "tactic": tactic_text(subject.tactic if subject else layer.tactic if layer else None),
        "kernel": (layer.tactic_name if layer else "") or (subject.kernel if subject else ""),
        "fused": " ".join((entry.name, *(layer.onnx_nodes if layer else ()))),
        "foreign": entry.inside or (entry.name if entry.foreign else ""),
        "why": " ".join(reason.text for reason in why),
        "line": entry.line,
    }


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else (ratio - 1) * 100
