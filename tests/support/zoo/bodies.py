"""Models with subgraphs: a Loop and an If whose bodies leave FP16."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.support.zoo.model import ZooModel, nodes
from tests.support.zoo.net import Net, feeds

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIZE = (4, 8)


def models() -> list[ZooModel]:
    """Return the models."""
    loop, branch = nodes("/loop", "Mul", "Div"), nodes("/then", "Mul", "Div")
    flags = [{**feed, "flag": np.asarray(number == 1)} for number, feed in enumerate(feeds(2, *_SIZE))]
    return [
        ZooModel("Loop", _loop, feeds(3, *_SIZE), loop, loop),
        ZooModel("If", _if, flags, branch, branch),
        ZooModel("Loop that hides a loss", partial(_hiding, branching=False), feeds(3, *_SIZE), frozenset(), loop),
        ZooModel("If in a Loop that hides a loss", partial(_hiding, branching=True), flags, frozenset(), branch),
    ]


def _up_and_down(scope: str, tensor: str, factor: str, output: str) -> list[onnx.NodeProto]:
    up = helper.make_node("Mul", [tensor, factor], [f"{scope}/up"], name=f"{scope}/Mul")
    down = helper.make_node("Div", [f"{scope}/up", factor], [f"{scope}/down"], name=f"{scope}/Div")
    gate = helper.make_node("Tanh", [f"{scope}/down"], [output], name=f"{scope}/Tanh")
    return [up, down, gate]


def _constant(name: str, value: float | bool, dtype: type[np.generic]) -> onnx.TensorProto:  # noqa: FBT001 - a constant of any type
    return numpy_helper.from_array(np.asarray(value, dtype), name)


def _hiding(*, branching: bool) -> onnx.ModelProto:
    """A residual connection in a Loop; its branch is saturated in FP16 and has no effect on the output."""
    net = Net()
    step = helper.make_tensor_value_info("step", TensorProto.INT64, [])
    going = helper.make_tensor_value_info("going", TensorProto.BOOL, [])
    still = helper.make_tensor_value_info("still", TensorProto.BOOL, [])
    if branching:
        then = helper.make_graph(_up_and_down("/then", "state", "factor", "chosen"), "then", [], _values("chosen"))
        other = helper.make_graph(
            [helper.make_node("Tanh", ["state"], ["other"], name="/else/Tanh")], "else", [], _values("other")
        )
        inner = [helper.make_node("If", ["flag"], ["gate"], name="/If", then_branch=then, else_branch=other)]
    else:
        inner = _up_and_down("/loop", "state", "factor", "gate")
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["going"], ["still"], name="/loop/Identity"),
            *inner,
            helper.make_node("Mul", ["gate", "faded"], ["/loop/faded"], name="/loop/Fade"),
            helper.make_node("Add", ["state", "/loop/faded"], ["next"], name="/loop/Add"),
        ],
        "body",
        [step, going, *_values("state")],
        [still, *_values("next")],
    )
    net.initializers += [
        _constant("count", 3, np.int64),
        _constant("yes", True, np.bool_),  # noqa: FBT003 - a constant
        _constant("factor", 60000.0, np.float32),
        _constant("faded", 1e-5, np.float32),
    ]
    hidden = net.linear("/in", "x", 8, 8)
    net.nodes.append(helper.make_node("Loop", ["count", "yes", hidden], ["looped"], name="/Loop", body=body))
    inputs: dict[str, Sequence[int | str]] = {"x": _SIZE} | ({"flag": ()} if branching else {})
    return net.model(net.linear("/out", "looped", 8, 8), inputs, _SIZE, types={"flag": TensorProto.BOOL})


def _values(*names: str, size: Sequence[int] = _SIZE) -> list[onnx.ValueInfoProto]:
    return [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(size)) for name in names]


def _loop() -> onnx.ModelProto:
    net = Net()
    step = helper.make_tensor_value_info("step", TensorProto.INT64, [])
    going = helper.make_tensor_value_info("going", TensorProto.BOOL, [])
    still = helper.make_tensor_value_info("still", TensorProto.BOOL, [])
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["going"], ["still"], name="/loop/Identity"),
            *_up_and_down("/loop", "state", "factor", "next"),
        ],
        "body",
        [step, going, *_values("state")],
        [still, *_values("next")],
    )
    net.initializers += [
        _constant("count", 3, np.int64),
        _constant("yes", True, np.bool_),  # noqa: FBT003 - a constant
        _constant("factor", 60000.0, np.float32),
    ]
    hidden = net.linear("/in", "x", 8, 8)
    net.nodes.append(helper.make_node("Loop", ["count", "yes", hidden], ["looped"], name="/Loop", body=body))
    return net.model(net.linear("/out", "looped", 8, 8), {"x": _SIZE}, _SIZE)


def _if() -> onnx.ModelProto:
    net = Net()
    hidden = net.linear("/in", "x", 8, 8)
    net.initializers.append(_constant("factor", 60000.0, np.float32))
    then = helper.make_graph(_up_and_down("/then", hidden, "factor", "chosen"), "then", [], _values("chosen"))
    other = helper.make_graph(
        [helper.make_node("Tanh", [hidden], ["other"], name="/else/Tanh")], "else", [], _values("other")
    )
    choice = helper.make_node("If", ["flag"], ["either"], name="/If", then_branch=then, else_branch=other)
    net.nodes.append(choice)
    inputs: dict[str, Sequence[int | str]] = {"x": _SIZE, "flag": ()}
    return net.model(net.linear("/out", "either", 8, 8), inputs, _SIZE, types={"flag": TensorProto.BOOL})
