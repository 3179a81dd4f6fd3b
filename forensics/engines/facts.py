"""The record of an engine and of its layers: all that is known, from which tables, panes and figures are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from trtforensics.console.counting import counted, grouped
from trtforensics.engines import quantities
from trtforensics.engines.alternatives import Alternatives, OtherType, Result, fastest, tuned_layer
from trtforensics.engines.neighbours import Neighbours, reformats_of
from trtforensics.engines.onnx_nodes import block_of, node_operators, nodes_of
from trtforensics.engines.why import Reason, Reasons
from trtforensics.model.layer_types import FOREIGN_NODE, NO_KERNEL, REFORMATS, UNTUNED, is_foreign_node, operation_of
from trtforensics.model.ledger import TimedUnit, TimeLedger, UnitKind, ledger_of
from trtforensics.model.log import Build, Choice, EngineLayer, EngineTensor
from trtforensics.model.timings import NEAR_TIE_RATIO
from trtforensics.parsers.notation.names import is_reformat, members
from trtforensics.render.names import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.model.data_types import ComputePrecision
    from trtforensics.model.span import SourceSpan
    from trtforensics.model.timings import TimeSource
    from trtforensics.onnx_models.checked import CheckedModel

UNKNOWN = "unknown"
"""Layers of unknown compute type."""
_Number = TypeVar("_Number", int, float)
_LONGEST = 120
"""Characters of a name in a ``repr``."""


class LayerFacts:
    """A layer of an engine; what is not known is None.

    ``layer`` is what the dump says, ``index`` its place in it; -1 for a unit of the ledger that the dump does not list.
    Where ``in_engine`` is False, no dump has the layer: ``layer`` then holds what was tuned for it.
    """

    def __init__(
        self,
        engine: EngineFacts,
        index: int,
        layer: EngineLayer,
        *,
        in_engine: bool = True,
        unit: TimedUnit | None = None,
    ) -> None:
        self.engine = engine
        self._unlisted = unit
        self.index = index
        self.layer = layer
        self.in_engine = in_engine

    def __repr__(self) -> str:
        return f"<layer {self.index}: {self.name}>"

    @property
    def name(self) -> str:
        """The layer's name."""
        return self.layer.name

    @property
    def number(self) -> int | None:
        """Its place in the engine, from 1."""
        return self.index + 1 if self.in_engine and self.index >= 0 else None

    @property
    def span(self) -> SourceSpan:
        """Where the layer is printed."""
        return self.layer.span

    @cached_property
    def kind(self) -> str:
        """The operation (``Convolution``); ``layer.type`` is its implementation (``CaskConvolution``)."""
        return operation_of(self.layer)

    @property
    def compute_precision(self) -> ComputePrecision | None:
        """What the layer computes in, and what says so."""
        return self.layer.compute_precision

    @property
    def precision(self) -> str:
        """The type that the layer computes in, as TensorRT spells it; :data:`UNKNOWN` where nothing tells it."""
        return UNKNOWN if self.layer.compute_precision is None else self.layer.compute_precision.type

    @property
    def input_types(self) -> tuple[str, ...]:
        """The distinct types that it reads."""
        return tuple(dict.fromkeys(tensor.dtype for tensor in self.layer.inputs if tensor.dtype))

    @property
    def output_types(self) -> tuple[str, ...]:
        """The distinct types that it writes."""
        return self.layer.output_types

    @property
    def runs_kernel(self) -> bool:
        """Whether it runs a kernel: it is no constant, no NoOp, and does not only synchronise streams."""
        return self.layer.type not in UNTUNED

    @property
    def is_reformat(self) -> bool:
        """Whether TensorRT inserted it to change a format, and it runs a kernel."""
        return self.layer.type in REFORMATS or (is_reformat(self.name) and self.layer.type not in NO_KERNEL)

    # What was tuned

    @cached_property
    def choice(self) -> Result | None:
        """The choice or cached result that it came from; of a kernel inside a ForeignNode, that of the ForeignNode."""
        if self.in_engine:
            return self.engine.build.origin_of(self.layer)
        return next((result for result in self.tuned if result.final), None)

    @cached_property
    def inside(self) -> str:
        """The ForeignNode that a kernel belongs to, which was tuned as a whole; empty for other layers."""
        return self.engine.alternatives.inside(self.layer)

    @property
    def foreign_node(self) -> str:
        """The ForeignNode that it is, or whose kernel it is; empty for other layers."""
        return self.name if is_foreign_node(self.name) else self.inside

    @property
    def own_choice(self) -> Result | None:
        """The choice or cached result of this layer alone."""
        return None if self.inside else self.choice

    @cached_property
    def tuned(self) -> tuple[Result, ...]:
        """Every result of the layer, or of the ForeignNode that it is in, in all formats and passes."""
        origin = self.engine.build.origin_of(self.layer)
        return tuple(self.engine.alternatives.of(origin.layer if origin else self.name))

    @cached_property
    def subject(self) -> Result | None:
        """The result to show: the engine's if known, else the fastest."""
        return self.choice or fastest(self.tuned)

    @property
    def runner_up_ms(self) -> float | None:
        """The time of the second-fastest tactic in the same formats."""
        return self.own_choice.runner_up_ms if isinstance(self.own_choice, Choice) else None

    @cached_property
    def margin(self) -> float | None:
        """The runner-up's time over the winner's, in the same formats."""
        return None if self.own_choice is None else self.engine.alternatives.margin(self.own_choice)

    @cached_property
    def other_type(self) -> OtherType | None:
        """The fastest result in another type."""
        others = () if self.own_choice is None else self.engine.alternatives.other_types(self.own_choice)
        return others[0] if others else None

    def why(self, tie: float = NEAR_TIE_RATIO) -> tuple[Reason, ...]:
        """Return why the layer is as it is, most telling first; see :meth:`Reasons.why`."""
        return self.engine.reasons.why(self.layer, tie=tie) if self.in_engine else ()

    # Times

    @cached_property
    def unit(self) -> TimedUnit | None:
        """The unit of the ledger that is this layer; None for a kernel of a ForeignNode that was timed as a whole."""
        unit = self._unlisted or (self.engine.ledger.of_layer(self.index) if self.in_engine else None)
        return None if unit is None or unit.name != self.name else unit

    @property
    def time_ms(self) -> float | None:
        """Its time in ms: in the profile, without calls far slower than the others, or when it was tuned."""
        if not self.in_engine:
            return self.layer.time_ms
        return self.unit.time_ms if self.unit is not None and self.unit.share is not None else None

    @property
    def time_is(self) -> TimeSource | None:
        """Where its time is from."""
        if not self.in_engine:
            return self.layer.time_is
        return None if self.time_ms is None else self.engine.ledger.time_is

    @property
    def median_ms(self) -> float | None:
        """The median of its times in the profile."""
        return self.unit.row.median_ms if self.unit is not None and self.unit.row is not None else None

    @property
    def share(self) -> float | None:
        """Its part of the time of all layers, 0 to 1."""
        return None if self.unit is None else self.unit.share

    # Bytes and arithmetic

    @cached_property
    def inputs(self) -> tuple[quantities.TensorFacts, ...]:
        """The tensors that it reads."""
        return self._tensors(self.layer.inputs, written=False)

    @cached_property
    def outputs(self) -> tuple[quantities.TensorFacts, ...]:
        """The tensors that it writes."""
        return self._tensors(self.layer.outputs, written=True)

    def _tensors(self, tensors: Sequence[EngineTensor], *, written: bool) -> tuple[quantities.TensorFacts, ...]:
        result = None if is_reformat(self.name) else self.own_choice
        formats: Sequence[str] = () if result is None else result.outputs if written else result.inputs
        return quantities.tensor_facts(tensors, formats, self.engine.build.tensorrt_version)

    @property
    def weights_bytes(self) -> int | None:
        """The bytes of the kernel's weights, or of a constant's values."""
        return quantities.weights_bytes(self.layer)

    @property
    def bias_bytes(self) -> int | None:
        """The bytes of bias, shift, scale and power."""
        return quantities.bias_bytes(self.layer)

    @property
    def input_bytes(self) -> int | None:
        """The bytes of the elements that it reads, weights not counted."""
        return self._sum([tensor.bytes for tensor in self.inputs])

    @property
    def output_bytes(self) -> int | None:
        """The bytes of the elements that it writes."""
        return self._sum([tensor.bytes for tensor in self.outputs])

    @property
    def activation_bytes(self) -> int | None:
        """The bytes of the elements that it reads and writes; a tensor between two layers counts at both."""
        return quantities.known_sum([self.input_bytes, self.output_bytes])

    @property
    def stored_bytes(self) -> int | None:
        """The bytes that it reads and writes with the padding of formats, weights not counted."""
        return self._sum([tensor.stored_bytes for tensor in (*self.inputs, *self.outputs)])

    def _sum(self, sizes: Sequence[int | None]) -> int | None:
        """Add sizes of tensors; None for a layer that the dump does not list, or lists by its name only."""
        return quantities.known_sum(sizes) if self.layer.type and self._unlisted is None else None

    @property
    def moved_bytes(self) -> int | None:
        """The bytes that it has to read and write at least: tensors as stored, weights and bias."""
        return quantities.known_sum([self.stored_bytes, self.weights_bytes, self.bias_bytes])

    @cached_property
    def work(self) -> quantities.Work | None:
        """The work of one inference."""
        return quantities.work_of(self.layer, self.kind)

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

    @cached_property
    def alignment(self) -> quantities.ChannelAlignment | None:
        """The channels of a convolution beside what tensor cores want; None where they could not run it."""
        return quantities.alignment_of(self.layer, self.kind)

    # Its neighbours and its parts

    @cached_property
    def reformats_before(self) -> int:
        """How many reformat layers write its inputs."""
        return reformats_of(self.engine.neighbours.producers(self.layer))

    @cached_property
    def reformats_after(self) -> int:
        """How many reformat layers read its outputs."""
        return reformats_of(self.engine.neighbours.consumers(self.layer))

    def around(self, *, before: bool) -> tuple[LayerFacts, ...]:
        """Return the layers before or behind it, through the reformats at it, and these."""
        steps = chain.from_iterable(self.engine.neighbours.edges(self.layer, before=before))
        return tuple(filter(None, (self.engine.of_layer(step.layer) for step in steps)))

    @property
    def reformats(self) -> int:
        """How many reformat layers stand around it."""
        return self.reformats_before + self.reformats_after

    @cached_property
    def onnx_nodes(self) -> tuple[str, ...]:
        """The ONNX nodes that were fused into a layer of the engine."""
        return nodes_of(self.layer, self.engine.operators) if self.in_engine else ()

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators of its ONNX nodes, in their order, as far as the log or a model tells them."""
        known = self.engine.operators
        return tuple(known[node] for node in self.onnx_nodes if known.get(node))

    @property
    def block(self) -> str:
        """The path that the names of its ONNX nodes begin with; empty where there is none."""
        return block_of(self.onnx_nodes or members(self.name))


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """Layers that have something in common, and the sums of what is known of them; None where nothing is."""

    name: str
    layers: tuple[LayerFacts, ...]

    def __repr__(self) -> str:
        time = "no times" if self.time_ms is None else f"{self.time_ms:.4g} ms"
        return f"<{shortened(self.name, _LONGEST) or 'all'}: {counted(len(self.layers), 'layer')}, {time}>"

    @property
    def time_ms(self) -> float | None:
        """Their time."""
        return _sum_of_known([layer.time_ms for layer in self.layers])

    @property
    def share(self) -> float | None:
        """Their part of the engine's time."""
        return _sum_of_known([layer.share for layer in self.layers])

    @property
    def weights_bytes(self) -> int | None:
        """Their weights."""
        return _sum_of_known([layer.weights_bytes for layer in self.layers])

    @property
    def activation_bytes(self) -> int | None:
        """Their activations."""
        return _sum_of_known([layer.activation_bytes for layer in self.layers])

    @property
    def macs(self) -> int | None:
        """Their multiply-accumulates."""
        return _sum_of_known([layer.macs for layer in self.layers])


def _sum_of_known(values: Sequence[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None


@dataclass(frozen=True, eq=False)
class EngineFacts:
    """The engine of a build; ``source`` names the build for people. ``model`` tells operators that the log does not."""

    build: Build
    source: str = ""
    model: CheckedModel | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"<engine of build {self.build.index + 1}: {len(self.layers):,} layers>"

    @cached_property
    def layers(self) -> tuple[LayerFacts, ...]:
        """The layers, in the engine's order."""
        return tuple(LayerFacts(self, index, layer) for index, layer in enumerate(self.build.engine_layers))

    @cached_property
    def only_tuned(self) -> tuple[LayerFacts, ...]:
        """The layers that were tuned and are not in the engine's dump, in the log's order."""
        dumped = {layer.name for layer in self.listed}
        dumped |= {result.layer for layer in self.layers for result in layer.tuned}
        names = (name for name in self.alternatives.of_name if name not in dumped)
        tuned = (tuned_layer(name, self.alternatives.of(name)) for name in names)
        return tuple(LayerFacts(self, index, layer, in_engine=False) for index, layer in enumerate(tuned))

    @cached_property
    def listed(self) -> tuple[LayerFacts, ...]:
        """The layers, each ForeignNode timed as a whole before its kernels, then timed units that no layer is of."""
        before: dict[int, LayerFacts] = {}
        behind: list[LayerFacts] = []
        for layer in self.unlisted(self.ledger):
            if layer.unit is not None and layer.unit.layers:
                before[layer.unit.layers[0]] = layer
            else:
                behind.append(layer)
        placed = ([before[layer.index], layer] if layer.index in before else [layer] for layer in self.layers)
        return (*chain.from_iterable(placed), *behind)

    def unlisted(self, ledger: TimeLedger) -> tuple[LayerFacts, ...]:
        """Return the units of a ledger that the dump does not list, each as a layer."""
        layers = self.build.engine_layers
        names = [layers[unit.layers[0]].name if unit.layers else None for unit in ledger.units]
        return tuple(self._of_unit(unit) for unit, name in zip(ledger.units, names, strict=True) if name != unit.name)

    def _of_unit(self, unit: TimedUnit) -> LayerFacts:
        """Return the layer that stands for a unit that the dump does not list."""
        nodes = next((node.onnx_nodes for node in reversed(self.build.foreign_nodes) if node.name == unit.name), ())
        kind = FOREIGN_NODE if unit.kind is UnitKind.FOREIGN_NODE else unit.what
        layer = EngineLayer(unit.name, kind, None, "", (), nodes, (), (), unit.span)
        if unit.layers:
            kernel = self.build.engine_layers[unit.layers[0]]
            layer.choice, layer.cached = kernel.choice, kernel.cached
        return LayerFacts(self, -1, layer, unit=unit)

    @cached_property
    def timed(self) -> tuple[LayerFacts, ...]:
        """What has a time and takes some, slowest first; together it is what the ledger has booked."""
        timed = (layer for layer in self.listed if layer.time_ms)
        return tuple(sorted(timed, key=lambda layer: -(layer.time_ms or 0.0)))

    @property
    def running(self) -> tuple[LayerFacts, ...]:
        """The layers that run a kernel: no constants, no NoOps, no layers that only synchronise streams."""
        return tuple(layer for layer in self.layers if layer.runs_kernel)

    @property
    def accounts(self) -> tuple[LayerFacts, ...]:
        """What runs a kernel or takes time: layers, and units that the dump does not list."""
        return tuple(layer for layer in self.listed if layer.runs_kernel or layer.time_ms)

    @property
    def whole(self) -> LayerGroup:
        """All accounts, as one group."""
        return LayerGroup("", self.accounts)

    @cached_property
    def ledger(self) -> TimeLedger:
        """How long its parts take."""
        return ledger_of(self.build)

    @property
    def time_is(self) -> TimeSource | None:
        """Where the times are from: of one engine, all from the same."""
        return self.ledger.time_is

    @cached_property
    def reasons(self) -> Reasons:
        """Why layers are as they are."""
        return Reasons(self.build)

    @property
    def alternatives(self) -> Alternatives:
        """What else was timed for each layer."""
        return self.reasons.alternatives

    @cached_property
    def neighbours(self) -> Neighbours:
        """Which layers are connected by tensors."""
        return Neighbours(self.build)

    @cached_property
    def operators(self) -> dict[str, str]:
        """The operators of ONNX nodes, by the nodes' names."""
        return node_operators(self.build, self.model)

    def of_layer(self, layer: EngineLayer | None) -> LayerFacts | None:
        """Return the facts of a layer of the engine."""
        return self._of_layer.get(id(layer))

    _of_layer = cached_property(lambda self: {id(facts.layer): facts for facts in self.layers})

    def by_kind(self) -> tuple[LayerGroup, ...]:
        """The accounts, grouped by kind, slowest first."""
        return self._groups(lambda layer: layer.kind)

    def by_precision(self) -> tuple[LayerGroup, ...]:
        """The accounts, grouped by compute precision, slowest first."""
        return self._groups(lambda layer: layer.precision)

    def by_block(self, depth: int = 2) -> tuple[LayerGroup, ...]:
        """The accounts by the first ``depth`` parts of their ONNX nodes' path, slowest first."""
        return self._groups(lambda layer: "/".join(layer.block.split("/")[: depth + 1]))

    def _groups(self, key: Callable[[LayerFacts], str]) -> tuple[LayerGroup, ...]:
        groups = [LayerGroup(name, tuple(group)) for name, group in grouped(self.accounts, key).items()]
        return tuple(sorted(groups, key=lambda group: (-(group.time_ms or 0.0), -len(group.layers))))
