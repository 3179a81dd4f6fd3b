"""What can differ at a layer, as values that compare: only what every build that tells of the aspect tells."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from trtforensics.diff.differences import DifferenceType
from trtforensics.model.timings import tactic_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trtforensics.diff.views import LayerView
    from trtforensics.sources.kinds import Kind

Value = tuple[Any, ...]

_FIELDS = {
    DifferenceType.PRECISION: ("tensors.types",),
    DifferenceType.FORMAT: (
        "tensors.strides",
        "tensors.packing",
        "tensors.packed_dim",
        "tensors.layout",
        "tensors.enumerator",
    ),
    DifferenceType.TACTIC: ("runner_id", "runner", "tactic", "kernel"),
}
ASPECTS = tuple(_FIELDS)
_READERS: dict[DifferenceType, Callable[[LayerView], Value]] = {
    DifferenceType.PRECISION: lambda layer: (layer.tensors.types,),
    DifferenceType.FORMAT: attrgetter(*_FIELDS[DifferenceType.FORMAT]),
    DifferenceType.TACTIC: attrgetter(*_FIELDS[DifferenceType.TACTIC]),
}
_NOTHING = {aspect: (None,) * len(fields) for aspect, fields in _FIELDS.items()}


def values(aspect: DifferenceType, layers: Mapping[int, LayerView], kinds: Mapping[int, Kind]) -> dict[int, Value]:
    """Return an aspect's value by build; a build that does not tell it is missing, and none where nothing is common."""
    read = _READERS[aspect]
    told = {build: row for build, layer in layers.items() if (row := read(layer)) != _NOTHING[aspect]}
    common = [n for n, column in enumerate(zip(*told.values(), strict=True)) if None not in column]
    if not common or (aspect is not DifferenceType.TACTIC and _unlike(layers, told, kinds)):
        return {}
    if len(common) == len(_FIELDS[aspect]):
        return told
    return {build: tuple(row[n] for n in common) for build, row in told.items()}


def _unlike(layers: Mapping[int, LayerView], told: Mapping[int, object], kinds: Mapping[int, Kind]) -> bool:
    """Whether sources of different kinds count a layer's tensors differently, so that they cannot be told apart."""
    if len({kinds[build] for build in told}) <= 1:
        return False
    return len({(layers[build].tensors.inputs, len(layers[build].tensors.texts)) for build in told}) > 1


def text(aspect: DifferenceType, layer: LayerView) -> str:
    """Spell an aspect of a layer for people."""
    if aspect is DifferenceType.PRECISION:
        return arrow(layer, layer.tensors.types or ())
    if aspect is DifferenceType.FORMAT:
        return arrow(layer, layer.tensors.texts)
    runner = layer.runner or (f"0x{layer.runner_id:08x}" if layer.runner_id else "")
    words = [runner, tactic_text(layer.tactic), layer.kernel]
    if layer.tactic is not None and tactic_text(layer.tactic) is None:
        words[1] = "no tactic"
    return " ".join(word for word in words if word)


def arrow(layer: LayerView, texts: tuple[str, ...]) -> str:
    """Spell inputs and outputs: ``Half, Half -> Float``."""
    inputs = layer.tensors.inputs
    return f"{', '.join(texts[:inputs])} -> {', '.join(texts[inputs:])}".strip()
