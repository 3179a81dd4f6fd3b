"""Which choice each layer of the engine came from, and so which of many ``Chose`` lines is final.

The log never says it. A layer is tuned once for each combination of formats and in each pass; the
engine's dump tells which runner, tactic and types it has in the end. What still fits after that is told
apart by formats: a tensor has one format in an engine, reformat lines print some of them to the stride,
and every layer that is settled settles its neighbours. What cannot be told stays undecided.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, compress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trtforensics.model.table import Parts
from trtforensics.parsers.builds.passes import NO_PASS
from trtforensics.parsers.builds.tuned import TRIED_REFORMAT, Tuned
from trtforensics.parsers.notation.formats import parse_formats
from trtforensics.parsers.notation.names import is_reformat, myelin_graph, profile_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from trtforensics.model.log import CachedResult, Choice, EngineLayer, EngineTensor, ForeignNode, ReformatLayer
    from trtforensics.parsers.builds.tuned import Formats

    _Border = tuple[tuple[EngineTensor, ...], tuple[EngineTensor, ...]]

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
_UNFIT = "no choice of this name in the engine's pass has the engine's tactic"


class _Tensors:
    """The formats of the engine's tensors, as far as they are known to the stride."""

    def __init__(self, reformats: Iterable[_Reformat]) -> None:
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

    def learn(self, tried: Formats, border: _Border) -> None:
        """Take over the formats of a settled layer."""
        for formats, tensors in zip(tried, border, strict=True):
            if len(formats) == len(tensors):
                for text, tensor in zip(formats, tensors, strict=True):
                    self._learn(tensor.name, text)

    def fit(self, tried: Formats, border: _Border) -> bool:
        """Whether a combination agrees with the types that the dump prints and with what is known."""
        return self._side(tried[0], border[0]) and self._side(tried[1], border[1])

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


class _Reformat(NamedTuple):
    """A reformat layer of the engine's pass."""

    name: str
    tensor: str
    source: str
    target: str


class _Foreign(NamedTuple):
    """A ForeignNode of the engine's pass."""

    name: str
    onnx_nodes: tuple[str, ...]


class _Layers:
    """The engine layers of all builds in lists, and what each came from. A row is its place in them."""

    def __init__(self, parts: Parts[EngineLayer]) -> None:
        self._parts = parts
        self.first: list[int] = parts.limits.tolist()
        columns = parts.table.columns
        self.names, self.types, self.tactics, self.nodes, inputs, outputs, unread = (
            list(columns[path]) for path in ("name", "type", "tactic", "onnx_nodes", "inputs", "outputs", "origin")
        )
        self.graphs: list[int | None] = parts.table.column("name").each(myelin_graph)
        """Of a Myelin kernel the number of its ForeignNode."""
        self.borders: list[_Border] = list(zip(inputs, outputs, strict=True))
        self.origins: list[str] = unread
        self.places: dict[str, list[int | None]] = {name: [None] * len(unread) for name in ("choice", "cached")}
        """By which list a layer is from: the place that its origin has in the list of its build."""

    def explain(self, row: int, why: str) -> None:
        """Say why it is not known where a layer came from, unless its line could not be read."""
        self.origins[row] = self.origins[row] or why

    def joined(self) -> Parts[EngineLayer]:
        """Return them with what they came from."""
        return Parts(self._parts.table.having({**self.places, "origin": self.origins}), self._parts.limits)


class _Tuning:
    """The choices and cached results of a build by layer."""

    def __init__(self, lists: Iterable[Tuned], build: int) -> None:
        self.build = build
        self._rows: dict[str, list[tuple[Tuned, range]]] = {}
        for tuned in lists:
            for layer, rows in tuned.runs(build):
                self._rows.setdefault(layer, []).append((tuned, rows))

    def rows(self, name: str) -> Sequence[tuple[Tuned, range]]:
        """Return all rows that are of a layer."""
        return self._rows.get(name, ())

    def of(self, name: str, tactic: int | None = None) -> list[tuple[Tuned, int]]:
        """Return what was tuned under a name in the engine's pass, all or with a tactic."""
        found = self.rows(name)
        return [(tuned, row) for tuned, rows in found for row in tuned.of_engine(rows, tactic)] if found else []

    def of_reformat(self, reformat: _Reformat, tactic: int | None) -> list[tuple[Tuned, int]]:
        """Cached results of the reformats that could be this one (10.x: ``Optimizer Reformat(x -> <out>)``)."""
        names = (f"{TRIED_REFORMAT}{reformat.tensor} -> <out>)", f"{TRIED_REFORMAT}<in> -> {reformat.tensor})")
        formats = (reformat.source,), (reformat.target,)
        return [(tuned, row) for name in names for tuned, row in self.of(name, tactic) if tuned.formats(row) == formats]


class _Group:
    """What was tuned alike: one tactic of one runner in one combination of formats, every time it was printed."""

    __slots__ = ("formats", "members")

    def __init__(self, formats: Formats) -> None:
        self.formats = formats
        self.members: list[tuple[int, Tuned, int]] = []
        """Each with its place among all that a layer may come from, its list, and its row in that."""


def _grouped(found: list[tuple[Tuned, int]]) -> tuple[_Group, ...]:
    forms: dict[tuple[int, int, int], _Group] = {}
    groups: dict[tuple[int, str, Formats], _Group] = {}
    for place, (tuned, row) in enumerate(found):
        form = tuned.form(row)
        if form not in forms:
            forms[form] = groups.setdefault(tuned.alike(row), _Group(tuned.formats(row)))
        forms[form].members.append((place, tuned, row))
    return tuple(groups.values())


class _Case:
    """One engine layer on its way to its origin."""

    __slots__ = ("border", "candidates", "row", "settled")

    def __init__(self, row: int, candidates: tuple[_Group, ...], border: _Border) -> None:
        self.row = row
        self.candidates = candidates
        """What may be its origin; layers of one name share these, however often a log repeats them."""
        self.border = border
        """The tensors that are compared: the layer's, or those of all kernels of its ForeignNode."""
        self.settled: tuple[Tuned, int] | None = None

    def settle(self, tensors: _Tensors) -> bool:
        """Drop what no longer fits; settle when one combination is left, perhaps printed twice."""
        fits = [tensors.fit(group.formats, self.border) for group in self.candidates]
        if not all(fits):
            self.candidates = tuple(compress(self.candidates, fits))
        if len(self.candidates) != 1:
            return False
        (group,) = self.candidates
        self.settled = group.members[-1][1:]
        tensors.learn(group.formats, self.border)
        return True


def resolve(
    layers: Parts[EngineLayer],
    tuned: tuple[Parts[Choice], Parts[CachedResult]],
    network: tuple[Parts[ForeignNode], Parts[ReformatLayer]],
    chosen: npt.NDArray[np.int64],
) -> tuple[Parts[EngineLayer], Parts[Choice], Parts[CachedResult]]:
    """Join the layers of each build's engine to the choices and cached results they came from, and mark those final.

    ``tuned`` are the choices and cached results, ``network`` the ForeignNodes and reformat layers of all builds,
    ``chosen`` is the pass that made each engine, NO_PASS where that is not told.
    """
    has_layers, *has_tuned = (np.diff(parts.limits) > 0 for parts in (layers, *tuned))
    is_tuned = np.logical_or(*has_tuned)
    if not (has_layers | is_tuned).any():
        return layers, *tuned
    resolved = is_tuned & (chosen != NO_PASS)
    engine = _Layers(layers)
    choices, cached = Tuned("choice", tuned[0], chosen), Tuned("cached", tuned[1], chosen)
    foreign = network[0].tuples("pass_index", *_Foreign._fields)
    reformats = network[1].tuples("pass_index", *_Reformat._fields)
    for build in np.flatnonzero(has_layers).tolist():
        rows = range(*engine.first[build : build + 2])
        if resolved[build]:
            of_pass = {int(chosen[build]), None}
            nodes = [_Foreign(*own) for index, *own in foreign[build] if index in of_pass]
            added = [_Reformat(*own) for index, *own in reformats[build] if index in of_pass]
            tuning = _Tuning((cached, choices), build)
            cases = _cases(engine, rows, tuning, (nodes, added))
            _settle(cases, added)
            _join(engine, cases, tuning)
            _mark(cases, tuning)
        else:
            for row in rows:
                engine.explain(row, _UNTOLD if is_tuned[build] else _NO_TUNING)
    return engine.joined(), choices.joined(resolved, has_layers), cached.joined(resolved, has_layers)


def _settle(cases: list[_Case], reformats: list[_Reformat]) -> None:
    """Settle all that can be."""
    tensors = _Tensors(reformats)
    left = cases
    while any([case.settle(tensors) for case in left]):  # noqa: C419 - every case gets its turn
        left = [case for case in left if case.settled is None and case.candidates]


def _cases(
    engine: _Layers, rows: range, tuning: _Tuning, network: tuple[list[_Foreign], list[_Reformat]]
) -> list[_Case]:
    """Return the layers that may come from something; of the others, say why they do not."""
    foreign, reformats = network
    kernels: dict[int, list[int]] = {}
    for row in rows:
        if (graph := engine.graphs[row]) is not None:
            kernels.setdefault(graph, []).append(row)
    graphs = _myelin_graphs(engine, kernels, foreign) if kernels else {}
    borders = {graph: _border([engine.borders[row] for row in own]) for graph, own in kernels.items()}
    by_reformat = {_copy_node(reformat.name): reformat for reformat in reformats}
    grouped: dict[tuple[str, int | None], tuple[_Group, ...]] = {}
    cases = []
    for row in rows:
        name, tactic, graph = engine.names[row], engine.tactics[row], engine.graphs[row]
        key = (name if graph is None else graphs.get(graph, ""), tactic)
        groups = grouped.get(key)
        if groups is None:
            reformat = by_reformat.get(name) if graph is None else None
            found = tuning.of(*key) if reformat is None else tuning.of_reformat(reformat, tactic)
            groups = grouped[key] = _grouped(found) if found else ()
        if groups:
            cases.append(_Case(row, groups, engine.borders[row] if graph is None else borders[graph]))
        else:
            engine.explain(row, _why_nothing(engine, row, tuning))
    return cases


def _border(kernels: list[_Border]) -> _Border:
    """Return for a ForeignNode's kernels the tensors that cross its border.

    Their order is not that of the autotuner, so a side is kept only where it is a single tensor.
    """
    read = {t.name: t for inputs, _ in kernels for t in inputs}
    written = {t.name: t for _, outputs in kernels for t in outputs}
    inputs = tuple(t for name, t in read.items() if name not in written)
    outputs = tuple(t for name, t in written.items() if name not in read)
    return inputs if len(inputs) == 1 else (), outputs if len(outputs) == 1 else ()


def _copy_node(tensor: str) -> str:
    """Return the layer that writes ``Reformatted Input Tensor 0 to L``, a ``Reformatting CopyNode for …``."""
    return "Reformatting CopyNode for " + tensor.removeprefix("Reformatted ")


def _myelin_graphs(engine: _Layers, kernels: Mapping[int, list[int]], foreign: list[_Foreign]) -> dict[int, str]:
    """Say which ForeignNode each group of Myelin kernels is, by the ONNX nodes they share and by the profile."""
    profiles = {graph: _profile(engine, own) for graph, own in kernels.items()}
    found: dict[int, str] = {}
    for graph, own in kernels.items():
        members = {node for row in own for node in engine.nodes[row]}
        of_profile = [f for f in foreign if profile_of(f.name) == profiles[graph]]
        names = {f.name for f in of_profile if members <= set(f.onnx_nodes)}
        only = list(profiles.values()).count(profiles[graph]) == 1
        if len(names) == 1 and (members or only):
            found[graph] = names.pop()
    return found


def _profile(engine: _Layers, kernels: list[int]) -> int | None:
    """Return the profile that a ForeignNode's kernels are of: what the last one says of those that name any."""
    for row in reversed(kernels):
        named = (engine.names[row], *(tensor.name for side in engine.borders[row] for tensor in side))
        for profile in map(profile_of, named):
            if profile is not None:
                return profile
    return None


def _join(engine: _Layers, cases: list[_Case], tuning: _Tuning) -> None:
    """Say what each layer came from, or why that is not known."""
    for case in cases:
        if case.settled is not None:
            tuned, row = case.settled
            engine.places[tuned.name][case.row] = row - tuned.first[tuning.build]
        elif case.candidates:
            engine.explain(case.row, _undecided(case.candidates))
        else:
            engine.explain(case.row, _why_nothing(engine, case.row, tuning))


def _undecided(candidates: tuple[_Group, ...]) -> str:
    first = sorted([member for group in candidates for member in group.members[:4]])[:4]
    lines = ", ".join(str(tuned.lines[row]) for _, tuned, row in first)
    count = sum(len(group.members) for group in candidates)
    return f"{count} choices fit and the log does not tell them apart: lines {lines}"


def _why_nothing(engine: _Layers, row: int, tuning: _Tuning) -> str:
    name = engine.names[row]
    return _UNFIT if tuning.of(name) else _why_untuned(name, engine.types[row])


@lru_cache(maxsize=1 << 10)
def _why_untuned(name: str, type_: str) -> str:
    return _REFORMAT if is_reformat(name) else _UNTUNED_TYPES.get(type_, _NO_BLOCK)


def _mark(cases: list[_Case], tuning: _Tuning) -> None:
    """Tell what was tuned whether it is in an engine."""
    groups: set[_Group] = set()
    undecided: set[_Group] = set()
    for case in cases:
        groups.update(case.candidates)
        if case.settled is None:
            undecided.update(case.candidates)
        else:
            tuned, row = case.settled
            tuned.settled.append(row)
    for _, tuned, row in chain.from_iterable(group.members for group in undecided):
        tuned.undecided.append(row)
    for layer in {tuned.layer(row) for group in groups for _, tuned, row in group.members}:
        for tuned, rows in tuning.rows(layer):
            tuned.lost.append(rows)
