"""What can differ at a layer, as values that compare: only what every build that tells of the aspect tells."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from trtforensics.diff.differences import Type
from trtforensics.model import tactic_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.diff.views import LayerView
    from trtforensics.kinds import Kind

Value = tuple[Any, ...]

_FIELDS = {
    Type.PRECISION: ("tensors.types",),
    Type.FORMAT: ("tensors.strides", "tensors.packing", "tensors.packed_dim", "tensors.layout", "tensors.enumerator"),
    Type.TACTIC: ("runner_id", "runner", "tactic", "kernel"),
}
ASPECTS = tuple(_FIELDS)
_GETTERS = {name: attrgetter(name) for fields in _FIELDS.values() for name in fields}


def values(aspect: Type, layers: Mapping[int, LayerView], kinds: Mapping[int, Kind]) -> dict[int, Value]:
    """Return an aspect's value by build; a build that does not tell it is missing, and none where nothing is common."""
    told = {build: [get(layer) for get in _getters(aspect)] for build, layer in layers.items()}
    told = {build: row for build, row in told.items() if any(value is not None for value in row)}
    common = [n for n in range(len(_FIELDS[aspect])) if all(row[n] is not None for row in told.values())]
    if not common or (aspect is not Type.TACTIC and _unlike(layers, told, kinds)):
        return {}
    return {build: tuple(row[n] for n in common) for build, row in told.items()}


def _getters(aspect: Type) -> tuple[attrgetter[Any], ...]:
    return tuple(_GETTERS[name] for name in _FIELDS[aspect])


def _unlike(layers: Mapping[int, LayerView], told: Mapping[int, object], kinds: Mapping[int, Kind]) -> bool:
    """Whether sources of different kinds count a layer's tensors differently, so that they cannot be told apart."""
    if len({kinds[build] for build in told}) <= 1:
        return False
    return len({(layers[build].tensors.inputs, len(layers[build].tensors.texts)) for build in told}) > 1


def text(aspect: Type, layer: LayerView) -> str:
    """Spell an aspect of a layer for people."""
    if aspect is Type.PRECISION:
        return arrow(layer, layer.tensors.types or ())
    if aspect is Type.FORMAT:
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
