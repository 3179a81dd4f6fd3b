"""Normalisations whose squares or sums leave FP16, and the epsilon that it flushes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tests.support.zoo.model import ZooModel, nodes
from tests.support.zoo.net import Net, feeds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx

_WIDTH, _ROWS, _LAYERS = 32, 6, 4
_FADED = 1e-5
"""The weight of a branch that has no effect on the output."""


def models() -> list[ZooModel]:
    """Return the models."""
    squares = ("Pow", "ReduceMean", "Add", "Sqrt")
    layers = [nodes(f"/layers.{index}/norm", *squares) for index in range(_LAYERS)]
    everywhere = frozenset[str]().union(*layers)
    samples = feeds(3, _ROWS, _WIDTH)
    outliers = nodes("/norm", "Pow", "ReduceMean_1")
    huge = frozenset().union(*(nodes(f"/blocks.{i}", "Conv", "BatchNormalization") for i in (0, 2)))
    flushed = nodes("/norm", "Pow", "ReduceMean_1", "Add", "Sqrt")
    images = feeds(2, 2, 4, 8, 8)
    return [
        ZooModel("RMSNorm in every layer", partial(_rms, ()), samples, everywhere, everywhere),
        ZooModel("RMSNorm in faded layers", partial(_rms, (0, 2)), samples, layers[1] | layers[3], everywhere),
        ZooModel("LayerNorm with outliers", layer_norm, samples, outliers, outliers),
        ZooModel("LayerNorm of small values", _small_norm, samples, flushed, flushed),
        ZooModel("GroupNorm", _group_norm, images, outliers, outliers),
        ZooModel("GroupNorm of any size", _group_norm_of_any_size, images, outliers, outliers),
        ZooModel("BatchNorm of huge variance", _batch_norm, images, huge, huge),
    ]


def layer_norm(opset: int = 17, scale: float = 1.0) -> onnx.ModelProto:
    """Return a LayerNorm of single operators whose operand has two channels far away from the others."""
    net = Net(seed=22, opset=opset)
    far = np.zeros(_WIDTH)
    far[[3, 17]] = 400.0, -500.0
    hidden = net.linear("/in", "x", _WIDTH, _WIDTH)
    shifted = net.node("Add", "/shift/Add", [hidden, net.tensor("shift", far * scale)])
    normal = _normalised(net, "/norm", shifted, [-1], 1e-5)
    return net.model(net.linear("/out", normal, _WIDTH, _WIDTH), {"x": (_ROWS, _WIDTH)}, (_ROWS, _WIDTH))


def _normalised(net: Net, scope: str, tensor: str, axes: Sequence[int], epsilon: float) -> str:
    mean = net.over_axes("ReduceMean", f"{scope}/ReduceMean", tensor, axes, keepdims=1)
    centred = net.node("Sub", f"{scope}/Sub", [tensor, mean])
    square = net.node("Pow", f"{scope}/Pow", [centred, net.constant(f"{scope}/two", 2.0)])
    variance = net.over_axes("ReduceMean", f"{scope}/ReduceMean_1", square, axes, keepdims=1)
    steady = net.node("Add", f"{scope}/Add", [variance, net.constant(f"{scope}/epsilon", epsilon)])
    return net.node("Div", f"{scope}/Div", [centred, net.node("Sqrt", f"{scope}/Sqrt", [steady])])


def _rms(faded: Sequence[int]) -> onnx.ModelProto:
    net = Net(seed=23)
    tensor = net.node("Mul", "/embed/Mul", ["x", net.constant("/embed/scale", 600.0)])
    for index in range(_LAYERS):
        scope = f"/layers.{index}/norm"
        square = net.node("Pow", f"{scope}/Pow", [tensor, net.constant(f"{scope}/two", 2.0)])
        mean = net.over_axes("ReduceMean", f"{scope}/ReduceMean", square, [-1], keepdims=1)
        steady = net.node("Add", f"{scope}/Add", [mean, net.constant(f"{scope}/epsilon", 1e-6)])
        normal = net.node("Div", f"{scope}/Div", [tensor, net.node("Sqrt", f"{scope}/Sqrt", [steady])])
        hidden = net.linear(f"/layers.{index}", normal, _WIDTH, _WIDTH)
        gain = 600.0 * (_FADED if index in faded else 1.0)
        branch = net.node("Mul", f"/layers.{index}/Mul", [hidden, net.constant(f"/layers.{index}/gain", gain)])
        tensor = net.node("Add", f"/layers.{index}/Add", [tensor, branch])
    return net.model(tensor, {"x": (_ROWS, _WIDTH)}, (_ROWS, _WIDTH))


def _small_norm() -> onnx.ModelProto:
    net = Net(seed=24)
    small = net.node("Mul", "/down/Mul", ["x", net.constant("/down/scale", 1e-4)])
    return net.model(_normalised(net, "/norm", small, [-1], 1e-12), {"x": (_ROWS, _WIDTH)}, (_ROWS, _WIDTH))


def _group_norm() -> onnx.ModelProto:
    net = Net(seed=25)
    large = net.node("Conv", "/Conv", ["x", net.weight("w", 4, 4, 3, 3, scale=20.0)], pads=[1, 1, 1, 1])
    groups = net.node("Reshape", "/split/Reshape", [large, net.constant("/split/size", [2, 2, -1], np.int64)])
    normal = _normalised(net, "/norm", groups, [-1], 1e-5)
    whole = net.node("Reshape", "/join/Reshape", [normal, net.constant("/join/size", [2, 4, 8, 8], np.int64)])
    gain = net.tensor("gain", np.linspace(0.5, 1.5, 4).reshape(1, 4, 1, 1))
    return net.model(net.node("Mul", "/gain/Mul", [whole, gain]), {"x": (2, 4, 8, 8)}, (2, 4, 8, 8))


def _group_norm_of_any_size() -> onnx.ModelProto:
    net, size = Net(seed=25), ("n", 4, "height", "width")
    large = net.node("Conv", "/Conv", ["x", net.weight("w", 4, 4, 3, 3, scale=20.0)], pads=[1, 1, 1, 1])
    groups = net.node("Reshape", "/split/Reshape", [large, net.constant("/split/size", [0, 2, -1], np.int64)])
    normal = _normalised(net, "/norm", groups, [-1], 1e-5)
    whole = net.node("Reshape", "/join/Reshape", [normal, net.node("Shape", "/join/Shape", [large])])
    gain = net.tensor("gain", np.linspace(0.5, 1.5, 4).reshape(1, 4, 1, 1))
    return net.model(net.node("Mul", "/gain/Mul", [whole, gain]), {"x": size}, size)


def _batch_norm() -> onnx.ModelProto:
    net = Net(seed=26)
    tensor = "x"
    for index, scale in enumerate((1e6, 1.0, 1e6)):
        scope = f"/blocks.{index}"
        up = net.node("Mul", f"{scope}/Mul", [tensor, net.constant(f"{scope}/up", scale**0.5)])
        kernel = net.weight(f"{scope}.w", 4, 4, 3, 3, scale=scale**0.5 / 6.0)
        wide = net.node("Conv", f"{scope}/Conv", [up, kernel], pads=[1, 1, 1, 1])
        statistics = {"gain": 1.0, "shift": 0.1, "mean": 0.0, "variance": scale**2}
        named = [net.tensor(f"{scope}.{name}", np.full(4, value)) for name, value in statistics.items()]
        tensor = net.node("BatchNormalization", f"{scope}/BatchNormalization", [wide, *named])
    return net.model(tensor, {"x": (2, 4, 8, 8)}, (2, 4, 8, 8))
