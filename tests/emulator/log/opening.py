"""The lines before the tactics: trtexec's own, the ONNX parser's, and those of the passes over the graph."""

from __future__ import annotations

from tests.emulator.log.event import Event, OnnxTensor, Version

# ---- trtexec's own lines -------------------------------------------------------------------------------------------


class Banner(Event):
    """First and last line of trtexec; ``build`` is the build number that 10.7 and later print."""

    verb: str
    arguments: str
    build: int
    prefixed = False
    shape = "&&&& {verb} TensorRT.trtexec [TensorRT v{version}] [b{build}] # {arguments}"
    old_shape = "&&&& {verb} TensorRT.trtexec [TensorRT v{version}] # {arguments}"


class OptionBlock(Event):
    """The heading of a block of options, of device properties or of results."""

    name: str
    letter = "I"
    tensorrt = False
    shape = "=== {name} ==="


class Option(Event):
    """A line of a block. ``value`` None: nothing at all follows the colon, not even a blank."""

    name: str
    value: str | None
    letter = "I"
    tensorrt = False

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        if self.value is None:
            return "{name}:"
        return "{name}:{value}" if self.name == "Dump refittable layers" else "{name}: {value}"


class DeviceFact(Option):
    """A line of the device block."""


class Blank(Event):
    """A prefix with nothing after it."""

    letter = "I"
    tensorrt = False
    shape = ""


class ParseFinished(Event):
    """trtexec has read the model."""

    seconds: float
    letter = "I"
    tensorrt = False
    shape = "Finished parsing network model. Parse time: {seconds:.6g}"


class EngineSize(Event):
    """Size of the engine that trtexec built."""

    mebibytes: float
    letter = "I"
    tensorrt = False
    shape = "Created engine with size: {mebibytes:.6g} MiB"


class EngineBuilt(Event):
    """Wall time of trtexec's whole build."""

    seconds: float
    letter = "I"
    tensorrt = False
    shape = "Engine built in {seconds:.6g} sec."


class Throughput(Event):
    """Queries per second of the inference phase."""

    queries_per_second: float
    letter = "I"
    tensorrt = False
    shape = "Throughput: {queries_per_second:.6g} qps"


class Latency(Event):
    """A distribution of the performance summary, in ms: ``name`` is ``Latency``, ``GPU Compute Time`` and so on."""

    name: str
    minimum: float
    maximum: float
    mean: float
    median: float
    percentile_90: float
    percentile_95: float
    percentile_99: float
    letter = "I"
    tensorrt = False
    shape = (
        "{name}: min = {minimum:.6g} ms, max = {maximum:.6g} ms, mean = {mean:.6g} ms, median = {median:.6g} ms, "
        "percentile(90%) = {percentile_90:.6g} ms, percentile(95%) = {percentile_95:.6g} ms, "
        "percentile(99%) = {percentile_99:.6g} ms"
    )


class TotalTime(Event):
    """A sum of the performance summary: ``Total Host Walltime`` or ``Total GPU Compute Time``."""

    name: str
    seconds: float
    letter = "I"
    tensorrt = False
    shape = "{name}: {seconds:.6g} s"


class Message(Event):
    """Any other line, such as a warning; ``of_tensorrt`` False: the tool's own."""

    severity: str
    text: str
    of_tensorrt: bool = True
    shape = "{text}"


# ---- the ONNX parser -----------------------------------------------------------------------------------------------


class OnnxHeader(Event):
    """A line of the block that describes the model file."""

    name: str
    value: str
    letter = "I"

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        return f"{self.name + ':':<18}{{value}}"


class NetworkInput(Event):
    """An input of the network."""

    name: str
    dtype: str
    dims: tuple[int, ...]
    shape = "Adding network input: {name} with dtype: {dtype}, dimensions: ({dims:, })"


class ImportingInitializer(Event):
    """A weight of the model."""

    name: str
    shape = "Importing initializer: {name}"


class StaticCheck(Event):
    """The check that 10.x makes of every node before it parses the first."""

    name: str
    op: str
    shape = "Static check for parsing node: {name} [{op}]"


class ParsingNode(Event):
    """The parser begins a node."""

    name: str
    op: str
    shape = "Parsing node: {name} [{op}]"


class SearchingInput(Event):
    """The parser looks up an input of the node."""

    tensor: str
    shape = "Searching for input: {tensor}"


class NodeInputs(Event):
    """What the parser found as inputs of a node; the line ends with a comma and a blank."""

    name: str
    op: str
    tensors: tuple[OnnxTensor, ...]
    shape = "{name} [{op}] inputs: {tensors:, }, "


class RegisteringLayer(Event):
    """A network layer made for a node; ``node`` None: a helper layer that the parser itself needs (10.x)."""

    layer: str
    node: str | None

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        if self.node is None:
            return "Registering layer: {layer} required by ONNX-TRT"
        return "Registering layer: {layer} for ONNX node: {node}"


class RegisteringTensor(Event):
    """A network tensor and the ONNX tensor that it stands for."""

    tensor: str
    onnx: str
    shape = "Registering tensor: {tensor} for ONNX tensor: {onnx}"


class NodeOutputs(Event):
    """The outputs of a node; the line ends with a comma and a blank."""

    name: str
    op: str
    tensors: tuple[OnnxTensor, ...]
    shape = "{name} [{op}] outputs: {tensors:, }, "


class MarkingOutput(Event):
    """A network output and its ONNX name."""

    tensor: str
    onnx: str
    shape = "Marking {tensor} as output: {onnx}"


# ---- the graph -----------------------------------------------------------------------------------------------------


class StageCount(Event):
    """Number of layers after a stage of the optimiser; stage ``Original`` is the network as given."""

    stage: str
    layers: int

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        return "{stage}: {layers} layers" if self.stage == "Original" else "After {stage}: {layers} layers"


class GraphConstructed(Event):
    """The network has become the builder's graph."""

    seconds: float
    shape = "Graph construction completed in {seconds:.6g} seconds."


class GraphOptimized(Event):
    """The passes over the graph are done."""

    seconds: float
    old_letter = "I"
    shape = "Graph optimization time: {seconds:.6g} seconds."


class RunningPass(Event):
    """A pass found a layer that it can change."""

    name: str
    layer: str
    shape = "Running: {name} on {layer}"


class FusingPair(Event):
    """A pass made one layer of two."""

    kind: str
    first: str
    second: str
    shape = "{kind}: Fusing {first} with {second}"


class MergingLayers(Event):
    """Layers that read the same tensor became one."""

    layers: tuple[str, ...]
    shape = "Merging layers: {layers: || }"


class RemovingLayer(Event):
    """A layer that does nothing."""

    layer: str
    shape = "Removing {layer}"


class SwappingLayerType(Event):
    """A layer implemented as another type."""

    layer: str
    source: str
    target: str
    shape = "Swap the layer type of {layer} from {source} to {target}"
