"""Which choice each layer of the engine came from, and so which of many ``Chose`` lines is final.

The log never says it. A layer is tuned once for each combination of formats and in each pass; the engine's dump says
which runner's tactic and which types a layer has in the end. So, for each layer of the engine:

1. What was tuned under the layer's name (a Myelin kernel: under its ForeignNode's name; a reformat layer: under the
   name of the reformat that the optimiser tried), in the engine's pass and with the engine's tactic, may be its origin.
   The same tactic of the same runner in the same formats is one possibility, however often it was printed.
2. A possibility whose formats contradict the layer's tensors is dropped: a tensor has one format in an engine. Reformat
   lines print some formats to the stride, and each layer that is settled tells those of its own tensors. So layers are
   looked at again until nothing changes.
3. A layer with one possibility left is settled; its origin is what was printed last of it. Otherwise the log does not
   tell, and the layer's ``origin`` says why.

Of what was tuned for a layer that may have one of these origins, the settled one is final and the others are not;
possibilities that are left stay undecided (``final`` None). What was tuned in another pass, or for a layer that runs no
kernel in the engine, is not final.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, compress
from typing import NamedTuple

from trtforensics.model.layer_types import NO_KERNEL, UNTUNED, is_foreign_node
from trtforensics.model.log import (
    BackendPass,
    CachedResult,
    Choice,
    EngineLayer,
    EngineTensor,
    ForeignNode,
    ReformatLayer,
)
from trtforensics.parsers.builds.passes import chosen_pass
from trtforensics.parsers.notation.formats import LONG_STRIDED, parse_formats
from trtforensics.parsers.notation.names import is_reformat, members, myelin_graph, profile_of

_Formats = tuple[tuple[str, ...], tuple[str, ...]]
"""Of a combination: the inputs' formats, and the outputs'."""
_Border = tuple[tuple[EngineTensor, ...], tuple[EngineTensor, ...]]
"""The tensors that a layer reads and writes."""
_Possibility = Sequence["_Tuned"]
"""One tactic of one runner in one combination of formats, every time that it was printed."""

_NO_TUNING = "the log has no autotuning for this engine"
_NOT_CHOSEN = "the log does not tell which pass the engine is from"
_REFORMAT = "TensorRT prints no choice for a reformat layer"
_NO_BLOCK = (
    "the log has no choice of this name in the engine's pass; before TensorRT 10 a timing-cache hit prints no line"
)
_UNFIT = "no choice of this name in the engine's pass has the engine's tactic"
_TRIED_REFORMAT = "Optimizer Reformat("
_SHOWN = 4
"""Lines that are named of the possibilities that the log does not tell apart."""


class Tuning(NamedTuple):
    """What a build says of its engine's origins."""

    layers: tuple[EngineLayer, ...]
    choices: tuple[Choice, ...]
    cached: tuple[CachedResult, ...]
    foreign_nodes: tuple[ForeignNode, ...]
    reformats: tuple[ReformatLayer, ...]
    passes: tuple[BackendPass, ...]


def resolve(build: Tuning) -> None:
    """Join each layer of a build's engine to what it came from, and decide what of the tuning is final."""
    chosen = chosen_pass(build.passes)
    if chosen is None or not (build.choices or build.cached):
        for layer in build.layers:
            _explain(layer, _NOT_CHOSEN if build.choices or build.cached else _NO_TUNING)
        return
    tuned: Iterable[Choice | CachedResult] = (*build.choices, *build.cached)
    for record in tuned:
        if record.pass_index not in (chosen, None):
            record.final = False
    if build.layers:
        _Engine(build, chosen).resolve()


def _explain(layer: EngineLayer, why: str) -> None:
    """Say why it is not known where a layer came from, unless its line could not be read."""
    layer.origin = layer.origin or why


class _Tuned(NamedTuple):
    """A choice or a cached result of the engine's pass, and its index in the list of its build."""

    record: Choice | CachedResult
    place: int
    is_choice: bool

    @property
    def formats(self) -> _Formats:
        return self.record.inputs, self.record.outputs


class _KnownFormats:
    """The formats of the engine's tensors, as far as they are known to the stride."""

    def __init__(self, reformats: Iterable[ReformatLayer]) -> None:
        self._known: dict[str, str] = {}
        for reformat in reformats:
            written, other = reformat.target, reformat.source
            if reformat.name.startswith("Reformatted Output"):
                written, other = other, written  # the layer writes the reformatted tensor, in the source format
            self._learn(reformat.name, written)
            self._learn(reformat.tensor, other)

    def _learn(self, tensor: str, text: str) -> None:
        only = _only_format(text) if tensor not in self._known else None
        if only is not None:
            self._known[tensor] = only

    def learn(self, combination: _Formats, border: _Border) -> None:
        for formats, tensors in zip(combination, border, strict=True):
            if len(formats) == len(tensors):
                for text, tensor in zip(formats, tensors, strict=True):
                    self._learn(tensor.name, text)

    def fit(self, combination: _Formats, border: _Border) -> bool:
        """Whether a combination agrees with the types that the dump prints and with what is known."""
        return self._side_fits(combination[0], border[0]) and self._side_fits(combination[1], border[1])

    def _side_fits(self, formats: tuple[str, ...], tensors: tuple[EngineTensor, ...]) -> bool:
        if len(formats) != len(tensors):
            return True  # constants may be in only one of the lists, so the sides cannot be compared
        return all(map(self._tensor_fits, formats, tensors))

    def _tensor_fits(self, text: str, tensor: EngineTensor) -> bool:
        known = self._known.get(tensor.name)
        if known is not None:
            return known == text.removesuffix(LONG_STRIDED)
        dtype, components = _type_of(text)
        return dtype is None or (dtype == tensor.dtype and (components == tensor.components or not tensor.format))


@lru_cache(maxsize=1 << 14)
def _only_format(text: str) -> str | None:
    """Return the one format that a text spells, or None; only a tensor's reader marks it as long-strided."""
    formats = parse_formats(text)
    return formats[0].text.removesuffix(LONG_STRIDED) if formats and len(formats) == 1 else None


@lru_cache(maxsize=1 << 14)
def _type_of(text: str) -> tuple[str | None, int]:
    """Return the type of the first format of a text, and the components that it packs."""
    formats = parse_formats(text)
    return (formats[0].dtype, formats[0].components) if formats else (None, 1)


class _OpenLayer:
    def __init__(self, layer: EngineLayer, possibilities: tuple[_Possibility, ...], border: _Border) -> None:
        self.layer = layer
        self.possibilities = possibilities
        """Layers of one name share these, however often a log repeats them."""
        self.border = border
        """The tensors that are compared: the layer's, or those of all kernels of its ForeignNode."""
        self.origin: _Tuned | None = None

    def narrow(self, known: _KnownFormats) -> bool:
        """Drop the possibilities that no longer fit. Return whether exactly one is left, which settles the layer."""
        fits = [known.fit(possibility[0].formats, self.border) for possibility in self.possibilities]
        if not all(fits):
            self.possibilities = tuple(compress(self.possibilities, fits))
        if len(self.possibilities) != 1:
            return False
        (only,) = self.possibilities
        self.origin = only[-1]
        known.learn(self.origin.formats, self.border)
        return True


class _Engine:
    """The engine of a build whose pass is known."""

    def __init__(self, build: Tuning, chosen: int) -> None:
        of_pass = (chosen, None)
        self._layers = build.layers
        self._foreign = [node for node in build.foreign_nodes if node.pass_index in of_pass]
        self._reformats = [reformat for reformat in build.reformats if reformat.pass_index in of_pass]
        self._kernels_unknown: set[str] = set()
        """ForeignNodes that are in the engine, though nothing tells which of its kernels are theirs."""
        self._tuned: dict[str, list[_Tuned]] = {}
        tuned = (
            *(_Tuned(record, place, is_choice=False) for place, record in enumerate(build.cached)),
            *(_Tuned(record, place, is_choice=True) for place, record in enumerate(build.choices)),
        )
        for each in tuned:
            if each.record.pass_index in of_pass:
                self._tuned.setdefault(each.record.layer, []).append(each)

    def resolve(self) -> None:
        """Settle every layer that can be settled; record each layer's origin, and what is final."""
        layers = self._open_layers()
        known, left = _KnownFormats(self._reformats), layers
        while any([layer.narrow(known) for layer in left]):  # noqa: C419 - every layer gets its turn
            left = [layer for layer in left if layer.origin is None and layer.possibilities]
        running = [layer for layer in layers if layer.layer.type not in NO_KERNEL]
        for layer in running:
            self._join(layer)
        self._decide_finals(running)

    def _open_layers(self) -> list[_OpenLayer]:
        """Return the layers that may come from something; of the others, say why they do not."""
        graphs = [myelin_graph(layer.name) for layer in self._layers]
        kernels: dict[int, list[EngineLayer]] = {}
        for layer, graph in zip(self._layers, graphs, strict=True):
            if graph is not None:
                kernels.setdefault(graph, []).append(layer)
        foreign = _foreign_names(kernels, self._foreign)
        apart = {name for name in self._tuned if is_foreign_node(name)}.difference(
            foreign.values(), (layer.name for layer in self._layers)
        )
        self._kernels_unknown = apart if len(apart) == len(kernels.keys() - foreign.keys()) else set()
        borders = {graph: _outer_border(members) for graph, members in kernels.items()}
        known: dict[tuple[str, int | None], tuple[_Possibility, ...]] = {}
        layers = []
        for layer, graph in zip(self._layers, graphs, strict=True):
            name = layer.name if graph is None else foreign.get(graph, "")
            key = (name, layer.tactic)
            if key not in known:
                known[key] = self._possibilities(name, layer.tactic, is_kernel=graph is not None)
            if layer.type in NO_KERNEL:  # what was tuned for its name only tells the formats of its tensors
                _explain(layer, UNTUNED[layer.type])
            if known[key]:
                border = (layer.inputs, layer.outputs) if graph is None else borders[graph]
                layers.append(_OpenLayer(layer, known[key], border))
            else:
                _explain(layer, self._why_none(layer))
        return layers

    def _possibilities(self, name: str, tactic: int | None, *, is_kernel: bool) -> tuple[_Possibility, ...]:
        reformat = None if is_kernel else self._reformat_layers.get(name)
        tuned = self._tuned.get(name, []) if reformat is None else self._tried(reformat)
        groups: dict[tuple[int | None, str, _Formats], list[_Tuned]] = {}
        for each in tuned:
            if tactic is None or each.record.tactic == tactic:
                groups.setdefault((each.record.tactic, each.record.runner, each.formats), []).append(each)
        return tuple(groups.values())

    @cached_property
    def _reformat_layers(self) -> dict[str, ReformatLayer]:
        """By name of the layer: ``Reformatted Input Tensor 0 to L`` is written by ``Reformatting CopyNode for …``."""
        names = (reformat.name.removeprefix("Reformatted ") for reformat in self._reformats)
        return {f"Reformatting CopyNode for {name}": layer for name, layer in zip(names, self._reformats, strict=True)}

    def _tried(self, reformat: ReformatLayer) -> list[_Tuned]:
        """Return the reformats that the optimiser tried and that could be this one (TensorRT 10)."""
        tensor, formats = reformat.tensor, ((reformat.source,), (reformat.target,))
        names = (f"{_TRIED_REFORMAT}{tensor} -> <out>)", f"{_TRIED_REFORMAT}<in> -> {tensor})")
        tuned = (each for name in names for each in self._tuned.get(name, ()))
        return [each for each in tuned if each.formats == formats]

    def _join(self, open_layer: _OpenLayer) -> None:
        layer, origin = open_layer.layer, open_layer.origin
        if origin is not None and origin.is_choice:
            layer.choice = origin.place
        elif origin is not None:
            layer.cached = origin.place
        elif open_layer.possibilities:
            _explain(layer, _undecided(open_layer.possibilities))
        else:
            _explain(layer, self._why_none(layer))

    def _why_none(self, layer: EngineLayer) -> str:
        if layer.name in self._tuned:
            return _UNFIT
        return _REFORMAT if is_reformat(layer.name) else UNTUNED.get(layer.type, _NO_BLOCK)

    def _decide_finals(self, layers: Iterable[_OpenLayer]) -> None:
        """Mark what was tuned for layers that may come from it, or that run no kernel, and all reformats tried."""
        names = {possibility[0].record.layer for layer in layers for possibility in layer.possibilities}
        names |= {layer.name for layer in self._layers if layer.type in NO_KERNEL}
        for name, tuned in self._tuned.items():
            if name in names or name.startswith(_TRIED_REFORMAT):
                for each in tuned:
                    each.record.final = False
        undecided = [possibility for layer in layers if layer.origin is None for possibility in layer.possibilities]
        for possibility in {id(possibility): possibility for possibility in undecided}.values():
            for each in possibility:
                each.record.final = None
        for layer in layers:
            if layer.origin is not None:
                layer.origin.record.final = True
        for name in self._kernels_unknown:
            tried = self._possibilities(name, None, is_kernel=True)
            if len(tried) == 1:
                tried[0][-1].record.final = True


def _undecided(possibilities: Iterable[_Possibility]) -> str:
    count = sum(map(len, possibilities))
    first = [each for possibility in possibilities for each in possibility[:_SHOWN]]
    first.sort(key=lambda each: (each.is_choice, each.place))
    lines = ", ".join(str(each.record.span.line) for each in first[:_SHOWN])
    return f"{count} choices fit and the log does not tell them apart: lines {lines}"


def _outer_border(kernels: Iterable[EngineLayer]) -> _Border:
    """Return for a ForeignNode's kernels the tensors that cross its border.

    Their order is not that of the autotuner, so a side is kept only where it is a single tensor.
    """
    read = {tensor.name: tensor for kernel in kernels for tensor in kernel.inputs}
    written = {tensor.name: tensor for kernel in kernels for tensor in kernel.outputs}
    inputs = tuple(tensor for name, tensor in read.items() if name not in written)
    outputs = tuple(tensor for name, tensor in written.items() if name not in read)
    return inputs if len(inputs) == 1 else (), outputs if len(outputs) == 1 else ()


def _foreign_names(kernels: Mapping[int, Sequence[EngineLayer]], foreign: Sequence[ForeignNode]) -> dict[int, str]:
    """Say which ForeignNode each group of Myelin kernels is, by the ONNX nodes they share and by the profile.

    Where no metadata names the nodes of a ForeignNode, it is the only one whose name ends in nodes of the group, and
    the group is the only one that has them.
    """
    profiles = {graph: _profile(group) for graph, group in kernels.items()}
    names: dict[int, str] = {}
    touched: dict[int, set[str]] = {}
    for graph, group in kernels.items():
        nodes = {node for kernel in group for node in kernel.onnx_nodes}
        of_profile = [node for node in foreign if profile_of(node.name) == profiles[graph]]
        fitting = {node.name for node in of_profile if nodes <= set(node.onnx_nodes)}
        only = list(profiles.values()).count(profiles[graph]) == 1
        if len(fitting) == 1 and (nodes or only):
            names[graph] = fitting.pop()
        layers = nodes.union(*(members(kernel.name) for kernel in group))
        # either end by which a ForeignNode is named may be a fusion of several
        touched[graph] = {
            node.name for node in of_profile if any(not layers.isdisjoint(members(end)) for end in members(node.name))
        }
    for graph in touched.keys() - names.keys():
        only_here = touched[graph].difference(names.values(), *(touched[other] for other in touched if other != graph))
        if len(touched[graph]) == len(only_here) == 1:
            names[graph] = only_here.pop()
    return names


def _profile(kernels: Sequence[EngineLayer]) -> int | None:
    """Return the optimisation profile of a ForeignNode's kernels: that of the last kernel that names a profile."""
    named = ((each.name, *(tensor.name for tensor in (*each.inputs, *each.outputs))) for each in reversed(kernels))
    return next((known for name in chain(*named) if (known := profile_of(name)) is not None), None)
