"""Sums, products and exponentials that leave FP16 or lose what matters, and indices that decide what is computed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto

from tests.support.zoo.model import ZooModel, nodes
from tests.support.zoo.net import Net, feeds

if TYPE_CHECKING:
    import onnx

_WIDTH, _ROWS = 32, 4
_LONG = 750
_BLOCKS, _PRODUCTS = 29, 9


def models() -> list[ZooModel]:
    """Return the models."""
    samples = feeds(3, _ROWS, _WIDTH)
    pair = frozenset({"/up", "/down"})
    none: frozenset[str] = frozenset()
    product, filters, images = frozenset({"/out/MatMul"}), frozenset({"/filters/Conv"}), feeds(2, 1, 8, 6, 6)
    scores = nodes("/attention", "MatMul", "Mul")
    exponential = frozenset({"/Exp", "/ReduceSum", "/Log"})
    cubes = nodes("/gelu", "Pow", "Mul")
    tokens = [{"ids": np.arange(start, start + 24).reshape(2, 12) % 50} for start in (0, 30)]
    factors = nodes("/left", "Mul") | nodes("/right", "Mul")
    hot = frozenset({"/square/Mul", "/ReduceMean", "/Sqrt"})
    long = frozenset(f"/blocks.{index}/{op}" for index in (200, 500) for op in ("Mul", "Mul_1"))
    most = frozenset(f"/blocks.{index}/{op}" for index in range(_BLOCKS) for op in ("Mul", "Add", "Div"))
    return [
        ZooModel("cancellation", partial(_cancelling, 3000.0), samples, pair, pair, rounding=True),
        ZooModel("classifier that cancels", _classifier, samples, pair, pair, rounding=True),
        ZooModel("top class of a classifier", partial(_classifier, top=True), samples, pair, pair, rounding=True),
        ZooModel(
            "cancellation in BF16", partial(_cancelling, 400.0), samples, pair, pair, precision="bf16", rounding=True
        ),
        ZooModel(
            "BF16 in operator set 11",
            partial(_cancelling, 400.0, opset=11),
            samples,
            pair,
            pair,
            precision="bf16",
            rounding=True,
        ),
        ZooModel("flushed to zero", partial(_scaled, 1e-9, 1e9), samples, pair, pair),
        ZooModel("GELU by Tanh", _gelu, samples, none, cubes),
        ZooModel("scores beyond FP16", _scores, samples, scores, scores),
        ZooModel("sum that leaves FP16 on the way", _partial_sums, samples, product, product, accumulate="fp16"),
        ZooModel("convolution that leaves FP16 on the way", _filters, images, filters, filters, accumulate="fp16"),
        ZooModel("sum of exponentials", _exponentials, samples, exponential, exponential),
        ZooModel("two clamped factors", _clamped, samples, factors, factors),
        ZooModel("rare tokens", _tokens, tokens, hot, hot),
        ZooModel("names with every character", _names, samples, frozenset(_ODD), frozenset(_ODD)),
        ZooModel("87 of 125 nodes", _mostly_large, samples, most, most),
        ZooModel("3,000 nodes", _deep, feeds(1, 2, 8), long, long, large=True),
    ]


_ODD = ("up, with: every*character 'and' \"quotes\"", "down\\n\té中 $HOME `x` #;|&{}[]%~^<>")


def _cancelling(offset: float, opset: int = 17) -> onnx.ModelProto:
    net = Net(seed=31, opset=opset)
    hidden = net.linear("/in", "x", _WIDTH, _WIDTH)
    large = net.node("Add", "/up", [hidden, net.tensor("offset", offset)])
    back = net.node("Sub", "/down", [large, net.tensor("offset_again", offset)])
    return net.model(net.linear("/out", back, _WIDTH, _WIDTH), {"x": (_ROWS, _WIDTH)}, (_ROWS, _WIDTH))


def _classifier(*, top: bool = False) -> onnx.ModelProto:
    net = Net(seed=32)
    logits = net.linear("/in", "x", _WIDTH, 10)
    large = net.node("Add", "/up", [logits, net.tensor("offset", 30000.0)])
    back = net.node("Sub", "/down", [large, net.tensor("offset_again", 30000.0)])
    if not top:
        return net.model(back, {"x": (_ROWS, _WIDTH)}, (_ROWS, 10))
    best = net.node("ArgMax", "/ArgMax", [back], axis=-1, keepdims=0)
    return net.model(best, {"x": (_ROWS, _WIDTH)}, (_ROWS,), types={"y": TensorProto.INT64})


def _scaled(first: float, second: float) -> onnx.ModelProto:
    net = Net(seed=33)
    moved = net.node("Mul", "/up", ["x", net.tensor("first", first)])
    return net.model(
        net.node("Div", "/down", [moved, net.tensor("second", 1.0 / second)]), {"x": (_ROWS, _WIDTH)}, (_ROWS, _WIDTH)
    )


def _gelu() -> onnx.ModelProto:
    net = Net(seed=34)
    wide = net.node("Mul", "/wide/Mul", ["x", net.constant("/wide/scale", 30.0)])
    cube = net.node("Pow", "/gelu/Pow", [wide, net.constant("/gelu/three", 3.0)])
    inner = net.node(
        "Add", "/gelu/Add", [wide, net.node("Mul", "/gelu/Mul", [cube, net.constant("/gelu/c", 0.044715)])]
    )
    gate = net.node("Tanh", "/gelu/Tanh", [net.node("Mul", "/gelu/Mul_1", [inner, net.constant("/gelu/d", 0.797885)])])
    whole = net.node(
        "Mul", "/gelu/Mul_2", [wide, net.node("Add", "/gelu/Add_1", [gate, net.constant("/gelu/one", 1.0)])]
    )
    return net.model(whole, {"x": (_ROWS, _WIDTH)}, (_ROWS, _WIDTH))


def _scores() -> onnx.ModelProto:
    net = Net(seed=35)
    large = net.node("Mul", "/large/Mul", ["x", net.constant("/large/scale", 300.0)])
    turned = net.node("Transpose", "/attention/Transpose", [large], perm=[1, 0])
    scores = net.node("MatMul", "/attention/MatMul", [large, turned])
    small = net.node("Mul", "/attention/Mul", [scores, net.constant("/attention/scale", 1e-6)])
    weights = net.node("Softmax", "/attention/Softmax", [small], axis=-1)
    return net.model(net.node("MatMul", "/attention/MatMul_1", [weights, "x"]), {"x": (_ROWS, _WIDTH)}, (_ROWS, _WIDTH))


def _partial_sums() -> onnx.ModelProto:
    """Return a sum of 32 terms up and 32 down, which cancel so little that rounding costs a third of the cap."""
    net = Net(seed=41)
    gates = net.node("Sigmoid", "/gates/Sigmoid", [net.linear("/gates", "x", _WIDTH, 2 * _WIDTH)])
    weights = np.repeat([[8000.0], [-6500.0]], _WIDTH, axis=0) * np.linspace(0.9, 1.1, _WIDTH)
    sums = net.node("MatMul", "/out/MatMul", [gates, net.tensor("signed", weights)])
    small = net.node("Mul", "/out/Mul", [sums, net.constant("/out/scale", 1e-3)])
    return net.model(small, {"x": (_ROWS, _WIDTH)}, (_ROWS, _WIDTH))


def _filters() -> onnx.ModelProto:
    net = Net(seed=42)
    gates = net.node("Sigmoid", "/gates/Sigmoid", ["x"])
    signs = np.repeat([8000.0, -8000.0], 4)[None, :, None, None]
    weights = np.broadcast_to(signs, (3, 8, 3, 3)) * np.linspace(0.9, 1.1, 3)[:, None, None, None]
    inputs = [gates, net.tensor("signed", weights), net.tensor("bias", [1.0, 2.0, 3.0])]
    sums = net.node("Conv", "/filters/Conv", inputs, pads=[1, 1, 1, 1])
    return net.model(
        net.node("Tanh", "/Tanh", [net.node("Mul", "/Mul", [sums, net.tensor("scale", 1e-4)])]),
        {"x": (1, 8, 6, 6)},
        (1, 3, 6, 6),
    )


def _exponentials() -> onnx.ModelProto:
    net = Net(seed=36)
    wide = net.node("Mul", "/wide/Mul", ["x", net.constant("/wide/scale", 6.0)])
    total = net.over_axes("ReduceSum", "/ReduceSum", net.node("Exp", "/Exp", [wide]), [-1], keepdims=1)
    return net.model(net.node("Log", "/Log", [total]), {"x": (_ROWS, _WIDTH)}, (_ROWS, 1))


def _clamped() -> onnx.ModelProto:
    net = Net(seed=37)
    parts = []
    for name in ("left", "right"):
        shares = net.node("Softmax", f"/{name}/Softmax", [net.linear(f"/{name}", "x", _WIDTH, _WIDTH)], axis=-1)
        scaled = net.node("Mul", f"/{name}/Mul", [shares, net.tensor(f"{name}.factor", 2e5)])
        back = net.node("Mul", f"/{name}/back", [scaled, net.tensor(f"{name}.b", 1e-4)])
        parts.append(net.node("Tanh", f"/{name}/Tanh", [back]))
    return net.model(net.node("Add", "/Add", parts), {"x": (_ROWS, _WIDTH)}, (_ROWS, _WIDTH))


def _tokens() -> onnx.ModelProto:
    net = Net(seed=38)
    table = np.random.default_rng(5).standard_normal((50, 16))
    table[[7, 37]] *= 800.0
    found = net.node("Gather", "/embed/Gather", [net.tensor("table", table), "ids"])
    square = net.node("Mul", "/square/Mul", [found, found])
    mean = net.over_axes("ReduceMean", "/ReduceMean", square, [-1], keepdims=1)
    normal = net.node("Div", "/Div", [found, net.node("Sqrt", "/Sqrt", [mean])])
    return net.model(normal, {"ids": (2, 12)}, (2, 12, 16), types={"ids": TensorProto.INT64})


def _mostly_large() -> onnx.ModelProto:
    net = Net(seed=41)
    tensor = "x"
    for index in range(_BLOCKS):
        scope = f"/blocks.{index}"
        if index < _PRODUCTS:
            tensor = net.linear(scope, tensor, _WIDTH, _WIDTH)
        factor = net.tensor(f"{scope}.factor", 60000.0)
        up = net.node("Mul", f"{scope}/Mul", [tensor, factor])
        moved = net.node("Add", f"{scope}/Add", [up, net.tensor(f"{scope}.shift", 9000.0)])
        back = net.node("Div", f"{scope}/Div", [moved, factor])
        tensor = net.node("Mul", f"{scope}/share", [back, net.tensor(f"{scope}.share", 0.98)])
    return net.model(tensor, {"x": (_ROWS, _WIDTH)}, (_ROWS, _WIDTH))


def _names() -> onnx.ModelProto:
    net = Net(seed=39)
    up, down = _ODD
    large = net.node("Mul", up, ["x", net.tensor("k", 60000.0)])
    return net.model(net.node("Div", down, [large, "k"]), {"x": (_ROWS, _WIDTH)}, (_ROWS, _WIDTH))


def _deep() -> onnx.ModelProto:
    net = Net(seed=40)
    tensor = "x"
    for index in range(_LONG):
        scope = f"/blocks.{index}"
        factor = 5e4 if index in {200, 500} else 1.0
        up = net.node("Mul", f"{scope}/Mul", [tensor, net.tensor(f"{scope}.up", factor)])
        down = net.node("Mul", f"{scope}/Mul_1", [up, net.tensor(f"{scope}.down", 1.0 / factor)])
        gate = net.node("Sin", f"{scope}/Sin", [down])
        tensor = net.node("Add", f"{scope}/Add", [gate, "x"])
    return net.model(tensor, {"x": (2, 8)}, (2, 8))
