"""Builds two small networks with TensorRT-RTX on the CPU and stores models and verbose logs next to this script.

``python testdata/make_rtx.py`` needs the package ``tensorrt_rtx`` and no GPU: engines are compiled ahead of time for
a compute capability. Every build runs in a child process, whose output is the log.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

HERE = Path(__file__).resolve().parent
WIDTH, HEADS, TOKENS, BATCH = 32, 4, 16, 2
CHANNELS, CLASSES = 16, 10


class Graph:
    """An ONNX graph in the making, with seeded weights."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, name: str, values: npt.ArrayLike, dtype: npt.DTypeLike) -> str:
        """Add an initializer and return its name."""
        self.initializers.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def weight(self, name: str, *dims: int, dtype: npt.DTypeLike = np.float32) -> str:
        """Add random weights and return their name."""
        return self.constant(name, self.random.standard_normal(dims) * 0.1, dtype)

    def add(self, op: str, scope: str, inputs: Sequence[str], **attributes: object) -> str:
        """Add a node of one output, named after its scope as exporters do, and return the output."""
        name = f"{scope}/{op}"
        output = f"{name}_output_0"
        node = helper.make_node(op, list(inputs), [output], name=name)
        node.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
        self.nodes.append(node)
        return output

    def model(self, output: str, inputs: Sequence[int], outputs: Sequence[int]) -> onnx.ModelProto:
        """Return the model from the input ``x`` to an output, which becomes ``y``."""
        self.nodes.append(helper.make_node("Identity", [output], ["y"], name="/Identity"))
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, list(inputs))
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, list(outputs))
        graph = helper.make_graph(self.nodes, "graph", [x], [y], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="make_rtx")
        model.ir_version = 9
        onnx.checker.check_model(model, full_check=True)
        return model


def transformer() -> onnx.ModelProto:
    """Return three encoder layers: attention in FP16, LayerNormalization and Softmax in FP32, a GELU between."""
    graph = Graph(seed=17)
    graph.constant("split_heads", [0, 0, HEADS, WIDTH // HEADS], np.int64)
    graph.constant("join_heads", [0, 0, WIDTH], np.int64)
    graph.constant("scale", (WIDTH // HEADS) ** -0.5, np.float16)
    graph.constant("half", 0.5, np.float32)
    graph.constant("one", 1.0, np.float32)
    graph.constant("root_of_half", 0.5**0.5, np.float32)
    tensor = "x"
    for index in range(3):
        tensor = _mlp(graph, f"/layers.{index}/mlp", _attention(graph, f"/layers.{index}/attention", tensor))
    tensor = graph.add("ReduceMean", "/pool", [tensor], axes=[1], keepdims=0)
    head = graph.weight("head.weight", WIDTH, CLASSES)
    tensor = graph.add("Softmax", "/head", [graph.add("MatMul", "/head", [tensor, head])], axis=-1)
    return graph.model(tensor, (BATCH, TOKENS, WIDTH), (BATCH, CLASSES))


def _normalised(graph: Graph, scope: str, tensor: str) -> str:
    gain, bias = (graph.weight(f"{scope}.{part}", WIDTH) for part in ("gain", "bias"))
    return graph.add("LayerNormalization", scope, [tensor, gain, bias], axis=-1)


def _attention(graph: Graph, scope: str, tensor: str) -> str:
    half = graph.add("Cast", f"{scope}/to_half", [_normalised(graph, f"{scope}/norm", tensor)], to=TensorProto.FLOAT16)
    heads = {}
    for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        weight = graph.weight(f"{scope}.{part}", WIDTH, WIDTH, dtype=np.float16)
        projected = graph.add("MatMul", f"{scope}/{part}", [half, weight])
        split = graph.add("Reshape", f"{scope}/{part}", [projected, "split_heads"])
        heads[part] = graph.add("Transpose", f"{scope}/{part}", [split], perm=order)
    scaled = graph.add("Mul", scope, [heads["query"], "scale"])
    scores = graph.add(
        "Cast", f"{scope}/to_float", [graph.add("MatMul", f"{scope}/scores", [scaled, heads["key"]])], to=1
    )
    probabilities = graph.add("Softmax", scope, [scores], axis=-1)
    again = graph.add("Cast", f"{scope}/again_half", [probabilities], to=TensorProto.FLOAT16)
    context = graph.add("MatMul", f"{scope}/context", [again, heads["value"]])
    joined = graph.add("Transpose", f"{scope}/context", [context], perm=[0, 2, 1, 3])
    joined = graph.add("Reshape", f"{scope}/context", [joined, "join_heads"])
    weight = graph.weight(f"{scope}.out", WIDTH, WIDTH, dtype=np.float16)
    out = graph.add("Cast", f"{scope}/out", [graph.add("MatMul", f"{scope}/out", [joined, weight])], to=1)
    return graph.add("Add", scope, [out, tensor])


def _mlp(graph: Graph, scope: str, tensor: str) -> str:
    wide = graph.weight(f"{scope}.up", WIDTH, 2 * WIDTH)
    narrow = graph.weight(f"{scope}.down", 2 * WIDTH, WIDTH)
    up = graph.add("MatMul", f"{scope}/up", [_normalised(graph, f"{scope}/norm", tensor), wide])
    gate = graph.add("Erf", f"{scope}/gelu", [graph.add("Mul", f"{scope}/gelu/in", [up, "root_of_half"])])
    gate = graph.add("Add", f"{scope}/gelu", [gate, "one"])
    active = graph.add("Mul", f"{scope}/gelu", [up, gate])
    active = graph.add("Mul", f"{scope}/gelu/out", [active, "half"])
    return graph.add("Add", scope, [graph.add("MatMul", f"{scope}/down", [active, narrow]), tensor])


def convnet() -> onnx.ModelProto:
    """Return a stem, a maximum pooling, two residual blocks and a classifier."""
    graph = Graph(seed=23)
    tensor = graph.add("Relu", "/stem", [_convolution(graph, "/stem", "x", 3)])
    tensor = graph.add("MaxPool", "/stem", [tensor], kernel_shape=[2, 2], strides=[2, 2])
    for index in range(2):
        scope = f"/blocks.{index}"
        inner = graph.add("Relu", f"{scope}/inner", [_convolution(graph, f"{scope}/first", tensor, CHANNELS)])
        added = graph.add("Add", scope, [_convolution(graph, f"{scope}/second", inner, CHANNELS), tensor])
        tensor = graph.add("Relu", scope, [added])
    pooled = graph.add("Flatten", "/head", [graph.add("GlobalAveragePool", "/head", [tensor])])
    weight, bias = graph.weight("head.weight", CHANNELS, CLASSES), graph.weight("head.bias", CLASSES)
    return graph.model(graph.add("Gemm", "/head", [pooled, weight, bias]), (BATCH, 3, 32, 32), (BATCH, CLASSES))


def _convolution(graph: Graph, scope: str, tensor: str, channels: int) -> str:
    """Add a convolution with its batch normalisation."""
    weight = graph.weight(f"{scope}.weight", CHANNELS, channels, 3, 3)
    tensor = graph.add("Conv", scope, [tensor, weight], pads=[1, 1, 1, 1])
    statistics = [graph.weight(f"{scope}.{part}", CHANNELS) for part in ("scale", "shift", "mean")]
    statistics.append(graph.constant(f"{scope}.variance", np.ones(CHANNELS), np.float32))
    return graph.add("BatchNormalization", scope, [tensor, *statistics])


MODELS: Mapping[str, Callable[[], onnx.ModelProto]] = {"transformer": transformer, "convnet": convnet}


def build(model: Path) -> bool:
    """Build an engine for compute capability 8.9 in this process, logging all there is; return whether it was built."""
    import tensorrt_rtx as trt  # noqa: PLC0415 - only the child process loads it

    logger = trt.Logger(trt.Logger.VERBOSE)
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    parser = trt.OnnxParser(network, logger)
    if not parser.parse(model.read_bytes()):
        return False
    config = builder.create_builder_config()
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    config.num_compute_capabilities = 1
    config.set_compute_capability(trt.ComputeCapability.SM89, 0)
    return builder.build_serialized_network(network, config) is not None


def main(arguments: Sequence[str]) -> int:
    """Write every model and its log; ``--child FILE`` builds one model in this process."""
    if arguments[:1] == ["--child"]:
        return 0 if build(Path(arguments[1])) else 1
    for name, make in MODELS.items():
        path = HERE / "models" / f"{name}.onnx"
        onnx.save(make(), str(path))
        child = [sys.executable, __file__, "--child", str(path)]
        done = subprocess.run(child, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)  # noqa: S603 - ourselves
        (HERE / "logs" / f"rtx-{name}.log").write_bytes(done.stdout)
        print(f"rtx-{name}.log: {len(done.stdout)} bytes; {path.name}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
