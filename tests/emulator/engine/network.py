"""The little network whose builds are simulated: its ONNX nodes, its tensors, and the layers a strategy makes of it."""

from __future__ import annotations

from itertools import starmap
from math import prod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

RUNNER_IDS: Mapping[str, int] = {
    "CudnnConvolution": 0x80000000,
    "Reformat": 0x80000006,
    "CaskConvolution": 0x80000009,
    "Shuffle": 0x8000000D,
    "LogSoftmaxTopK": 0x80000022,
    "Myelin": 0x80000023,
    "PointWiseV2": 0x80000028,
    "CaskGemmConvolution": 0x8000002E,
    "CaskPooling": 0x8000002F,
    "CaskFlattenConvolution": 0x80000036,
}
"""Runner ids as TensorRT 8.6 and later print them."""

DIMS: Mapping[str, tuple[int, ...]] = {
    "x": (-1, 3, 32, 32),
    "conv": (-1, 16, 32, 32),
    "relu": (-1, 16, 32, 32),
    "pool": (-1, 16, 16, 16),
    "conv_1": (-1, 32, 16, 16),
    "sigmoid": (-1, 32, 16, 16),
    "mul": (-1, 32, 16, 16),
    "conv_2": (-1, 64, 16, 16),
    "relu_1": (-1, 64, 16, 16),
    "view": (-1, 64, 256),
    "norm": (-1, 64, 256),
    "query": (-1, 64, 256),
    "key": (-1, 64, 256),
    "value": (-1, 64, 256),
    "transpose": (-1, 256, 64),
    "scores": (-1, 64, 64),
    "softmax": (-1, 64, 64),
    "context": (-1, 64, 256),
    "add": (-1, 64, 256),
    "mean": (-1, 256),
    "linear": (-1, 10),
    "softmax_1": (-1, 10),
    "y": (-1, 1),
    "z": (-1, 1),
}
"""Dimensions by the key of the node that makes the tensor; inputs and outputs by their own names."""

NODES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "conv": ("Conv", ("x", "stem.weight", "stem.bias")),
    "relu": ("Relu", ("conv",)),
    "pool": ("MaxPool", ("relu",)),
    "conv_1": ("Conv", ("pool", "body.weight", "body.bias")),
    "sigmoid": ("Sigmoid", ("conv_1",)),
    "mul": ("Mul", ("conv_1", "sigmoid")),
    "conv_2": ("Conv", ("mul", "neck.weight", "neck.bias")),
    "relu_1": ("Relu", ("conv_2",)),
    "view": ("Reshape", ("relu_1", "token_shape")),
    "norm": ("LayerNormalization", ("view", "norm.weight", "norm.bias")),
    "query": ("MatMul", ("norm", "query.weight")),
    "key": ("MatMul", ("norm", "key.weight")),
    "value": ("MatMul", ("norm", "value.weight")),
    "transpose": ("Transpose", ("key",)),
    "scores": ("MatMul", ("query", "transpose")),
    "softmax": ("Softmax", ("scores",)),
    "context": ("MatMul", ("softmax", "value")),
    "add": ("Add", ("context", "view")),
    "mean": ("ReduceMean", ("add",)),
    "linear": ("Gemm", ("mean", "head.weight", "head.bias")),
    "softmax_1": ("Softmax", ("linear",)),
    "topk": ("TopK", ("softmax_1", "one")),
}
"""Operator and inputs of each ONNX node, in the order in which the parser meets them."""

WEIGHTS: Mapping[str, tuple[int, ...]] = {
    "stem.weight": (16, 3, 3, 3),
    "stem.bias": (16,),
    "body.weight": (32, 16, 3, 3),
    "body.bias": (32,),
    "neck.weight": (64, 32, 1, 1),
    "neck.bias": (64,),
    "token_shape": (3,),
    "norm.weight": (256,),
    "norm.bias": (256,),
    "query.weight": (256, 256),
    "key.weight": (256, 256),
    "value.weight": (256, 256),
    "head.weight": (10, 256),
    "head.bias": (10,),
    "one": (1,),
}
"""Dimensions of the model's initializers."""

TORCH_NAMES: Mapping[str, str] = {
    "conv": "node_conv2d",
    "relu": "node_relu",
    "pool": "node_max_pool2d",
    "conv_1": "node_conv2d_1",
    "sigmoid": "node_sigmoid",
    "mul": "node_mul",
    "conv_2": "node_conv2d_2, 1x1",
    "relu_1": "node_relu_1",
    "view": "tokens -> heads",
    "norm": "node_layer_norm",
    "query": "node_query",
    "key": "node_key",
    "value": "node_value",
    "transpose": "node_transpose",
    "scores": "node_scores",
    "softmax": "node_softmax",
    "context": "node_context",
    "add": "node_add",
    "mean": "node_mean",
    "linear": "node_linear",
    "softmax_1": "node_softmax_1",
    "topk": "node_topk",
}
"""Node names as newer exporters give them; two hold the separators of fused names and of format combinations."""

SCOPED_NAMES: Mapping[str, str] = {
    "conv": "/stem/conv/Conv",
    "relu": "/stem/act/Relu",
    "pool": "/stem/pool/MaxPool",
    "conv_1": "/body/conv/Conv",
    "sigmoid": "/body/act/Sigmoid",
    "mul": "/body/act/Mul",
    "conv_2": "/neck/1x1, wide/Conv",
    "relu_1": "/neck/act/Relu",
    "view": "/tokens -> heads/Reshape",
    "norm": "/block/norm/LayerNormalization",
    "query": "/block/attention/query/MatMul",
    "key": "/block/attention/key/MatMul",
    "value": "/block/attention/value/MatMul",
    "transpose": "/block/attention/Transpose",
    "scores": "/block/attention/MatMul",
    "softmax": "/block/attention/Softmax",
    "context": "/block/attention/MatMul_1",
    "add": "/block/Add",
    "mean": "/head/ReduceMean",
    "linear": "/head/fc/Gemm",
    "softmax_1": "/head/Softmax",
    "topk": "/head/TopK",
}
"""Node names as older exporters give them."""


class Format(NamedTuple):
    """Memory layout of a tensor: ``components`` channels packed together, 1 with ``channels_last``, 0 for linear."""

    dtype: str
    components: int = 0

    def strides(self, dims: tuple[int, ...]) -> str:
        """Spell the format with its strides, outermost first: ``Half(4096,1:8,128,4)``."""
        if not self.components or len(dims) != 4:
            steps = [prod(dims[axis + 1 :]) for axis in range(len(dims))]
            return f"{self.dtype}({','.join(map(str, steps))})"
        _, channels, height, width = dims
        vectors = -(-channels // self.components)
        packed = f"1:{self.components}" if self.components > 1 else "1"
        return f"{self.dtype}({vectors * height * width},{packed},{vectors * width},{vectors})"

    def steps(self, dims: tuple[int, ...]) -> tuple[int, ...]:
        """Return the strides in elements (of a vectorised format: in vectors' units, as TensorRT gives them)."""
        spelled = self.strides(dims).partition("(")[2].rstrip(")").split(",")
        return tuple(int(step.partition(":")[0]) for step in spelled)

    def vectorised(self, dims: tuple[int, ...]) -> tuple[int, int]:
        """Return the vectorised dimension, -1 for none, and the components of an element."""
        return (1, self.components) if self.components > 1 and len(dims) == 4 else (-1, 1)

    def dims(self, dims: tuple[int, ...]) -> tuple[str, ...]:
        """Spell the dimensions as the engine dump does: the second one ``16:8`` where it is vectorised."""
        packed = f":{self.components}" if self.components > 1 and len(dims) == 4 else ""
        return tuple(f"{size}{packed if axis == 1 else ''}" for axis, size in enumerate(dims))


FLOAT = Format("Float")
HALF = Format("Half")
FLOAT_NHWC = Format("Float", 1)
HALF_2 = Format("Half", 2)
HALF_8 = Format("Half", 8)
INT32 = Format("Int32")


class Layer(NamedTuple):
    """A layer after fusion: its ONNX members by key, its tensors by key, the runners that are tried, its cost in ms."""

    name: str
    runners: tuple[str, ...]
    members: tuple[str, ...]
    source: str
    targets: tuple[str, ...]
    formats: tuple[tuple[Format, tuple[Format, ...]], ...]
    ms: float


class Network(NamedTuple):
    """The network under one set of node names."""

    names: Mapping[str, str]

    def tensor(self, key: str) -> str:
        """Return the name of the tensor that the node of this key makes, or of a network input or output."""
        if key not in self.names:
            return key
        return f"{self.names[key]}_output_0" if self.names is SCOPED_NAMES else key

    def pointwise(self) -> str:
        """Return the name of the fused activation."""
        return f"PWN(PWN({self.names['sigmoid']}), {self.names['mul']})"

    def layers(self, strategy: int) -> tuple[Layer, ...]:
        """Return the layers, in order, that a backend strategy makes of the network."""
        return tuple(starmap(self._layer, _plan(strategy)))

    def _layer(self, kind: str, members: tuple[str, ...], source: str, targets: tuple[str, ...], ms: float) -> Layer:
        name = self._fused_name(kind, members)
        return Layer(name, RUNNERS[kind], members, source, targets, FORMATS[kind], ms)

    def _fused_name(self, kind: str, members: tuple[str, ...]) -> str:
        if kind == "foreign":
            return f"{{ForeignNode[{self.names[members[0]]}...{self.names[members[-1]]}]}}"
        plain = [self.names[key] for key in members if key not in {"sigmoid", "mul"}]
        return " + ".join([*plain, self.pointwise()] if "mul" in members else plain)


_BLOCK = ("norm", "query", "key", "value", "transpose", "scores", "softmax", "context", "add", "mean", "linear")

RUNNERS: Mapping[str, tuple[str, ...]] = {
    "convolution": ("CaskConvolution", "CaskFlattenConvolution"),
    "convolution 1x1": ("CaskGemmConvolution", "CaskConvolution", "CaskFlattenConvolution"),
    "pooling": ("CaskPooling",),
    "pointwise": ("PointWiseV2",),
    "shuffle": ("Shuffle",),
    "foreign": ("Myelin",),
    "topk": ("LogSoftmaxTopK",),
}
"""Runners that are tried, by the kind of the layer."""

_SAME = tuple((layout, (layout,)) for layout in (FLOAT, FLOAT_NHWC, HALF, HALF_2, HALF_8))

FORMATS: Mapping[str, tuple[tuple[Format, tuple[Format, ...]], ...]] = {
    "convolution": _SAME,
    "convolution 1x1": _SAME,
    "pooling": tuple((layout, (layout,)) for layout in (FLOAT, HALF, HALF_8)),
    "pointwise": tuple((layout, (layout,)) for layout in (FLOAT, HALF, HALF_8)),
    "shuffle": ((FLOAT, (FLOAT,)), (HALF, (HALF,)), (HALF_8, (HALF,))),
    "foreign": ((FLOAT, (FLOAT,)), (HALF, (HALF,))),
    "topk": ((FLOAT, (FLOAT, INT32)), (HALF, (HALF, INT32))),
}
"""Formats of the input and of the outputs that go together, by the kind of the layer."""

_Row = tuple[str, tuple[str, ...], str, tuple[str, ...], float]


def _plan(strategy: int) -> tuple[_Row, ...]:
    """Return kind, members, input, outputs and cost of the layers: 3 prefers Myelin, 2 fuses the activation."""
    stem: _Row = ("convolution", ("conv", "relu"), "x", ("relu",), 0.0105)
    if strategy == 3:
        stem = ("foreign", ("conv", "relu"), "x", ("relu",), 0.0021)
    body: tuple[_Row, ...] = (
        ("convolution", ("conv_1",), "pool", ("conv_1",), 0.0083),
        ("pointwise", ("sigmoid", "mul"), "conv_1", ("mul",), 0.0031),
    )
    if strategy == 2:
        body = (("convolution", ("conv_1", "sigmoid", "mul"), "pool", ("mul",), 0.0129),)
    return (
        stem,
        ("pooling", ("pool",), "relu", ("pool",), 0.0026),
        *body,
        ("convolution 1x1", ("conv_2", "relu_1"), "mul", ("relu_1",), 0.0052),
        ("shuffle", ("view",), "relu_1", ("view",), 0.0034),
        ("foreign", _BLOCK, "view", ("linear",), 0.0312),
        ("topk", ("softmax_1", "topk"), "linear", ("y", "z"), 0.0023),
    )
