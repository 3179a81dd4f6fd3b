"""A network of any size to build: its layers after fusion, and the algorithms that are offered for each."""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from tests.emulator.engine.kernels import GEMM, TILES, dice, hashed, offered, summed, supports, times
from tests.emulator.engine.network import FLOAT, FORMATS, RUNNER_IDS, RUNNERS, Format
from tests.emulator.log.event import six_digits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from random import Random

SPEED = {"Float": 1.0, "Float1": 0.86, "Half": 0.78, "Half2": 0.74, "Half8": 0.72}
"""Cost of a format relative to linear Float."""

COST = {
    "convolution": 0.0105,
    "convolution 1x1": 0.0052,
    "pooling": 0.0026,
    "pointwise": 0.0031,
    "shuffle": 0.0034,
    "foreign": 0.0312,
    "topk": 0.0023,
}
"""About how many ms a layer of a kind takes in linear Float."""

REFORMAT_MS = 0.0024
FOREIGN_LAYERS = 12
"""How many layers TensorRT 11 puts into one ForeignNode here."""


class Node(NamedTuple):
    """An ONNX node and its tensors; inputs may be weights. ``dtype`` is set where the builder has no choice."""

    name: str
    op: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    dtype: str = ""


class Algorithm(NamedTuple):
    """A tactic of a runner in one combination of formats; ``ms`` is what it takes when nothing disturbs it."""

    runner: str
    tactic: int
    kernel: str
    inputs: tuple[Format, ...]
    outputs: tuple[Format, ...]
    ms: float

    @property
    def implementation(self) -> int:
        """The runner's id."""
        return RUNNER_IDS[self.runner]


class InnerTactic(NamedTuple):
    """A row of the table of an operation inside a ForeignNode."""

    tactic: int
    kernel: str
    ms: float


class Operation(NamedTuple):
    """An operation inside a ForeignNode that has tactics of its own."""

    name: str
    nodes: tuple[Node, ...]


class Layer(NamedTuple):
    """A layer after fusion. ``locked``: no reformat may stand before it; ``block`` numbers such runs of layers."""

    name: str
    kind: str
    nodes: tuple[Node, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    offers: tuple[Algorithm, ...]
    operations: tuple[Operation, ...] = ()
    locked: bool = False
    block: int = 0


class Net(NamedTuple):
    """Layers in the order of the network; ``dims`` of every tensor and weight, unknown ones -1."""

    name: str
    layers: tuple[Layer, ...]
    dims: Mapping[str, tuple[int, ...]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    weights: tuple[str, ...] = ()


def offers(kind: str, identity: object, dims: tuple[int, ...], *, inputs: int = 1, outputs: int = 1) -> list[Algorithm]:
    """Return what TensorRT offers for a layer of a kind; ``identity`` and the format decide, and nothing else does."""
    made = []
    for source, targets in FORMATS[kind]:
        if source.components and len(dims) != 4:
            continue
        for runner in RUNNERS[kind]:
            if supports(runner, source, newer=True):
                random = dice(identity, source.dtype, source.components, runner)
                tactics = summed(offered(runner, source, random))
                fastest = COST[kind] * SPEED[f"{source.dtype}{source.components or ''}"]
                timed = zip(tactics, times(len(tactics), fastest, random), strict=True)
                ends = (source,) * inputs, (targets * outputs)[:outputs]
                made += [Algorithm(runner, tactic, kernel, *ends, ms) for (tactic, kernel), ms in timed]
    return made


def reformat(layer: Layer, index: int, source: Format, target: Format, *, into: bool) -> Layer:
    """Return the layer that changes the format of an input (``into``) or of an output of another layer."""
    name = f"Reformatting CopyNode for {'Input' if into else 'Output'} Tensor {index} to {layer.name}"
    random = dice("reformat", name, source, target)
    tactics = offered("Reformat", source, random)
    timed = zip(tactics, times(len(tactics), REFORMAT_MS, random), strict=True)
    found = tuple(Algorithm("Reformat", tactic, "", (source,), (target,), ms) for (tactic, _), ms in timed)
    tensor = layer.inputs[index] if into else layer.outputs[index]
    made = f"Reformatted {'Input' if into else 'Output'} Tensor {index} to {layer.name}"
    ends = (tensor, made) if into else (made, tensor)
    return Layer(name, "reformat", (), ends[:1], ends[1:], found)


@lru_cache(maxsize=4096)
def table(layer: str, operation: str, dtype: str) -> tuple[InnerTactic, ...]:
    """Return the tactics of an operation inside a ForeignNode, the fastest first."""
    random = dice("operation", layer, operation, dtype)
    fastest = random.uniform(0.0029, 0.0041) * SPEED[dtype]
    costs = sorted(round(ms, 7) for ms in times(6, fastest, random))
    shape = GEMM if dtype == "Half" else GEMM.replace("f16f16_f16f16_f16", "f32f32_tf32f32_f32")
    kernels = [kernel for _, kernel in summed([(0, shape.format(tile)) for tile in random.sample(TILES, len(costs))])]
    return tuple(
        InnerTactic(hashed(f"{kernel}/{layer}/{operation}/{dtype}") >> 13, kernel, ms)
        for kernel, ms in zip(kernels, costs, strict=True)
    )


def key(*parts: str) -> int:
    """Return the 128-bit key under which an editable timing cache knows something."""
    return hashed("/".join(parts), 16)


def disturbed(ms: float, noise: float, random: Random) -> float:
    """Return a measurement: the true time, disturbed by a share of it, with the digits that a log prints."""
    return six_digits(ms * max(0.5, random.gauss(1.0, noise))) if noise else ms


# ---- generated networks --------------------------------------------------------------------------------------------

_KINDS = ("convolution", "convolution 1x1", "pointwise", "pooling", "convolution", "convolution", "shuffle", "foreign")
FOREIGN_AT = len(_KINDS) - 2
"""The kinds from here on do without vectorised formats, so that reformats stand around them."""

_DIMS = (8, 32, 28, 28)
_WEIGHTS = {"Conv": (32, 32, 3, 3), "MatMul": (28, 28)}
_FIRST = {
    "convolution": ("conv2d", "Conv"),
    "convolution 1x1": ("conv2d", "Conv"),
    "pointwise": ("sigmoid", "Sigmoid"),
    "foreign": ("layer_norm", "LayerNormalization"),
    "pooling": ("max_pool2d", "MaxPool"),
    "shuffle": ("view", "Reshape"),
}
"""Name and operator of the first node of each kind of layer."""


def generate(
    layers: int, seed: int, *, coupled: Sequence[range] = (), foreign: bool = True, eleven: bool = False
) -> Net:
    """Return a network of so many layers in a row; ``foreign`` False: no ForeignNodes among them.

    ``coupled`` are runs of layers (counted from 0) between which no format changes: TensorRT cannot put a reformat
    there, so that tactics of different builds do not mix within such a run. ``eleven``: as TensorRT 11 takes it, all
    in ForeignNodes.
    """
    names = _Names()
    places = {index: number for number, run in enumerate(coupled, 1) for index in run}
    built: list[Layer] = []
    tensor = "input"
    for index in range(layers):
        block = places.get(index, 0)
        kind = "convolution" if block else _KINDS[dice(seed, index).randrange(len(_KINDS) if foreign else FOREIGN_AT)]
        layer = _generated(names, kind, tensor, seed)
        built.append(layer._replace(locked=block > 0 and places.get(index - 1) == block, block=block))
        tensor = layer.outputs[0]
    grouped = tuple(_foreign_only(built)) if eleven else tuple(built)
    made = ("input", *(name for layer in built for node in layer.nodes for name in node.outputs))
    dims = {**dict.fromkeys(made, _DIMS), **names.weights}
    return Net(f"net{layers}-{seed}", grouped, dims, ("input",), (tensor,), tuple(names.weights))


class _Names:
    """Numbers names as PyTorch's exporter does: ``node_conv2d``, ``node_conv2d_1``; collects the weights."""

    def __init__(self) -> None:
        self._next: dict[str, Iterator[int]] = {}
        self.weights: dict[str, tuple[int, ...]] = {}

    def node(self, stem: str, op: str, *inputs: str) -> Node:
        number = next(self._next.setdefault(stem, count()))
        tensor = f"{stem}_{number}" if number else stem
        shape = _WEIGHTS.get(op)
        if shape is not None and len(inputs) == 1:
            self.weights[f"{tensor}.weight"] = shape
            inputs = (*inputs, f"{tensor}.weight")
        return Node(f"node_{tensor}", op, inputs, (tensor,))


def _generated(names: _Names, kind: str, tensor: str, seed: int) -> Layer:
    node = names.node
    operations: tuple[Operation, ...] = ()
    first = node(*_FIRST[kind], tensor)
    made = first.outputs[0]
    if kind.startswith("convolution"):
        nodes: tuple[Node, ...] = (first, node("relu", "Relu", made))
        name = f"{first.name} + {nodes[1].name}"
    elif kind == "pointwise":
        nodes = (first, node("mul", "Mul", tensor, made))
        name = f"PWN(PWN({first.name}), {nodes[1].name})"
    elif kind == "foreign":
        query = node("matmul", "MatMul", made)
        scores = node("softmax", "Softmax", *query.outputs)
        nodes = (first, query, scores, node("matmul", "MatMul", *scores.outputs))
        name = f"{{ForeignNode[{first.name}...{nodes[-1].name}]}}"
        operations = tuple(Operation(member.name, (member,)) for member in nodes if member.op == "MatMul")
    else:
        nodes = (first,)
        name = first.name
    found = tuple(offers(kind, (seed, name), _DIMS))
    return Layer(name, kind, nodes, (tensor,), nodes[-1].outputs, found, operations)


def _foreign_only(layers: Collection[Layer]) -> Iterator[Layer]:
    """Yield ForeignNodes of a few layers each, every layer an operation: nothing else is left in TensorRT 11 here."""
    rows = list(layers)
    for start in range(0, len(rows), FOREIGN_LAYERS):
        part = rows[start : start + FOREIGN_LAYERS]
        nodes = tuple(node for layer in part for node in layer.nodes)
        name = f"{{ForeignNode[{nodes[0].name}...{nodes[-1].name}]}}"
        operations = tuple(Operation(layer.nodes[0].name, layer.nodes) for layer in part)
        only = Algorithm("Myelin", 0, "", (FLOAT,), (FLOAT,), six_digits(sum(COST[layer.kind] for layer in part)))
        yield Layer(name, "foreign", nodes, part[0].inputs, part[-1].outputs, (only,), operations)


def restricted(net: Net, *, half: bool, wanted: Mapping[str, str]) -> Net:
    """Return the network as precision flags and constraints leave it.

    ``half`` False: nothing in Half is offered. ``wanted`` is the precision (``Float``, ``Half``) of ONNX nodes by name:
    a layer with such a node is offered in that precision only, and may so be left without any algorithm.
    """
    return net._replace(layers=tuple(_restricted(layer, wanted, half=half) for layer in net.layers))


def _restricted(layer: Layer, wanted: Mapping[str, str], *, half: bool) -> Layer:
    nodes = tuple(node._replace(dtype=wanted.get(node.name, node.dtype)) for node in layer.nodes)
    dtypes = {node.dtype for node in nodes if node.dtype}
    kept = [offer for offer in layer.offers if half or offer.inputs[0].dtype != "Half" or "Half" in dtypes]
    if dtypes and layer.kind != "foreign":
        kept = [offer for offer in kept if {offer.inputs[0].dtype} == dtypes]
    return layer._replace(nodes=nodes, offers=tuple(kept))


LINEAR_FLOAT = FLOAT
"""Format of the network's inputs and outputs."""
