"""What a build of any network says: the events of its log, in the order of TensorRT's stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.emulator.engine import never_captured
from tests.emulator.engine.builder import combinations
from tests.emulator.engine.dump import Tensor
from tests.emulator.engine.files import dims_of
from tests.emulator.engine.kernels import dice, hashed
from tests.emulator.engine.net import Layer, Node, table
from tests.emulator.log.dialect import polygraphy
from tests.emulator.log.event import MYELIN_SEPARATOR, TEN, Event, OnnxTensor, Version, six_digits
from tests.emulator.log.opening import (
    FusingPair,
    GraphConstructed,
    GraphOptimized,
    ImportingInitializer,
    MarkingOutput,
    Message,
    NetworkInput,
    NodeInputs,
    NodeOutputs,
    ParsingNode,
    RegisteringLayer,
    RegisteringTensor,
    RunningPass,
    SearchingInput,
    StageCount,
    StaticCheck,
    SwappingLayerType,
)
from tests.emulator.log.tuning import (
    AddingReformat,
    CachedResult,
    Chose,
    Combination,
    CostsHeader,
    EngineDump,
    EngineGeneration,
    EngineLayerDetailed,
    EngineLayerNamesOnly,
    ForeignColumns,
    ForeignNodeMetadata,
    ForeignOp,
    ForeignSelected,
    ForeignStored,
    ForeignTable,
    ForeignTactic,
    ProfileBegin,
    ProfilingCompleted,
    ReformatAutotune,
    ReformatCostsHeader,
    SelectionCompleted,
    StrategyBegin,
    TacticTimed,
    TimingCacheInUse,
    TimingRunner,
    TotalMemory,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.emulator.engine.builder import Build, Decision, Inner
    from tests.emulator.engine.net import Algorithm
    from tests.emulator.engine.selecting import Remark

ELEVEN: Version = (11, 0, 0)
SELECTOR_AND_CACHE = "It is suggested to disable layer timing cache while using AlgorithmSelector. "
SELECTOR_AND_CACHE += "Please refer to the developer guide in https://docs.nvidia.com/deeplearning/tensorrt/"
SELECTOR_AND_CACHE += "developer-guide/index.html#builder-layer-timing."


class PolygraphyLine(Event):
    """A message of Polygraphy's own, which no other logger prefixes."""

    severity: str
    text: str
    prefixed = False

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        return polygraphy(self.severity, self.text).replace("{", "{{").replace("}", "}}")


class Story:
    """Tells one build. ``editable``: the keys of an editable timing cache are printed. ``remarks`` are a selector's."""

    def __init__(
        self,
        build: Build,
        version: Version,
        *,
        editable: bool = False,
        detailed: bool = False,
        remarks: Sequence[Remark] = (),
    ) -> None:
        self.build = build
        self.remarks = remarks
        self.net = build.net
        self.version = version
        self.editable = editable
        self.detailed = detailed

    # ---- before the tactics ----

    def parsed(self) -> Iterator[Event]:
        """Yield the parser's lines."""
        for name in self.net.inputs:
            yield NetworkInput(name, "float32", self.net.dims[name])
            yield RegisteringTensor(name, name)
        yield from map(ImportingInitializer, self.net.weights)
        for layer in self.net.layers:
            for node in layer.nodes:
                yield from self._node(node)
        for index, name in enumerate(self.net.outputs):
            yield MarkingOutput(f"{name}_{index}", name)

    def _node(self, node: Node) -> Iterator[Event]:
        if self.version >= TEN:
            yield StaticCheck(node.name, node.op)
        yield ParsingNode(node.name, node.op)
        yield from map(SearchingInput, node.inputs)
        yield NodeInputs(node.name, node.op, tuple(map(self._onnx_tensor, node.inputs)))
        yield RegisteringLayer(node.name, node.name)
        for name in node.outputs:
            number = self.net.outputs.index(name) if name in self.net.outputs else None
            yield RegisteringTensor(name if number is None else f"{name}_{number}", name)
        yield NodeOutputs(node.name, node.op, tuple(map(self._onnx_tensor, node.outputs)))

    def _onnx_tensor(self, name: str) -> OnnxTensor:
        return OnnxTensor(name, self.net.dims.get(name, ()), "FLOAT")

    def optimised(self) -> Iterator[Event]:
        """Yield what the passes over the graph say."""
        nodes = sum(len(layer.nodes) for layer in self.net.layers)
        whole = sum(1 if layer.kind == "foreign" else len(layer.nodes) for layer in self.net.layers)
        yield StageCount("Original", nodes)
        yield StageCount("dead-layer removal", nodes)
        yield GraphConstructed(0.00091342)
        if self.version >= TEN:
            yield StageCount("adding DebugOutput nodes", nodes)
        yield StageCount("Myelin optimization", whole)
        yield Message("V", "Applying ScaleNodes fusions.")
        yield StageCount("scale fusion", whole)
        for layer in self.net.layers:
            yield from _fusions(layer)
        for stage in ("dupe layer removal", "final dead-layer removal", "tensor merging", "vertical fusions"):
            yield StageCount(stage, len(self.net.layers))
        for stage in ("dupe layer removal", "slice removal", "concat removal"):
            yield StageCount(stage, len(self.net.layers))
        yield GraphOptimized(0.00113977)

    # ---- the tactics ----

    def tuned(self) -> Iterator[Event]:
        """Yield the timing of every layer that the build came to, with the messages that fell meanwhile."""
        if self.version >= (10, 13, 0):
            yield StrategyBegin(2)
        stored = "Global" if self.build.request.cache is not None else "Local"
        yield TimingCacheInUse(stored)
        yield ProfileBegin(0, 1)
        if self.build.request.selector is not None:
            yield Message("W", SELECTOR_AND_CACHE)
        notes: dict[str, list[Event]] = {}
        for remark in self.remarks:
            notes.setdefault(remark.layer, []).append(PolygraphyLine(remark.letter, remark.text))
        for layer in self.net.layers:
            if layer.name in self.build.measured:
                yield from self._layer(layer)
            yield from notes.pop(layer.name, ())
        for decision in self.build.decisions:
            if decision.layer.kind == "reformat":
                yield from self._reformat(decision)
                yield from notes.pop(decision.layer.name, ())
        for left in notes.values():
            yield from left

    def _layer(self, layer: Layer) -> Iterator[Event]:
        newer = self.version >= TEN
        yield CostsHeader(layer.name if newer else "")
        if newer and layer.operations:
            yield ForeignNodeMetadata(layer.name, _onnx_layers(layer.nodes))
        for source, indexes in combinations(layer):
            timed = [index for index in indexes if self.build.measured[layer.name][index] != float("inf")]
            if timed:
                yield from self._combination(layer, timed, self.build.places.get((layer.name, source)))

    def _combination(self, layer: Layer, indexes: list[int], place: int | None) -> Iterator[Event]:
        offers = [layer.offers[index] for index in indexes]
        milliseconds = [self.build.measured[layer.name][index] for index in indexes]
        formats = self._formats(layer, offers[0])
        best = min(range(len(offers)), key=milliseconds.__getitem__)
        if place in self.build.hits:
            chosen = offers[best]
            yield CachedResult(layer.name, *formats, chosen.runner, chosen.tactic, milliseconds[best])
            return
        spelled = "None" if place is None else f"0x{place:032x}"
        yield Combination(*formats, key=spelled if self.editable else "")
        for runner in dict.fromkeys(offer.runner for offer in offers):
            yield TimingRunner(layer.name, runner, offers[0]._replace(runner=runner).implementation)
            if layer.operations and self.version >= TEN:
                yield from self._compiled(layer, offers[0])
            own = [index for index, offer in enumerate(offers) if offer.runner == runner]
            for index in own:
                yield TacticTimed(offers[index].tactic, milliseconds[index], offers[index].kernel)
            fastest = min(own, key=milliseconds.__getitem__)
            seconds = six_digits(0.002 + 0.011 * len(own) * dice(layer.name, runner).random())
            chosen = offers[fastest]
            yield ProfilingCompleted(
                layer.name, runner, chosen.implementation, seconds, chosen.tactic, milliseconds[fastest]
            )
        yield Chose(offers[best].runner, offers[best].tactic)

    def _formats(self, layer: Layer, offer: Algorithm) -> tuple[tuple[str, ...], tuple[str, ...]]:
        inputs = zip(layer.inputs, offer.inputs, strict=True)
        outputs = zip(layer.outputs, offer.outputs, strict=True)
        return (
            tuple(layout.strides(dims_of(self.net, layer, name)) for name, layout in inputs),
            tuple(layout.strides(dims_of(self.net, layer, name)) for name, layout in outputs),
        )

    def _compiled(self, layer: Layer, offer: Algorithm) -> Iterator[Event]:
        yield Message("V", " (foreignNode) Set user's cuda kernel library")
        for row in self.build.inner:
            if row.layer == layer.name and row.dtype == offer.inputs[0].dtype and row.key not in self.build.hits:
                yield from self._table(row)
        yield Message("V", f"Subgraph compilation completed in {len(layer.nodes) * 0.019:.3f} seconds.")

    def _table(self, row: Inner) -> Iterator[Event]:
        metadata = _onnx_layers(row.operation.nodes)
        yield ForeignOp(row.operation.name, metadata, f"0x{row.key:032x}" if self.editable else "")
        yield ForeignTable()
        yield ForeignColumns()
        rows = table(row.layer, row.operation.name, row.dtype)
        order = sorted(rows, key=lambda tactic: (tactic.tactic != row.tactic, tactic.ms))
        costs = {tactic.tactic: max(row.ms, tactic.ms) for tactic in rows} | {row.tactic: row.ms}
        for number, tactic in enumerate(order):
            ms = costs[tactic.tactic]
            yield ForeignTactic(
                hashed(tactic.kernel) % 40 + number, ms, round(ms / row.ms, 5), 1.0, tactic.kernel, tactic.tactic
            )
        if self.editable:
            yield ForeignSelected(row.tactic, row.ms)
            yield ForeignStored(row.tactic)

    def _reformat(self, decision: Decision) -> Iterator[Event]:
        layer = decision.layer
        into = layer.inputs[0] in self.net.dims
        ends = f"{layer.inputs[0]} -> <out>" if into else f"<in> -> {layer.outputs[0]}"
        label = f"Optimizer Reformat({ends})"
        source, target = self._formats(layer, decision.algorithm)
        yield ReformatCostsHeader(opening=True)
        yield ReformatCostsHeader(opening=False)
        yield ReformatAutotune(*source, *target)
        yield TimingRunner(label, "Reformat", decision.algorithm.implementation)
        for offer, ms in zip(layer.offers, self.build.measured[layer.name], strict=True):
            yield TacticTimed(offer.tactic, ms)
        algorithm = decision.algorithm
        seconds = six_digits(0.004 + 0.004 * dice(label).random())
        yield ProfilingCompleted(label, "Reformat", algorithm.implementation, seconds, algorithm.tactic, decision.ms)

    # ---- the engine ----

    def finished(self) -> Iterator[Event]:
        """Yield what follows the choice, to the engine's dump."""
        yield SelectionCompleted(0.183211)
        for decision in self.build.decisions:
            if decision.layer.kind == "reformat":
                source, target = self._formats(decision.layer, decision.algorithm)
                into = decision.layer.inputs[0] in self.net.dims
                made, tensor = (*decision.layer.outputs, *decision.layer.inputs)[:: 1 if into else -1]
                yield AddingReformat(made, tensor, *source, *target)
        yield StageCount("reformat layers", len(self.build.decisions))
        yield Message(
            "I", f"Detected {len(self.net.inputs)} inputs and {len(self.net.outputs)} output network tensors."
        )
        yield TotalMemory("Total Host Persistent", 4096 * len(self.build.decisions))
        yield TotalMemory("Total Device Persistent", 0)
        yield EngineGeneration(0.204371)
        yield EngineDump(detailed=self.detailed)
        made_by = self._reformatted()
        for group, decision in enumerate(self.build.decisions):
            yield from self._engine_layer(decision, made_by, group)
        if self.version >= ELEVEN and self.detailed:
            yield from never_captured.io_tensors(self.net)
        yield Message("V", "Adding 1 engine(s) to plan file.")

    def _reformatted(self) -> dict[tuple[str, bool, str], str]:
        """Return which tensor takes a tensor's place at a layer, by layer, side and tensor."""
        found = {}
        for decision in self.build.decisions:
            if decision.layer.kind == "reformat":
                into = " for Input Tensor " in decision.layer.name
                owner = decision.layer.name.partition(" to ")[2]
                pair = (*decision.layer.inputs, *decision.layer.outputs)[:: 1 if into else -1]
                found[owner, into, pair[0]] = pair[1]
        return found

    def _engine_layer(
        self, decision: Decision, made_by: dict[tuple[str, bool, str], str], group: int
    ) -> Iterator[Event]:
        layer, algorithm = decision.layer, decision.algorithm
        inputs, outputs = (
            tuple(
                Tensor(made_by.get((layer.name, into, name), name), layout, dims_of(self.net, layer, name))
                for name, layout in zip(names, formats, strict=True)
            )
            for into, names, formats in (
                (True, layer.inputs, algorithm.inputs),
                (False, layer.outputs, algorithm.outputs),
            )
        )
        if not self.detailed:
            sides = (tuple(tensor.brief() for tensor in side) for side in (inputs, outputs))
            yield EngineLayerNamesOnly(algorithm.runner, layer.name, algorithm.tactic, *sides)
        elif layer.operations:
            yield from self._kernels(decision, inputs, outputs, group)
        else:
            brief = tuple(tensor.detailed() for tensor in inputs), tuple(tensor.detailed() for tensor in outputs)
            parameters = (("ParameterType", "Reformat"), ("Origin", "REFORMAT")) if layer.kind == "reformat" else ()
            yield EngineLayerDetailed(
                layer.name,
                algorithm.runner,
                *brief,
                parameters,
                algorithm.kernel or None,
                algorithm.tactic,
                0,
                _onnx_layers(layer.nodes),
            )

    def _kernels(
        self, decision: Decision, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...], group: int
    ) -> Iterator[Event]:
        """Yield a ForeignNode's operations as kernels, each with the ONNX nodes up to the next one."""
        layer, layout = decision.layer, decision.algorithm.inputs[0]
        chosen = {
            row.operation.name: row for row in self.build.inner if row.layer == layer.name and row.dtype == layout.dtype
        }
        source = inputs[0]
        for index, operation in enumerate(layer.operations):
            last = index == len(layer.operations) - 1
            output = outputs[0] if last else Tensor(f"{operation.name}_{index}_myl{group}", layout, source.dims)
            rows = table(layer.name, operation.name, layout.dtype)
            kernel = next(row.kernel for row in rows if row.tactic == chosen[operation.name].tactic)
            ends = (source,), (output,)
            yield (never_captured.layer if self.version >= ELEVEN else _kernel)(
                f"{operation.name}_myl{group}_{index}", *ends, kernel, _onnx_layers(operation.nodes)
            )
            source = output


def _kernel(
    name: str, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...], tactic: str, metadata: tuple[str, ...]
) -> Event:
    sides = tuple(tensor.detailed(None) for tensor in inputs), tuple(tensor.detailed(None) for tensor in outputs)
    return EngineLayerDetailed(
        name, "gemm", *sides, tactic_name=tactic, stream=0, metadata=metadata, separator=MYELIN_SEPARATOR
    )


def _onnx_layers(nodes: tuple[Node, ...]) -> tuple[str, ...]:
    return tuple(f"[ONNX Layer: {node.name}]" for node in nodes)


def _fusions(layer: Layer) -> Iterator[Event]:
    if layer.kind == "foreign" or len(layer.nodes) < 2:
        return
    first, second = layer.nodes[0].name, layer.nodes[1].name
    if layer.kind == "pointwise":
        yield RunningPass("ActivationToPointwiseConversion", first)
        yield SwappingLayerType(first, "ACTIVATION", "POINTWISE")
        yield RunningPass("PointWiseFusion", f"PWN({first})")
        yield FusingPair("PointWiseFusion", f"PWN({first})", second)
    else:
        yield RunningPass("ConvReluFusion", first)
        yield FusingPair("ConvReluFusion", first, second)
