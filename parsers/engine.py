"""The engine's layers as the log prints them at the end of a build, and by ``--dumpLayerInfo``."""

from __future__ import annotations

import re
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from trtforensics.model import EngineLayer
from trtforensics.parsers.events import tactic_id
from trtforensics.parsers.names import members, onnx_nodes, without_profile
from trtforensics.parsers.tensors import details, short_tensors
from trtforensics.rows import column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from trtforensics.model import EngineTensor, ForeignNode, OnnxNode, SourceSpan
    from trtforensics.parsers.views import Log

UNREADABLE = "the tensors of this line could not be read"
_TACTIC_VALUE = re.compile(r"0x[0-9a-f]{1,16}")
_KEY = "TacticValue:"
_TACTIC = f", {_KEY} "
_ANY_TACTIC = "0x"
"""No tactic: it has no digits."""


class _OnnxMembers:
    """Finds the ONNX nodes behind an engine layer that carries no metadata of its own."""

    def __init__(self, nodes: Sequence[OnnxNode], foreign: Iterable[ForeignNode]) -> None:
        self._by_layer: dict[str, list[str]] = {}
        for name, layers in zip(column(nodes, "name"), column(nodes, "layers"), strict=True):
            for layer in layers:
                self._by_layer.setdefault(layer, []).append(name)
        self._foreign = {without_profile(f.name): f.onnx_nodes for f in foreign}

    def of(self, name: str) -> tuple[str, ...]:
        """Return the nodes, by the ForeignNode's metadata line or by the layers that the parser registered."""
        if not self._foreign and not self._by_layer:
            return ()
        known = self._foreign.get(without_profile(name))
        if known:
            return known
        found = (node for member in members(name) for node in self._by_layer.get(member, ()))
        return tuple(dict.fromkeys(found))


def engine_layers(
    log: Log,
    nodes: Sequence[Sequence[OnnxNode]],
    foreign: Sequence[tuple[ForeignNode, ...]],
    span: Callable[[int], SourceSpan],
) -> Sequence[tuple[EngineLayer, ...]]:
    """Read every engine-layer line of each build, in the log's order; a dump that is printed twice is there twice."""
    rows = [
        (line, name, type_, tactic, _short(tensors))
        for line, name, type_, tactic, tensors in log.each("layer_short", "name", "type", "tactic", "tensors")
    ]
    for line, name, type_, text in log.each("layer_detailed", "name", "type", "details"):
        rows.append((line, name, type_, *_detailed(text)))
    rows.sort(key=itemgetter(0))
    if not rows:
        return log.same(())
    limits = log.ranges([line for line, *_ in rows])
    return [
        _of_build(rows[low:high], _OnnxMembers(nodes[build], foreign[build]), span) if low < high else ()
        for build, (low, high) in enumerate(limits)
    ]


def _of_build(rows: list[_Row], onnx: _OnnxMembers, span: Callable[[int], SourceSpan]) -> tuple[EngineLayer, ...]:
    return tuple(
        [_layer(name, type_, tactic, printed, onnx, span(line)) for line, name, type_, tactic, printed in rows]
    )


class _Printed(NamedTuple):
    """What a line says of a layer besides its name, type and tactic."""

    precision: tuple[str, ...]
    inputs: tuple[EngineTensor, ...]
    outputs: tuple[EngineTensor, ...]
    onnx_nodes: tuple[str, ...]
    tactic_name: str
    tactic: str
    fields: Mapping[str, str]


_Row = tuple[int, str, str, int | None, _Printed | None]
"""Line, name, type and tactic of a layer, and what else its line says; None where that could not be read."""


def _layer(  # noqa: PLR0913, PLR0917 - one place makes a layer from what the two line forms print
    name: str, type_: str, tactic: int | None, printed: _Printed | None, onnx: _OnnxMembers, span: SourceSpan
) -> EngineLayer:
    if printed is None:
        return EngineLayer(name, type_, tactic, "", (), onnx.of(name), (), (), span, origin=UNREADABLE)
    precision, inputs, outputs, nodes, tactic_name, _, fields = printed
    own = nodes or onnx.of(name)
    return EngineLayer(name, type_, tactic, tactic_name, precision, own, inputs, outputs, span, None, None, "", fields)


@lru_cache(maxsize=1 << 12)
def _short(tensors: str) -> _Printed | None:
    sides = short_tensors(tensors.rstrip(" "))
    return None if sides is None else _Printed(_types(sides[1]), *sides, (), "", "", {})


def _detailed(text: str) -> tuple[int | None, _Printed | None]:
    """Read a detailed line. Lines that differ in their tactic alone, as those of builds of one network do, are alike.

    A field ends at a comma: if the one stands where the tactic was, so did the other.
    """
    before, key, behind = text.partition(_TACTIC)
    value, comma, fields = behind.partition(",")
    if text.count(_KEY) == 1 and _TACTIC_VALUE.fullmatch(value):
        printed = _printed(f"{before}{key}{_ANY_TACTIC}{comma}{fields}")
        if printed is not None and printed.tactic == _ANY_TACTIC:
            return tactic_id(value.encode()), printed
    printed = _printed(text)
    tactic = printed.tactic if printed else ""
    return tactic_id(tactic.encode()) if _TACTIC_VALUE.fullmatch(tactic) else None, printed


@lru_cache(maxsize=1 << 12)
def _printed(text: str) -> _Printed | None:
    read = details(text)
    if read is None:
        return None
    fields = read.fields
    nodes, name, tactic = (fields.pop(key, "") for key in ("Metadata", "TacticName", "TacticValue"))
    return _Printed(_types(read.outputs), read.inputs, read.outputs, onnx_nodes(nodes), name, tactic, fields)


def _types(tensors: tuple[EngineTensor, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([tensor.dtype for tensor in tensors]))
