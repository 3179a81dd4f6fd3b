"""Models of mixed types: quantized, with sections in FP16, BF16 or float64, and with weights in a file of their own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto

from tests.support.zoo.model import ZooModel
from tests.support.zoo.net import Net, feeds

if TYPE_CHECKING:
    import onnx

_SIZE = (4, 16)


def models() -> list[ZooModel]:
    """Return the models."""
    pair = frozenset({"/up", "/down"})
    samples = feeds(3, *_SIZE)
    sections = {"FP16": TensorProto.FLOAT16, "BF16": TensorProto.BFLOAT16, "float64": TensorProto.DOUBLE}
    return [
        *(ZooModel(f"{name} inside", partial(_section, kind), samples, pair, pair) for name, kind in sections.items()),
        ZooModel("quantized", _quantized, samples, pair, pair),
        ZooModel("external data", _plain, samples, pair, pair, external=True),
    ]


def _up_and_down(net: Net, tensor: str) -> str:
    large = net.node("Mul", "/up", [tensor, net.tensor("k", 60000.0)])
    return net.node("Div", "/down", [large, "k"])


def _section(kind: int) -> onnx.ModelProto:
    net = Net(seed=41, opset=19)
    other = net.node("Cast", "/section/in", [net.linear("/in", "x", 16, 16)], to=kind)
    two = net.node("Cast", "/section/two", [net.constant("/section/value", 2.0)], to=kind)
    doubled = net.node("Mul", "/section/Mul", [net.node("Tanh", "/section/Tanh", [other]), two])
    back = net.node("Cast", "/section/out", [doubled], to=TensorProto.FLOAT)
    return net.model(_up_and_down(net, back), {"x": _SIZE}, _SIZE)


def _quantized() -> onnx.ModelProto:
    net = Net(seed=42)
    weight = net.node("DequantizeLinear", "/w/DequantizeLinear", [_integers(net), net.tensor("w.scale", 0.004), "zero"])
    rounded = _requantized(net, "/x", "x", 0.03)
    product = net.node("MatMul", "/MatMul", [rounded, weight])
    return net.model(_up_and_down(net, product), {"x": _SIZE}, _SIZE)


def _integers(net: Net) -> str:
    net.tensor("zero", 0, np.int8)
    return net.tensor("w", np.random.default_rng(6).integers(-127, 128, (16, 16)), np.int8)


def _requantized(net: Net, scope: str, tensor: str, scale: float) -> str:
    step = net.tensor(f"{scope}.scale", scale)
    narrow = net.node("QuantizeLinear", f"{scope}/QuantizeLinear", [tensor, step, "zero"])
    return net.node("DequantizeLinear", f"{scope}/DequantizeLinear", [narrow, step, "zero"])


def _plain() -> onnx.ModelProto:
    net = Net(seed=43)
    return net.model(_up_and_down(net, net.linear("/in", "x", 16, 16)), {"x": _SIZE}, _SIZE)
