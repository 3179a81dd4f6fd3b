"""What a filter can ask of a layer, of a candidate or of an ONNX node, by the names of the fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.timings import tactic_text
from trtforensics.tui.rows.filtering import numbers, texts, types

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.engines.why import Reason
    from trtforensics.tui.rows.layers.entries import LayerEntry

LAYER_FIELDS = (
    *texts("name", "kind", "runner", "tactic", "kernel", "fused", "foreign"),
    *texts("why", plain=False),
    *types("type", "in", "out", "compute"),
    *numbers("ms", "time", aliases=("ms",)),
    *numbers("ratio", "share", "margin", "other"),
    *numbers("", "number", "line"),
)
"""``margin`` and ``other`` are how much slower the runner-up and the fastest other type are: ``margin<2%``."""


def fields_of(entry: LayerEntry, why: Iterable[Reason]) -> dict[str, object]:
    """Return the fields of a layer; times are in ms, shares and margins ratios, None for what is not known.

    ``type`` has all types of a layer.
    """
    subject, layer = entry.subject, entry.layer
    known = layer.compute_precision if layer else None
    computes = (known.type,) if known else ()
    return {
        "name": entry.name,
        "number": entry.number,
        "kind": entry.kind,
        "type": (entry.kind, *entry.input_types, *entry.output_types, *computes),
        "in": entry.input_types,
        "out": entry.output_types,
        "compute": computes,
        "time": entry.time_ms,
        "share": entry.share,
        "margin": None if entry.margin is None else entry.margin - 1,
        "other": entry.other.ratio - 1 if entry.other else None,
        "runner": subject.runner if subject else None,
        "tactic": tactic_text(subject.tactic if subject else layer.tactic if layer else None),
        "kernel": (layer.tactic_name if layer else "") or (subject.kernel if subject else ""),
        "fused": (entry.name, *(layer.onnx_nodes if layer else ())),
        "foreign": entry.inside or (entry.name if entry.foreign else ""),
        "why": " ".join(reason.text for reason in why),
        "line": entry.line,
    }
