"""What is known of an engine's layers beside their names: times, bytes, arithmetic, alignment, origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.engines.alternatives import Result
    from trtforensics.engines.work import Work
    from trtforensics.model.log import Build, EngineLayer, RunResult
    from trtforensics.model.precision import ComputePrecision
    from trtforensics.model.profile import TimeSource
    from trtforensics.model.span import SourceSpan

_Number = TypeVar("_Number", int, float)

UNKNOWN = "unknown"
"""The group of layers of which a dump does not tell in what they compute."""


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """A tensor at a layer.

    ``bytes`` are those of its elements: product of the dimensions times the size of the type. ``stored_bytes`` count
    the padding of its format too. Both are None where a dimension is dynamic or the type is not known.
    """

    name: str
    dtype: str
    format: str
    dims: tuple[int | str, ...]
    bytes: int | None
    stored_bytes: int | None


@dataclass(frozen=True, slots=True)
class ChannelAlignment:
    """The channels of a product beside the multiple that tensor cores want of its type (16 bytes of elements)."""

    input_channels: int
    output_channels: int
    multiple: int

    @property
    def aligned(self) -> bool:
        """Whether both numbers of channels are multiples."""
        return self.input_channels % self.multiple == 0 and self.output_channels % self.multiple == 0


@dataclass(frozen=True, slots=True)
class LayerFacts:
    """A layer of an engine; what is not known is None.

    ``kind`` is the operation (``Convolution``), ``layer.type`` its implementation (``CaskConvolution``). ``share``
    is the layer's part of the time of all layers. ``weights_bytes`` are those of the kernel, or of a constant's
    values; ``bias_bytes`` those of bias, shift, scale and power. ``activation_bytes`` are read and written: a
    tensor between two layers counts at both. ``reformats_before`` and ``reformats_after`` count reformat layers
    that write its inputs and read its outputs. ``block`` is the path that the names of its ONNX nodes begin
    with. ``operators`` are those of its ONNX nodes, in their order, as far as the log or a model tells them.
    """

    index: int
    layer: EngineLayer
    kind: str
    inputs: tuple[TensorFacts, ...]
    outputs: tuple[TensorFacts, ...]
    share: float | None
    median_ms: float | None
    weights_bytes: int | None
    bias_bytes: int | None
    work: Work | None
    alignment: ChannelAlignment | None
    reformats_before: int
    reformats_after: int
    onnx_nodes: tuple[str, ...]
    operators: tuple[str, ...]
    block: str
    choice: Result | None
    runs_kernel: bool

    @property
    def name(self) -> str:
        """The layer's name."""
        return self.layer.name

    @property
    def span(self) -> SourceSpan:
        """Where the layer is printed."""
        return self.layer.span

    @property
    def compute_precision(self) -> ComputePrecision | None:
        """What the layer computes in, and what says so."""
        return self.layer.compute_precision

    @property
    def precision(self) -> str:
        """The type that the layer computes in, as TensorRT spells it; :data:`UNKNOWN` where nothing tells it."""
        return UNKNOWN if self.layer.compute_precision is None else self.layer.compute_precision.type

    @property
    def output_types(self) -> tuple[str, ...]:
        """The types that the layer writes."""
        return self.layer.output_types

    @property
    def time_ms(self) -> float | None:
        """Its average time in ms, in the profile or when it was tuned."""
        return self.layer.time_ms

    @property
    def time_is(self) -> TimeSource | None:
        """Where its time is from."""
        return self.layer.time_is

    @property
    def input_bytes(self) -> int | None:
        """The bytes of the elements that it reads, weights not counted."""
        return self._sum(self.inputs)

    @property
    def output_bytes(self) -> int | None:
        """The bytes of the elements that it writes."""
        return self._sum(self.outputs)

    def _sum(self, tensors: Sequence[TensorFacts]) -> int | None:
        """Add tensors; a layer of which only the name is known has none."""
        return known_sum([tensor.bytes for tensor in tensors]) if self.layer.type else None

    @property
    def activation_bytes(self) -> int | None:
        """The bytes of the elements that it reads and writes."""
        return known_sum([self.input_bytes, self.output_bytes])

    @property
    def stored_bytes(self) -> int | None:
        """The bytes that it reads and writes with the padding of formats, weights not counted."""
        sizes = [tensor.stored_bytes for tensor in (*self.inputs, *self.outputs)]
        return known_sum(sizes) if self.layer.type else None

    @property
    def moved_bytes(self) -> int | None:
        """The bytes that it has to read and write at least: tensors as stored, weights and bias."""
        return known_sum([self.stored_bytes, self.weights_bytes, self.bias_bytes])

    @property
    def macs(self) -> int | None:
        """Multiply-accumulates of one inference."""
        return None if self.work is None else self.work.macs

    @property
    def flops(self) -> int | None:
        """Operations of one inference, two for a multiply-accumulate, whatever their type."""
        return None if self.work is None else self.work.operations

    @property
    def intensity(self) -> float | None:
        """Operations a byte moved."""
        return None if self.flops is None or not self.moved_bytes else self.flops / self.moved_bytes

    @property
    def bandwidth_gb_s(self) -> float | None:
        """Bytes moved over time, in 1e9 bytes a second: what the layer needs at least, caches not counted."""
        return None if self.moved_bytes is None or not self.time_ms else self.moved_bytes / self.time_ms / 1e6

    @property
    def tera_operations_s(self) -> float | None:
        """Operations over time, in 1e12 a second."""
        return None if self.flops is None or not self.time_ms else self.flops / self.time_ms / 1e9

    @property
    def reformats(self) -> int:
        """How many reformat layers stand around it."""
        return self.reformats_before + self.reformats_after


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """Layers that have something in common, and the sums of what is known of them."""

    name: str
    layers: tuple[LayerFacts, ...]

    @property
    def time_ms(self) -> float | None:
        """The time of those that have one; None where none has."""
        return _sum_of_known([layer.time_ms for layer in self.layers])

    @property
    def share(self) -> float | None:
        """Their part of the engine's time."""
        return _sum_of_known([layer.share for layer in self.layers])

    @property
    def weights_bytes(self) -> int | None:
        """The weights of those whose weights are known; None where none are."""
        return _sum_of_known([layer.weights_bytes for layer in self.layers])

    @property
    def activation_bytes(self) -> int | None:
        """The activations of those whose tensors have a known size; None where none have."""
        return _sum_of_known([layer.activation_bytes for layer in self.layers])

    @property
    def unsized(self) -> int:
        """How many layers have a tensor of unknown size, so that the sum of activations lacks them."""
        return sum(layer.activation_bytes is None for layer in self.layers)

    @property
    def macs(self) -> int | None:
        """The multiply-accumulates of those whose operation tells them; None where none does."""
        return _sum_of_known([layer.macs for layer in self.layers])


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """An engine with the facts of its layers, in the engine's order, and what did not join.

    ``layers`` are all, ``running`` those that run a kernel. ``memory`` are the sizes that
    the log states of the engine.
    """

    source: str
    build: Build
    layers: tuple[LayerFacts, ...]
    memory: tuple[RunResult, ...] = ()

    @property
    def running(self) -> tuple[LayerFacts, ...]:
        """The layers that run a kernel: no constants, no NoOps, no layers that only synchronise streams."""
        return tuple(layer for layer in self.layers if layer.runs_kernel)

    @property
    def whole(self) -> LayerGroup:
        """The layers that run a kernel, as one group."""
        return LayerGroup("", self.running)

    @property
    def time_is(self) -> TimeSource | None:
        """Where the times are from: of one engine, all from the same."""
        return next((layer.time_is for layer in self.layers if layer.time_is is not None), None)

    def by_kind(self) -> tuple[LayerGroup, ...]:
        """The layers that run a kernel by what they do, slowest first."""
        return grouped(self.running, [layer.kind for layer in self.running])

    def by_precision(self) -> tuple[LayerGroup, ...]:
        """The layers that run a kernel by what they compute in, slowest first."""
        return grouped(self.running, [layer.precision for layer in self.running])

    def by_block(self, depth: int = 2) -> tuple[LayerGroup, ...]:
        """The layers that run a kernel by the first ``depth`` parts of their ONNX nodes' path, slowest first."""
        return grouped(self.running, ["/".join(layer.block.split("/")[: depth + 1]) for layer in self.running])


def grouped(layers: Sequence[LayerFacts], names: Sequence[str]) -> tuple[LayerGroup, ...]:
    """Put layers into groups by names, one a layer; slowest group first, then the largest."""
    members: dict[str, list[LayerFacts]] = {}
    for layer, name in zip(layers, names, strict=True):
        members.setdefault(name, []).append(layer)
    groups = [LayerGroup(name, tuple(own)) for name, own in members.items()]
    return tuple(sorted(groups, key=lambda group: (-(group.time_ms or 0.0), -len(group.layers))))


def known_sum(values: Sequence[int | None]) -> int | None:
    """Add numbers; None where one of them is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _sum_of_known(values: Sequence[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None
