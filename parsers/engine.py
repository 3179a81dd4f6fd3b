"""The engine's layers as the log prints them at the end of a build, and by ``--dumpLayerInfo``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.model import EngineLayer
from trtforensics.parsers.events import tactic_id
from trtforensics.parsers.names import members, onnx_nodes, without_profile
from trtforensics.parsers.tensors import details, short_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trtforensics.model import EngineTensor, ForeignNode, OnnxNode, SourceSpan
    from trtforensics.parsers.views import View

UNREADABLE = "the tensors of this line could not be read"
_TACTIC_VALUE = re.compile(r"0x[0-9a-f]{1,16}")


class _OnnxMembers:
    """Finds the ONNX nodes behind an engine layer that carries no metadata of its own."""

    def __init__(self, nodes: Iterable[OnnxNode], foreign: Iterable[ForeignNode]) -> None:
        self._by_layer: dict[str, list[str]] = {}
        for node in nodes:
            for layer in node.layers:
                self._by_layer.setdefault(layer, []).append(node.name)
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
    view: View, nodes: Iterable[OnnxNode], foreign: Iterable[ForeignNode], span: Callable[[int], SourceSpan]
) -> tuple[EngineLayer, ...]:
    """Read every engine-layer line of a build, in the log's order; a dump that is printed twice is there twice."""
    if not view.has("layer_short", "layer_detailed"):
        return ()
    onnx = _OnnxMembers(nodes, foreign)
    found: list[EngineLayer] = []
    for line, type_, name, tactic, tensors in view.each("layer_short", "type", "name", "tactic", "tensors"):
        sides = short_tensors(tensors.rstrip(" "))
        inputs, outputs = sides or ((), ())
        origin = "" if sides else UNREADABLE
        found.append(_layer(name, type_, tactic, inputs, outputs, {}, onnx, span(line), origin))
    for line, name, type_, text in view.each("layer_detailed", "name", "type", "details"):
        read = details(text)
        if read is None:
            found.append(_layer(name, type_, None, (), (), {}, onnx, span(line), UNREADABLE))
        else:
            printed = read.fields.pop("TacticValue", "")
            tactic = tactic_id(printed.encode()) if _TACTIC_VALUE.fullmatch(printed) else None
            found.append(_layer(name, type_, tactic, read.inputs, read.outputs, read.fields, onnx, span(line), ""))
    return tuple(sorted(found, key=lambda layer: layer.span.line))


def _layer(  # noqa: PLR0913, PLR0917 - one place makes a layer from what the two line forms print
    name: str,
    type_: str,
    tactic: int | None,
    inputs: tuple[EngineTensor, ...],
    outputs: tuple[EngineTensor, ...],
    fields: dict[str, str],
    onnx: _OnnxMembers,
    span: SourceSpan,
    origin: str,
) -> EngineLayer:
    own = onnx_nodes(fields.pop("Metadata", ""))
    return EngineLayer(
        name=name,
        type=type_,
        tactic=tactic,
        tactic_name=fields.pop("TacticName", ""),
        precision=tuple(dict.fromkeys([tensor.dtype for tensor in outputs])),
        onnx_nodes=own or onnx.of(name),
        inputs=inputs,
        outputs=outputs,
        span=span,
        origin=origin,
        fields=fields,
    )
