"""Makes the networks on which the search for FP32 nodes is held against the known answer.

Every network is random but for what is wrong with it in FP16. Weights are seeded, so a run repeats exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import numpy_helper

from tests.support.zoo.net import Net

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx

WIDTH, HEADS, TOKENS, BATCH = 64, 4, 16, 2
OVERFLOW = 70.0
"""Scales the operand of a normalisation: its squares leave FP16, their mean does not."""


def transformer(
    layers: int = 12, hot: Sequence[str] = ("/layers.5/ln2",), *, decomposed: bool = True
) -> onnx.ModelProto:
    """Return encoder layers as an exporter writes them; the operands of the ``hot`` normalisations are scaled up."""
    net = Net(opset=17)
    tensor = "x"
    for index in range(layers):
        scope = f"/layers.{index}"
        normal = _normalised(net, f"{scope}/ln1", tensor, hot, decomposed=decomposed)
        tensor = net.node("Add", f"{scope}/Add", [_attention(net, scope, normal), tensor])
        normal = _normalised(net, f"{scope}/ln2", tensor, hot, decomposed=decomposed)
        tensor = net.node("Add", f"{scope}/Add_1", [_mlp(net, f"{scope}/mlp", normal), tensor])
    tensor = _normalised(net, "/ln", tensor, hot, decomposed=decomposed)
    return net.model(tensor, {"x": (BATCH, TOKENS, WIDTH)}, (BATCH, TOKENS, WIDTH))


def _normalised(net: Net, scope: str, tensor: str, hot: Sequence[str], *, decomposed: bool) -> str:
    gain, bias = (net.tensor(f"{scope}.{name}", np.full(WIDTH, value)) for name, value in (("g", 1.0), ("b", 0.0)))
    if scope in hot:
        tensor = net.node("Mul", f"{scope}/scale", [tensor, net.constant(f"{scope}/factor", OVERFLOW)])
    if not decomposed:
        return net.node("LayerNormalization", f"{scope}/LayerNormalization", [tensor, gain, bias], axis=-1)
    two, epsilon = net.constant(f"{scope}/Constant", 2.0), net.constant(f"{scope}/Constant_1", 1e-5)
    mean = net.node("ReduceMean", f"{scope}/ReduceMean", [tensor], axes=[-1], keepdims=1)
    centred = net.node("Sub", f"{scope}/Sub", [tensor, mean])
    square = net.node("Pow", f"{scope}/Pow", [centred, two])
    variance = net.node("ReduceMean", f"{scope}/ReduceMean_1", [square], axes=[-1], keepdims=1)
    deviation = net.node("Sqrt", f"{scope}/Sqrt", [net.node("Add", f"{scope}/Add", [variance, epsilon])])
    normal = net.node("Div", f"{scope}/Div", [centred, deviation])
    return net.node("Add", f"{scope}/Add_1", [net.node("Mul", f"{scope}/Mul", [normal, gain]), bias])


def _linear(net: Net, scope: str, tensor: str, rows: int, columns: int) -> str:
    product = net.node("MatMul", f"{scope}/MatMul", [tensor, net.weight(f"{scope}.w", rows, columns)])
    return net.node("Add", f"{scope}/Add", [product, net.weight(f"{scope}.b", columns)])


def _attention(net: Net, scope: str, tensor: str) -> str:
    heads = []
    for part, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        projected = _linear(net, f"{scope}/{part}", tensor, WIDTH, WIDTH)
        size = net.constant(f"{scope}/{part}/Constant", [BATCH, TOKENS, HEADS, WIDTH // HEADS], np.int64)
        split = net.node("Reshape", f"{scope}/{part}/Reshape", [projected, size])
        heads.append(net.node("Transpose", f"{scope}/{part}/Transpose", [split], perm=order))
    product = net.node("MatMul", f"{scope}/MatMul", heads[:2])
    root = net.constant(f"{scope}/Constant", (WIDTH // HEADS) ** 0.5)
    weights = net.node("Softmax", f"{scope}/Softmax", [net.node("Div", f"{scope}/Div", [product, root])], axis=-1)
    mixed = net.node("MatMul", f"{scope}/MatMul_1", [weights, heads[2]])
    mixed = net.node("Transpose", f"{scope}/Transpose", [mixed], perm=[0, 2, 1, 3])
    size = net.constant(f"{scope}/Constant_1", [BATCH, TOKENS, WIDTH], np.int64)
    return _linear(net, f"{scope}/out", net.node("Reshape", f"{scope}/Reshape", [mixed, size]), WIDTH, WIDTH)


def _mlp(net: Net, scope: str, tensor: str) -> str:
    up = _linear(net, f"{scope}/up", tensor, WIDTH, 2 * WIDTH)
    root, one, half = (net.constant(f"{scope}/c{index}", value) for index, value in enumerate((2.0**0.5, 1.0, 0.5)))
    gate = net.node("Erf", f"{scope}/Erf", [net.node("Div", f"{scope}/Div", [up, root])])
    gated = net.node("Mul", f"{scope}/Mul", [up, net.node("Add", f"{scope}/Add", [gate, one])])
    return _linear(net, f"{scope}/down", net.node("Mul", f"{scope}/Mul_1", [gated, half]), 2 * WIDTH, WIDTH)


def residual(blocks: int = 8, hot: Sequence[int] = (1, 3, 6)) -> onnx.ModelProto:
    """Return a residual network; first convolutions of ``hot`` blocks leave FP16, their normalisation mends it."""
    net = Net(seed=3)
    tensor = net.node("Relu", "/stem/Relu", [_convolution(net, "/stem", "x", 3, 1.0)])
    for index in range(blocks):
        scope = f"/blocks.{index}"
        inner = _convolution(net, f"{scope}/a", tensor, 8, 4e5 if index in hot else 1.0)
        inner = _convolution(net, f"{scope}/b", net.node("Relu", f"{scope}/Relu", [inner]), 8, 1.0)
        tensor = net.node("Relu", f"{scope}/Relu_1", [net.node("Add", f"{scope}/Add", [inner, tensor])])
    pooled = net.node("Flatten", "/Flatten", [net.node("GlobalAveragePool", "/Pool", [tensor])])
    head = [pooled, net.weight("head.w", 8, 10), net.weight("head.b", 10)]
    return net.model(net.node("Gemm", "/head/Gemm", head), {"x": (2, 3, 16, 16)}, (2, 10))


def _convolution(net: Net, scope: str, tensor: str, channels: int, scale: float) -> str:
    weight = net.weight(f"{scope}.w", 8, channels, 3, 3, scale=0.1)
    if scale != 1.0:
        tensor = net.node("Mul", f"{scope}/scale", [tensor, net.constant(f"{scope}/factor", scale**0.5)])
        weight = net.tensor(f"{scope}.W", numpy_helper.to_array(net.initializers[-1]) * scale**0.5)
    tensor = net.node("Conv", f"{scope}/Conv", [tensor, weight], pads=[1, 1, 1, 1])
    statistics = [("scale", 1.0), ("shift", 0.1), ("mean", 0.0), ("variance", scale**2)]
    named = [net.tensor(f"{scope}.{name}", np.full(8, value)) for name, value in statistics]
    return net.node("BatchNormalization", f"{scope}/BatchNormalization", [tensor, *named])


def either() -> onnx.ModelProto:
    """Return two branches of which the smaller result counts: FP16 makes each infinite, and one right one is enough."""
    net = Net(seed=5)
    size = net.node("Abs", "/Abs", [net.node("MatMul", "/in/MatMul", ["x", net.weight("in.w", 32, 32)])])
    branches = []
    for name, factor in (("left", 60000.0), ("right", 50000.0)):
        constant = net.tensor(f"{name}.factor", factor)
        large = net.node("Mul", f"/{name}/Mul", [size, constant])
        branches.append(net.node("Div", f"/{name}/Div", [large, constant]))
    smaller = net.node("Min", "/Min", branches)
    return net.model(net.node("MatMul", "/out/MatMul", [smaller, net.weight("out.w", 32, 8)]), {"x": (4, 32)}, (4, 8))


def clamped() -> onnx.ModelProto:
    """Return two branches, each with a factor beyond FP16 on small values: one node each is wrong, all tensors fit."""
    net = Net(seed=7)
    parts = []
    for name in ("left", "right"):
        hidden = net.node("MatMul", f"/{name}/MatMul", ["x", net.weight(f"{name}.w", 32, 32)])
        shares = net.node("Softmax", f"/{name}/Softmax", [hidden], axis=-1)
        scaled = net.node("Mul", f"/{name}/Mul", [shares, net.tensor(f"{name}.factor", 2e5)])
        parts.append(
            net.node(
                "Tanh", f"/{name}/Tanh", [net.node("Mul", f"/{name}/back", [scaled, net.tensor(f"{name}.b", 1e-4)])]
            )
        )
    return net.model(net.node("Add", "/Add", parts), {"x": (4, 32)}, (4, 32))
