"""What the ONNX parser and the passes over the graph say about the simulated network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.emulator.engine.network import DIMS, NODES, WEIGHTS, Layer, Network
from tests.emulator.log.event import TEN, Event, OnnxTensor, Version
from tests.emulator.log.opening import (
    FusingPair,
    ImportingInitializer,
    MarkingOutput,
    Message,
    NetworkInput,
    NodeInputs,
    NodeOutputs,
    ParsingNode,
    RegisteringLayer,
    RegisteringTensor,
    RemovingLayer,
    RunningPass,
    SearchingInput,
    StageCount,
    StaticCheck,
    SwappingLayerType,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

HELPER = "ONNXTRT_ShapeShuffle"
OLD_HELPER = "(Unnamed Layer* 27) [Shuffle]"


def parse(network: Network, version: Version) -> Iterator[Event]:
    """Yield the parser's lines for the whole model."""
    yield NetworkInput("x", "float32", DIMS["x"])
    yield RegisteringTensor("x", "x")
    yield from map(ImportingInitializer, WEIGHTS)
    for key in NODES:
        yield from _node(network, key, version)
    yield from (MarkingOutput("y_0", "y"), MarkingOutput("z_1", "z"))


def _node(network: Network, key: str, version: Version) -> Iterator[Event]:
    op, inputs = NODES[key]
    name = network.names[key]
    if version >= TEN:
        yield StaticCheck(name, op)
    yield ParsingNode(name, op)
    yield from (SearchingInput(network.tensor(tensor)) for tensor in inputs)
    yield NodeInputs(name, op, tuple(_tensor(network, tensor) for tensor in inputs))
    if op == "Conv":
        yield Message("V", f"Convolution input dimensions: ({', '.join(map(str, DIMS[inputs[0]]))})")
    elif op in {"MatMul", "Gemm", "LayerNormalization"}:
        constants = [tensor for tensor in inputs if tensor in WEIGHTS]
        yield from (RegisteringLayer(tensor, None if version >= TEN else tensor) for tensor in constants)
    yield RegisteringLayer(name, name)
    if op == "Conv":
        yield Message("V", f"Convolution output dimensions: ({', '.join(map(str, DIMS[key]))})")
    if key == "softmax_1":
        yield RegisteringLayer(HELPER, None) if version >= TEN else RegisteringLayer(OLD_HELPER, name)
    outputs = ("y", "z") if op == "TopK" else (key,)
    for index, output in enumerate(outputs):
        tensor = network.tensor(output)
        yield RegisteringTensor(f"{tensor}_{index}" if op == "TopK" else tensor, tensor)
    yield NodeOutputs(name, op, tuple(_tensor(network, output) for output in outputs))


def _tensor(network: Network, key: str) -> OnnxTensor:
    dims = WEIGHTS[key] if key in WEIGHTS else DIMS[key]
    dtype = {"token_shape": "INT64", "one": "INT64", "z": "INT32"}.get(key, "FLOAT")
    return OnnxTensor(network.tensor(key), dims, dtype)


def optimise(network: Network, layers: tuple[Layer, ...], original: int, version: Version) -> Iterator[Event]:
    """Yield the lines of the passes that turn ``original`` layers into the given ones."""
    if version >= TEN:
        yield StageCount("adding DebugOutput nodes", original)
    helper = HELPER if version >= TEN else OLD_HELPER
    yield from (RunningPass("ShuffleErasure", helper), RemovingLayer(helper))
    whole = sum(1 if layer.runners == ("Myelin",) else len(layer.members) for layer in layers)
    yield StageCount("Myelin optimization", whole)
    yield Message("V", "Applying ScaleNodes fusions.")
    yield StageCount("scale fusion", whole)
    for layer in layers:
        if layer.runners != ("Myelin",):
            yield from _fusions(network, layer)
    repeated = ("dupe layer removal", "final dead-layer removal", "tensor merging")
    for stage in (*repeated, "vertical fusions", *repeated, "slice removal", "concat removal"):
        yield StageCount(stage, len(layers))
    yield Message("V", "Trying to split Reshape and strided tensor")


def _fusions(network: Network, layer: Layer) -> Iterator[Event]:
    names = network.names
    members = layer.members
    if members[-1] in {"relu", "relu_1"}:
        first, second = (names[key] for key in members)
        yield from (RunningPass("ConvReluFusion", first), FusingPair("ConvReluFusion", first, second))
    if "sigmoid" in members:
        sigmoid, mul = names["sigmoid"], names["mul"]
        yield RunningPass("ActivationToPointwiseConversion", sigmoid)
        yield SwappingLayerType(sigmoid, "ACTIVATION", "POINTWISE")
        pointwise = f"PWN({sigmoid})"
        yield from (RunningPass("PointWiseFusion", pointwise), FusingPair("PointWiseFusion", pointwise, mul))
    if members[0] == "conv_1" and len(members) > 1:
        first, kind = names["conv_1"], "GenericConvActFusion"
        yield from (RunningPass(kind, first), FusingPair(kind, first, network.pointwise()))
    if members[-1] == "topk":
        first, kind = names["softmax_1"], "LogSoftmaxTopKFusion"
        yield from (RunningPass(kind, first), FusingPair(kind, first, names["topk"]))
