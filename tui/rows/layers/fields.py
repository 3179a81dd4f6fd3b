"""What a filter can ask of a layer, of a candidate or of an ONNX node, by the names of the fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.model.timings import tactic_text
from trtforensics.tui.rows.filtering import numbers, texts, types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trtforensics.engines.why import Reason
    from trtforensics.tui.rows.layers.entries import LayerEntry

LAYER_FIELDS = (
    *texts("name", "kind", "runner", "tactic", "kernel", "fused", "op", "foreign"),
    *texts("why", plain=False),
    *types("type", "in", "out", "compute"),
    *numbers("ms", "time", aliases=("ms",)),
    *numbers("ratio", "share", "margin", "other"),
    *numbers("", "number", "line"),
)
"""``margin`` and ``other`` are how much slower the runner-up and the fastest other type are: ``margin<2%``."""


@dataclass(frozen=True, slots=True)
class LayerFields:
    """The fields of a layer; times are in ms, shares and margins ratios, None for what is not known.

    Each is read when a filter asks for it: why a layer is as it is takes far longer than all others.
    """

    entry: LayerEntry
    why: Callable[[LayerEntry], Iterable[Reason]]

    def get(self, name: str) -> object:
        """Return a field of :data:`LAYER_FIELDS`."""
        if name == "why":
            return " ".join(reason.text for reason in self.why(self.entry))
        return _READERS[name](self.entry)


def _computes(entry: LayerEntry) -> tuple[str, ...]:
    known = entry.layer.compute_precision if entry.layer else None
    return (known.type,) if known else ()


def _tactic(entry: LayerEntry) -> str | None:
    chosen = entry.subject or entry.layer
    return tactic_text(chosen.tactic if chosen else None)


def _kernel(entry: LayerEntry) -> str:
    named = entry.layer.tactic_name if entry.layer else ""
    return named or (entry.subject.kernel if entry.subject else "")


_READERS: Mapping[str, Callable[[LayerEntry], object]] = {
    "name": lambda entry: entry.name,
    "number": lambda entry: entry.number,
    "kind": lambda entry: entry.kind,
    "type": lambda entry: (entry.kind, *entry.input_types, *entry.output_types, *_computes(entry)),
    "in": lambda entry: entry.input_types,
    "out": lambda entry: entry.output_types,
    "compute": _computes,
    "time": lambda entry: entry.time_ms,
    "share": lambda entry: entry.share,
    "margin": lambda entry: None if entry.margin is None else entry.margin - 1,
    "other": lambda entry: entry.other.ratio - 1 if entry.other else None,
    "runner": lambda entry: entry.subject.runner if entry.subject else None,
    "tactic": _tactic,
    "kernel": _kernel,
    "fused": lambda entry: (entry.name, *(node for node, _ in entry.nodes)),
    "op": lambda entry: entry.operators,
    "foreign": lambda entry: entry.inside or (entry.name if entry.foreign else ""),
    "line": lambda entry: entry.line,
}
"""Each field but ``why``; ``type`` has all types of a layer."""
