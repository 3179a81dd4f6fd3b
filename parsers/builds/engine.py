"""The engine's layers as the log prints them at the end of a build, and by ``--dumpLayerInfo``.

A log may print them more than once, and each pass of a build prints an engine of its own.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from trtforensics.model.log import CachedResult, Choice, EngineDump, EngineLayer, EngineTensor, ForeignNode, OnnxNode
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import NO_TACTIC, TacticTimings
from trtforensics.parsers.builds.passes import Passes
from trtforensics.parsers.builds.views import Log
from trtforensics.parsers.lines.events import NO_TEXT, tactic_id, tactic_or_none
from trtforensics.parsers.notation.names import members, onnx_nodes, without_profile
from trtforensics.parsers.notation.tensors import details, short_tensors

UNREADABLE = "the tensors of this line could not be read"
_TACTIC_VALUE = re.compile(r"0x[0-9a-f]{1,16}")
_KEY = "TacticValue:"
_TACTIC = f", {_KEY} "
_ANY_TACTIC = "0x"
"""No tactic: it has no digits."""


class _Printed(NamedTuple):
    """What a line says of a layer besides its name, type and tactic."""

    fields: Mapping[str, str]
    output_types: tuple[str, ...] = ()
    inputs: tuple[EngineTensor, ...] = ()
    outputs: tuple[EngineTensor, ...] = ()
    onnx_nodes: tuple[str, ...] = ()
    tactic_name: str = ""
    tactic: str = ""


_UNREAD = _Printed({})


class _OnnxMembers:
    """Finds the ONNX nodes behind an engine layer that carries no metadata of its own."""

    def __init__(self, nodes: Iterable[OnnxNode], foreign: Iterable[ForeignNode]) -> None:
        self._by_layer: dict[str, list[str]] = {}
        for node in nodes:
            for layer in (*node.layers, node.name):  # no line registers a QuantizeLinear's layer, which has its name
                self._by_layer.setdefault(layer, []).append(node.name)
        self._foreign = {without_profile(node.name): node.onnx_nodes for node in foreign}

    def of(self, name: str) -> tuple[str, ...]:
        """Return the nodes, by the ForeignNode's metadata line or by the layers that the parser registered."""
        known = self._foreign.get(without_profile(name))
        if known:
            return known
        nodes = (node for member in members(name) for node in self._by_layer.get(member, ()))
        return tuple(dict.fromkeys(nodes))


def engine_dumps(
    log: Log, nodes: Sequence[tuple[OnnxNode, ...]], foreign: Sequence[tuple[ForeignNode, ...]]
) -> list[tuple[EngineDump, ...]]:
    """Read every engine-layer line of each build, in the log's order.

    What a layer came from is not decided here, unless its line could not be read. Layers whose lines name no ONNX nodes
    get theirs from ``nodes`` and ``foreign``.
    """
    line, name, type_, tactic, tensors, texts = log.columns(
        ("layer_short", "layer_detailed"), "name", "type", "tactic", "tensors", "details"
    )
    detailed = texts != NO_TEXT
    columns = zip(log.metadata(line, np.maximum(tensors, texts)), tactic.tolist(), detailed.tolist(), strict=True)
    printed = (_detailed(text) if is_detailed else (id_, _short(text)) for text, id_, is_detailed in columns)
    made = map(_layer, log.texts(name), log.texts(type_), printed, log.spans.of_each(line))
    layers = log.divide(line, made)
    for of_build, onnx, compiled in zip(layers, nodes, foreign, strict=True):
        if (onnx or compiled) and not all(layer.onnx_nodes for layer in of_build):
            members_of = _OnnxMembers(onnx, compiled)
            for layer in of_build:
                layer.onnx_nodes = layer.onnx_nodes or members_of.of(layer.name)
    return [_divided(of_build) for of_build in layers]


def _divided(layers: Iterable[EngineLayer]) -> tuple[EngineDump, ...]:
    """Divide the layers of a build into dumps.

    A dump begins anew where, after a line that is no engine layer, the first layer of the dump comes again; a gap alone
    does not end one, because Polygraphy breaks a layer's line at each 0x1E of its metadata.
    """
    dumps: list[list[EngineLayer]] = []
    previous = None
    for layer in layers:
        follows = previous is not None and layer.span.line == previous.span.line + 1
        if not dumps or (not follows and layer.name == dumps[-1][0].name):
            dumps.append([])
        dumps[-1].append(layer)
        previous = layer
    return tuple(EngineDump(tuple(dumped), dumped[0].span) for dumped in dumps)


def engine_layers(dumps: Sequence[tuple[EngineDump, ...]], passes: Passes) -> list[tuple[EngineLayer, ...]]:
    """Return the layers of each build's engine: of its last complete dump.

    A dump of a discarded pass is of another engine. One that is shorter than another was cut.
    """
    engines: list[tuple[EngineLayer, ...]] = [()] * len(dumps)
    for build, of_build in enumerate(dumps):
        if not of_build:
            continue
        kept = [dump.layers for dump in of_build if not passes.discarded(dump.span.line)]
        kept = kept or [dump.layers for dump in of_build]
        longest = max(map(len, kept))
        engines[build] = next(layers for layers in reversed(kept) if len(layers) == longest)
    return engines


def _layer(name: str, type_: str, printed: tuple[int, _Printed | None], span: SourceSpan) -> EngineLayer:
    tactic, read = printed
    facts = read or _UNREAD
    return EngineLayer(
        name,
        type_,
        tactic_or_none(tactic),
        facts.tactic_name,
        facts.output_types,
        facts.onnx_nodes,
        facts.inputs,
        facts.outputs,
        span,
        origin="" if read else UNREADABLE,
        fields=facts.fields,
    )


@lru_cache(maxsize=1 << 12)
def _short(tensors: str) -> _Printed | None:
    sides = short_tensors(tensors.rstrip(" "))
    return None if sides is None else _Printed({}, _types(sides[1]), *sides)


def _detailed(text: str) -> tuple[int, _Printed | None]:
    """Read a detailed line: its tactic, and the rest.

    The rest is read without the tactic, so that lines which differ in nothing else, as those of several builds of one
    network do, are parsed once. A field ends at a comma: the placeholder stands in a field of its own exactly where the
    tactic does.
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
    inputs, outputs, fields = read
    nodes, name, tactic = (fields.pop(key, "") for key in ("Metadata", "TacticName", "TacticValue"))
    return _Printed(fields, _types(outputs), inputs, outputs, onnx_nodes(nodes), name, tactic)


def _types(tensors: tuple[EngineTensor, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([tensor.dtype for tensor in tensors]))


_AT_ONCE = 1 << 16
"""Rows that are looked at at once: several arrays of all tactics of a large log would fill the memory."""
_OPENING = 20
"""The first bits of an id, which tell most of the others from those that are searched for."""
_BEHIND = np.uint64(64 - _OPENING)
_HASHED = 1 << 32
"""Ids from here on are hashes of a kernel: in a build, the same id is the same kernel. Smaller ids only count."""


def name_kernels(
    layers: Iterable[EngineLayer], choices: Sequence[Choice], cached: Sequence[CachedResult], timed: TacticTimings
) -> None:
    """Give layers and cached results without a kernel's name that under which their tactic was timed."""
    if not (timed.kernel >= 0).any():
        return
    unnamed = [layer for layer in layers if not layer.tactic_name and layer.tactic is not None]
    for layer in unnamed:
        if layer.choice is not None:
            layer.tactic_name = _in_block(choices[layer.choice], timed)
    left = [layer for layer in unnamed if not layer.tactic_name]
    if not (left or cached):
        return
    by_id = _by_id([*(layer.tactic for layer in left), *(result.tactic for result in cached)], timed)
    for result in cached:
        result.kernel = by_id.get(result.tactic or 0, "")
    for layer in left:
        layer.tactic_name = by_id.get(layer.tactic or 0, "")


def _by_id(tactics: Iterable[int | None], timed: TacticTimings) -> dict[int, str]:
    """Return the kernels of those tactics that are hashes; an id that two kernels have is left out."""
    wanted = np.array(sorted({tactic for tactic in tactics if tactic is not None and tactic >= _HASHED}), np.uint64)
    if not len(wanted):
        return {}
    pairs: set[tuple[int, int]] = set()
    opens = np.zeros(1 << _OPENING, np.bool_)
    opens[wanted >> _BEHIND] = True
    for begin in range(0, len(timed.tactic), _AT_ONCE):
        rows = np.flatnonzero(opens[timed.tactic[begin : begin + _AT_ONCE] >> _BEHIND]) + begin
        listed, kernels = timed.tactic[rows], timed.kernel[rows]
        is_wanted = wanted[wanted.searchsorted(listed) - len(wanted)] == listed  # ids above all of them meet the first
        is_wanted &= kernels >= 0
        pairs.update(zip(listed[is_wanted].tolist(), kernels[is_wanted].tolist(), strict=True))
    counts = Counter(tactic for tactic, _ in pairs)
    return {tactic: timed.texts[kernel] for tactic, kernel in pairs if counts[tactic] == 1}


def _in_block(choice: Choice, timed: TacticTimings) -> str:
    matching = [row for row in choice.rows(timed) if int(timed.tactic[row]) == choice.tactic and timed.kernel[row] >= 0]
    names = {timed.texts[int(timed.kernel[row])] for row in matching}
    return names.pop() if len(names) == 1 else ""
