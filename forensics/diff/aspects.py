"""What can differ at a layer (precision, format, tactic) as comparable values: only fields that all builds state."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from trtforensics.diff.differences import DifferenceType
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.notation.kernels import read_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trtforensics.diff.builds.views import LayerView
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
    """Return an aspect's value by build, without builds that do not state it; empty where no field is common."""
    read = _READERS[aspect]
    stated = {build: row for build, layer in layers.items() if (row := read(layer)) != _NOTHING[aspect]}
    common = [n for n, column in enumerate(zip(*stated.values(), strict=True)) if None not in column]
    if not common or (aspect is not DifferenceType.TACTIC and _unlike(layers, stated, kinds)):
        return {}
    if len(common) == len(_FIELDS[aspect]):
        return stated
    return {build: tuple(row[n] for n in common) for build, row in stated.items()}


def _unlike(layers: Mapping[int, LayerView], stated: Mapping[int, object], kinds: Mapping[int, Kind]) -> bool:
    """Whether sources of different kinds list different numbers of tensors, which cannot be compared."""
    if len({kinds[build] for build in stated}) <= 1:
        return False
    return len({(layers[build].tensors.inputs, len(layers[build].tensors.texts)) for build in stated}) > 1


def text(aspect: DifferenceType, layer: LayerView) -> str:
    """Return an aspect of a layer as text for people."""
    if aspect is DifferenceType.PRECISION:
        return layer.types_text
    if aspect is DifferenceType.FORMAT:
        return layer.arrow(layer.tensors.texts)
    runner = layer.runner or (f"0x{layer.runner_id:08x}" if layer.runner_id else "")
    sums = read_kernel(layer.kernel).sum_text if layer.kernel else ""
    words = [runner, tactic_text(layer.tactic), layer.kernel, f"({sums})" if sums else ""]
    if layer.tactic is not None and tactic_text(layer.tactic) is None:
        words[1] = "no tactic"
    return " ".join(word for word in words if word)
