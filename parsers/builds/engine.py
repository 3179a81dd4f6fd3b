"""The engine's layers as the log prints them at the end of a build, and by ``--dumpLayerInfo``."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trtforensics.model.log import EngineLayer
from trtforensics.model.table import Column, Parts, numbers, same, spanned
from trtforensics.model.timings import NO_TACTIC
from trtforensics.parsers.lines.events import NO_TEXT, tactic_id, tactic_or_none
from trtforensics.parsers.notation.names import members, onnx_nodes, without_profile
from trtforensics.parsers.notation.tensors import details, short_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from trtforensics.model.log import EngineTensor, ForeignNode, OnnxNode
    from trtforensics.model.span import SourceSpan
    from trtforensics.parsers.builds.views import Log

    _Names = tuple[str, ...]

UNREADABLE = "the tensors of this line could not be read"
_TACTIC_VALUE = re.compile(r"0x[0-9a-f]{1,16}")
_KEY = "TacticValue:"
_TACTIC = f", {_KEY} "
_ANY_TACTIC = "0x"
"""No tactic: it has no digits."""


class _Printed(NamedTuple):
    """What a line says of a layer besides its name, type and tactic."""

    precision: tuple[str, ...]
    inputs: tuple[EngineTensor, ...]
    outputs: tuple[EngineTensor, ...]
    onnx_nodes: tuple[str, ...]
    tactic_name: str
    tactic: str
    fields: Mapping[str, str]


_UNREAD = _Printed((), (), (), (), "", "", {})


class _OnnxMembers:
    """Finds the ONNX nodes behind an engine layer that carries no metadata of its own."""

    def __init__(self, nodes: Iterable[tuple[str, _Names]], foreign: Iterable[tuple[str, _Names]]) -> None:
        """``nodes`` are the names of ONNX nodes and of their layers, ``foreign`` of ForeignNodes and of their nodes."""
        self._by_layer: dict[str, list[str]] = {}
        for name, layers in nodes:
            for layer in layers:
                self._by_layer.setdefault(layer, []).append(name)
        self._foreign = {without_profile(name): own for name, own in foreign}

    def of(self, name: str) -> tuple[str, ...]:
        """Return the nodes, by the ForeignNode's metadata line or by the layers that the parser registered."""
        known = self._foreign.get(without_profile(name))
        if known:
            return known
        found = (node for member in members(name) for node in self._by_layer.get(member, ()))
        return tuple(dict.fromkeys(found))


def engine_layers(
    log: Log,
    nodes: Parts[OnnxNode],
    foreign: Parts[ForeignNode],
    span: Callable[[int], SourceSpan],
) -> Parts[EngineLayer]:
    """Read every engine-layer line of each build, in the log's order; a dump that is printed twice is there twice.

    What a layer came from is not told here, unless its line could not be read.
    """
    line, name, type_, tactic, tensors, texts = log.columns(
        ("layer_short", "layer_detailed"), "name", "type", "tactic", "tensors", "details"
    )
    printed = np.maximum(tensors, texts)  # a line has either
    detailed = texts != NO_TEXT
    read: dict[int, _Printed | None] = {index: _short(log.text(index)) for index in set(printed[~detailed].tolist())}
    tactics: dict[int, int] = {}
    for index in set(printed[detailed].tolist()):
        tactics[index], read[index] = _detailed(log.text(index))
    tactic = tactic.copy()
    tactic[detailed] = list(map(tactics.__getitem__, printed[detailed].tolist()))
    said = {index: _UNREAD if one is None else one for index, one in read.items()}

    def of_line(field: str) -> Column[Any]:
        values = {index: getattr(one, field) for index, one in said.items()}
        return Column(printed.astype(np.int64), values.__getitem__)

    columns: dict[str, Sequence[Any]] = {
        "name": log.column(name),
        "type": log.column(type_),
        "tactic": Column(tactic, tactic_or_none),
        **{field: of_line(field) for field in ("tactic_name", "precision", "onnx_nodes", "inputs", "outputs")},
        "span.line": numbers(line),
        **{field: same(None, len(line)) for field in ("choice", "cached")},
        "origin": Column(printed.astype(np.int64), lambda index: UNREADABLE if read[index] is None else ""),
        "fields": of_line("fields"),
    }
    layers: Parts[EngineLayer] = log.rows(spanned(EngineLayer, span, columns))
    return _with_nodes(layers, nodes, foreign)


def _with_nodes(layers: Parts[EngineLayer], nodes: Parts[OnnxNode], foreign: Parts[ForeignNode]) -> Parts[EngineLayer]:
    """Return the layers with the ONNX nodes of those whose lines do not name any."""
    own = list(layers.table.columns["onnx_nodes"])
    if all(own):
        return layers
    names = list(layers.table.columns["name"])
    of_builds = nodes.tuples("name", "layers"), foreign.tuples("name", "onnx_nodes")
    for (first, behind), *known in zip(pairwise(layers.limits.tolist()), *of_builds, strict=True):
        if first < behind and any(known):
            onnx = _OnnxMembers(*known)
            own[first:behind] = [
                told or onnx.of(name) for told, name in zip(own[first:behind], names[first:behind], strict=True)
            ]
    return Parts(layers.table.having({"onnx_nodes": own}), layers.limits)


@lru_cache(maxsize=1 << 12)
def _short(tensors: str) -> _Printed | None:
    sides = short_tensors(tensors.rstrip(" "))
    return None if sides is None else _Printed(_types(sides[1]), *sides, (), "", "", {})


def _detailed(text: str) -> tuple[int, _Printed | None]:
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
    return tactic_id(tactic.encode()) if _TACTIC_VALUE.fullmatch(tactic) else NO_TACTIC, printed


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
