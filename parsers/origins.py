"""Which choice each layer of the engine came from, and so which of many ``Chose`` lines is final.

The log never says it. A layer is tuned once for each combination of formats and in each pass; the
engine's dump tells which runner, tactic and types it has in the end. What still fits after that is told
apart by formats: a tensor has one format in an engine, reformat lines print some of them to the stride,
and every layer that is settled settles its neighbours. What cannot be told stays undecided.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import lru_cache
from itertools import compress, pairwise, repeat
from typing import TYPE_CHECKING

from trtforensics.model import CachedResult, Choice, EngineLayer
from trtforensics.parsers.formats import parse_formats
from trtforensics.parsers.names import is_reformat, myelin_graph, profile_of
from trtforensics.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trtforensics.model import EngineTensor, ForeignNode, ReformatLayer

Tuned = Choice | CachedResult

_UNTUNED_TYPES = {
    "Constant": "a constant runs no kernel",
    "NoOp": "runs no kernel",
    "TrainStation": "TensorRT put it in to synchronise streams",
    "signal": "TensorRT put it in to synchronise streams",
    "wait": "TensorRT put it in to synchronise streams",
    "shape_call": "host code, not a kernel",
}
_NO_TUNING = "the log has no autotuning for this engine"
_UNTOLD = "the log does not tell which pass the engine is from"
_REFORMAT = "TensorRT prints no choice for a reformat layer"
_NO_BLOCK = (
    "the log has no choice of this name in the engine's pass; before TensorRT 10 a timing-cache hit prints no line"
)
_TRIED_REFORMAT = "Optimizer Reformat("
_UNFIT = "no choice of this name in the engine's pass has the engine's tactic"


class _Tensors:
    """The formats of the engine's tensors, as far as they are known to the stride."""

    def __init__(self, reformats: Iterable[ReformatLayer]) -> None:
        self._known: dict[str, str] = {}
        for reformat in reformats:
            own, other = reformat.target, reformat.source
            if reformat.name.startswith("Reformatted Output"):
                own, other = other, own  # the layer writes the reformatted tensor, in the source format
            self._learn(reformat.name, own)
            self._learn(reformat.tensor, other)

    def _learn(self, tensor: str, text: str) -> None:
        only = _only_format(text) if tensor not in self._known else None
        if only is not None:
            self._known[tensor] = only

    def learn(self, tuned: Tuned, layer: EngineLayer) -> None:
        """Take over the formats of a settled layer."""
        for formats, tensors in ((tuned.inputs, layer.inputs), (tuned.outputs, layer.outputs)):
            if len(formats) == len(tensors):
                for text, tensor in zip(formats, tensors, strict=True):
                    self._learn(tensor.name, text)

    def fit(self, tuned: Tuned, layer: EngineLayer) -> bool:
        """Whether a combination agrees with the types that the dump prints and with what is known."""
        return self._side(tuned.inputs, layer.inputs) and self._side(tuned.outputs, layer.outputs)

    def _side(self, formats: tuple[str, ...], tensors: tuple[EngineTensor, ...]) -> bool:
        if len(formats) != len(tensors):
            return True  # constants may be in one list and not in the other: nothing can be said
        return all(map(self._one, formats, tensors))

    def _one(self, text: str, tensor: EngineTensor) -> bool:
        known = self._known.get(tensor.name)
        if known is not None:
            return known == text
        dtype, components = _type_of(text)
        return dtype is None or (dtype == tensor.dtype and (components == tensor.components or not tensor.format))


@lru_cache(maxsize=1 << 14)
def _only_format(text: str) -> str | None:
    """Return the format that a text is; None where it is not one."""
    formats = parse_formats(text)
    return formats[0].text if formats and len(formats) == 1 else None


@lru_cache(maxsize=1 << 14)
def _type_of(text: str) -> tuple[str | None, int]:
    """Return the type of the first format of a text, and the components that it packs."""
    formats = parse_formats(text)
    return (formats[0].dtype, formats[0].components) if formats else (None, 1)


class _Tuning:
    """The choices and cached results of the engine's pass, by layer, each with its place in its list."""

    def __init__(self, choices: tuple[Choice, ...], cached: tuple[CachedResult, ...], chosen: int) -> None:
        self._of_engine = {chosen, None}
        self._runs: dict[str, list[tuple[tuple[Tuned, ...], int, int]]] = {}
        """By layer the parts of the lists that are its own: what is tuned for one mostly stands together."""
        lists: tuple[tuple[Tuned, ...], ...] = (cached, choices)
        for tuned_list in filter(None, lists):
            layers = [tuned.layer for tuned in tuned_list]
            changes = [place for place, (one, other) in enumerate(pairwise(layers), 1) if one != other]
            for first, behind in pairwise([0, *changes, len(layers)]):
                self._runs.setdefault(layers[first], []).append((tuned_list, first, behind))

    def of(self, name: str) -> list[tuple[Tuned, int]]:
        """Everything tuned under a name."""
        return [
            (tuned, index)
            for tuned_list, first, behind in self._runs.get(name, ())
            for index, tuned in enumerate(tuned_list[first:behind], first)
            if tuned.pass_index in self._of_engine
        ]

    def of_reformat(self, reformat: ReformatLayer) -> list[tuple[Tuned, int]]:
        """Cached results of the reformats that could be this one (10.x: ``Optimizer Reformat(x -> <out>)``)."""
        tensor = reformat.tensor
        names = (f"{_TRIED_REFORMAT}{tensor} -> <out>)", f"{_TRIED_REFORMAT}<in> -> {tensor})")
        found = [pair for name in names for pair in self.of(name)]
        return [(t, i) for t, i in found if t.inputs == (reformat.source,) and t.outputs == (reformat.target,)]


class _Group:
    """What was tuned alike: one tactic of one runner in one combination of formats, every time it was printed."""

    __slots__ = ("members", "tuned")

    def __init__(self, tuned: Tuned) -> None:
        self.tuned = tuned
        self.members: list[tuple[int, Tuned, int]] = []
        """Each with its place among all that a layer may come from, and in its list."""


def _grouped(pairs: list[tuple[Tuned, int]]) -> tuple[_Group, ...]:
    if not pairs:
        return ()
    groups: dict[tuple[object, ...], _Group] = {}
    for place, (tuned, index) in enumerate(pairs):
        key = tuned.tactic, tuned.runner, tuned.inputs, tuned.outputs
        group = groups.get(key)
        if group is None:
            group = groups[key] = _Group(tuned)
        group.members.append((place, tuned, index))
    return tuple(groups.values())


@record(frozen=False, slots=True)
class _Case:
    """One engine layer on its way to its origin."""

    layer: EngineLayer
    candidates: tuple[_Group, ...]
    """What may be its origin; layers of one name share these, however often a log repeats them."""
    border: EngineLayer
    """The layer whose tensors are compared: itself, or all kernels of its ForeignNode."""
    settled: tuple[Tuned, int] | None = None

    def settle(self, tensors: _Tensors) -> bool:
        """Drop what no longer fits; settle when one combination is left, perhaps printed twice."""
        fits = [tensors.fit(group.tuned, self.border) for group in self.candidates]
        if not all(fits):
            self.candidates = tuple(compress(self.candidates, fits))
        if len(self.candidates) != 1:
            return False
        self.settled = self.candidates[0].members[-1][1:]
        tensors.learn(self.settled[0], self.border)
        return True


def resolve(
    layers: tuple[EngineLayer, ...],
    tuned: tuple[tuple[Choice, ...], tuple[CachedResult, ...]],
    network: tuple[tuple[ForeignNode, ...], Sequence[ReformatLayer]],
    chosen: int | None,
) -> tuple[tuple[EngineLayer, ...], tuple[Choice, ...], tuple[CachedResult, ...]]:
    """Join the engine's layers to the choices and cached results they came from, and mark those final.

    ``tuned`` are the build's choices and cached results, ``network`` its ForeignNodes and reformat layers,
    ``chosen`` is the pass that made the engine.
    """
    choices, cached = tuned
    if not (layers or choices or cached):
        return (), (), ()
    if chosen is None or not (choices or cached):
        reason = _UNTOLD if choices or cached else _NO_TUNING
        return tuple([_set(layer, "origin", layer.origin or reason) for layer in layers]), choices, cached
    foreign = [f for f in network[0] if f.pass_index in {chosen, None}]
    reformats = [r for r in network[1] if r.pass_index in {chosen, None}]
    tuning = _Tuning(choices, cached, chosen)
    cases = _cases(layers, tuning, foreign, reformats)
    tensors = _Tensors(reformats)
    left = [case for case in cases if case.candidates]
    while any([case.settle(tensors) for case in left]):  # noqa: C419 - every case gets its turn
        left = [case for case in left if case.settled is None and case.candidates]
    _mark(choices, _finals(choices, cases, chosen))
    _mark(cached, _finals(cached, cases, chosen))
    return tuple([_with_origin(case, tuning) for case in cases]), choices, cached


def _set(layer: EngineLayer, name: str, value: object) -> EngineLayer:
    """Complete a layer that is being put together: nobody else holds it, and a copy costs as much as it."""
    setattr(layer, name, value)
    return layer


def _mark(tuned: tuple[Tuned, ...], finals: list[bool | None]) -> None:
    deque(map(setattr, tuned, repeat("final"), finals), maxlen=0)


def _cases(
    layers: tuple[EngineLayer, ...],
    tuning: _Tuning,
    foreign: list[ForeignNode],
    reformats: list[ReformatLayer],
) -> list[_Case]:
    graph_of = [myelin_graph(layer.name) for layer in layers]
    kernels: dict[int, list[EngineLayer]] = {}
    for layer, graph in zip(layers, graph_of, strict=True):
        if graph is not None:
            kernels.setdefault(graph, []).append(layer)
    graphs = _myelin_graphs(kernels, foreign) if kernels else {}
    borders = {graph: _border(own) for graph, own in kernels.items()}
    by_reformat = {_copy_node(r.name): r for r in reformats}
    grouped: dict[tuple[str, int | None], tuple[_Group, ...]] = {}

    def candidates(layer: EngineLayer, graph: int | None) -> tuple[_Group, ...]:
        key = (layer.name if graph is None else graphs.get(graph, ""), layer.tactic)
        if key not in grouped:
            reformat = by_reformat.get(layer.name) if graph is None else None
            found = tuning.of(key[0]) if reformat is None else tuning.of_reformat(reformat)
            tactic = layer.tactic
            grouped[key] = _grouped([pair for pair in found if tactic is None or pair[0].tactic == tactic])
        return grouped[key]

    return [
        _Case(layer, candidates(layer, graph), layer if graph is None else borders[graph])
        for layer, graph in zip(layers, graph_of, strict=True)
    ]


def _border(kernels: list[EngineLayer]) -> EngineLayer:
    """Return for a ForeignNode's kernels one layer with the tensors that cross its border.

    Their order is not that of the autotuner, so a side is kept only where it is a single tensor.
    """
    written = {t.name: t for kernel in kernels for t in kernel.outputs}
    read = {t.name: t for kernel in kernels for t in kernel.inputs}
    inputs = tuple(t for name, t in read.items() if name not in written)
    outputs = tuple(t for name, t in written.items() if name not in read)
    return replace(kernels[0], inputs=inputs if len(inputs) == 1 else (), outputs=outputs if len(outputs) == 1 else ())


def _copy_node(tensor: str) -> str:
    """Return the layer that writes ``Reformatted Input Tensor 0 to L``, a ``Reformatting CopyNode for …``."""
    return "Reformatting CopyNode for " + tensor.removeprefix("Reformatted ")


def _myelin_graphs(kernels: Mapping[int, list[EngineLayer]], foreign: list[ForeignNode]) -> dict[int, str]:
    """Say which ForeignNode each group of Myelin kernels is, by the ONNX nodes they share and by the profile."""
    profiles = {graph: _profile(own) for graph, own in kernels.items()}
    found: dict[int, str] = {}
    for graph, own in kernels.items():
        members = {node for kernel in own for node in kernel.onnx_nodes}
        of_profile = [f for f in foreign if profile_of(f.name) == profiles[graph]]
        names = {f.name for f in of_profile if members <= set(f.onnx_nodes)}
        only = list(profiles.values()).count(profiles[graph]) == 1
        if len(names) == 1 and (members or only):
            found[graph] = names.pop()
    return found


def _profile(kernels: list[EngineLayer]) -> int | None:
    """Return the profile that a ForeignNode's kernels are of: what the last one says of those that name any."""
    for kernel in reversed(kernels):
        named = (kernel.name, *(t.name for t in (*kernel.inputs, *kernel.outputs)))
        for profile in map(profile_of, named):
            if profile is not None:
                return profile
    return None


def _with_origin(case: _Case, tuning: _Tuning) -> EngineLayer:
    layer = case.layer
    if case.settled is not None:
        tuned, index = case.settled
        return _set(layer, "choice" if isinstance(tuned, Choice) else "cached", index)
    return _set(layer, "origin", layer.origin or _why_not(case, tuning))


def _why_not(case: _Case, tuning: _Tuning) -> str:
    layer = case.layer
    if case.candidates:
        first = sorted([member for group in case.candidates for member in group.members[:4]])[:4]
        lines = ", ".join(str(tuned.span.line) for _, tuned, _ in first)
        count = sum(len(group.members) for group in case.candidates)
        return f"{count} choices fit and the log does not tell them apart: lines {lines}"
    if tuning.of(layer.name):
        return _UNFIT
    if is_reformat(layer.name):
        return _REFORMAT
    return _UNTUNED_TYPES.get(layer.type, _NO_BLOCK)


def _finals(tuned_list: tuple[Tuned, ...], cases: list[_Case], chosen: int) -> list[bool | None]:
    """Decide ``final`` for one of the two lists."""
    if not tuned_list:
        return []
    kind = type(tuned_list[0])
    settled = {case.settled[1] for case in cases if case.settled and isinstance(case.settled[0], kind)}
    groups = {id(group): group for case in cases for group in case.candidates}.values()
    undecided = {id(group): group for case in cases if not case.settled for group in case.candidates}.values()
    open_ = {index for group in undecided for _, tuned, index in group.members if isinstance(tuned, kind)}
    in_engine = {member[1].layer for group in groups for member in group.members}
    of_engine = {chosen, None}
    finals: list[bool | None] = []
    for index, tuned in enumerate(tuned_list):
        if index in settled:
            finals.append(True)
        elif tuned.pass_index not in of_engine:
            finals.append(False)
        elif index in open_:
            finals.append(None)
        elif tuned.layer in in_engine or (cases and tuned.layer.startswith(_TRIED_REFORMAT)):
            finals.append(False)  # every reformat of the engine has a line of its own and was looked up by it
        else:
            finals.append(None)
    return finals
