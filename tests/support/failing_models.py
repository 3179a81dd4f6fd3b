"""Models of any size with one fault planted, whose smallest failing part is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Callable

_CHANNELS, _SIZE = 4, 8
_WIDE = 300.0
_PLANTED_AT = 0.6
"""Where the fault stands, as a share of the nodes."""


@dataclass
class Growing:
    """A graph under construction: layers of attention-like blocks, each behind the one before."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def add(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Append a node and return its result."""
        name = f"/layer{len(self.nodes)}/{op}"
        made = f"{name}_output"
        self.nodes.append(helper.make_node(op, inputs, [made], name=name, domain=domain, **attributes))
        return made

    def constant(self, name: str, value: Any, kind: Any = np.float32) -> str:
        """Add an initializer and return its name."""
        self.constants.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name


def model_with(fault: Callable[[Growing, str], str] | None, count: int, *, seed: int = 0) -> onnx.ModelProto:
    """Return a model of about ``count`` nodes with a fault at three fifths; it reads ``x`` of 1x4x8x8."""
    graph = Growing()
    random = np.random.default_rng(seed)
    graph.constant("w", random.normal(0, 0.2, (_SIZE, _SIZE)))
    current = "x"
    while len(graph.nodes) < count:
        if fault is not None and len(graph.nodes) >= count * _PLANTED_AT:
            current, fault = fault(graph, current), None
            continue
        left = graph.add("Relu", graph.add("MatMul", current, "w"))
        right = graph.add("Sigmoid", current)
        current = graph.add("Add", left, right)
    last = graph.add("Identity", current)
    made = helper.make_graph(
        graph.nodes,
        "planted",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, _CHANNELS, _SIZE, _SIZE])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, None)],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.ops", 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=9)


def resize(graph: Growing, current: str) -> str:
    """Resize in a mode that TensorRT has not."""
    scales = graph.constant("scales", [1, 1, 1, 1])
    return graph.add("Resize", current, "", scales, mode="cubic", coordinate_transformation_mode="tf_crop_and_resize")


def determinant(graph: Growing, current: str) -> str:
    """Compute a determinant, for which there is no importer, and put it back into shape."""
    found = graph.add("Det", current)
    shape = graph.constant("det_shape", [1, _CHANNELS, 1, 1], np.int64)
    return graph.add("Add", current, graph.add("Reshape", found, shape))


def plugin(graph: Growing, current: str) -> str:
    """Use an operator of a domain that nobody knows."""
    return graph.add("Swirl", current, domain="my.ops")


def mixed_types(graph: Growing, current: str) -> str:
    """Add halves to floats."""
    half = graph.add("Relu", graph.add("Cast", current, to=TensorProto.FLOAT16))
    return graph.add("Add", half, current)


def inner_dimensions(graph: Growing, current: str) -> str:
    """Multiply matrices that do not fit."""
    return graph.add("MatMul", current, graph.constant("misfit", np.zeros((9, 8))))


def concatenation(graph: Growing, current: str) -> str:
    """Join tensors of other sizes."""
    joined = graph.add("Concat", current, graph.constant("other", np.zeros((1, 4, 5, 3))), axis=3)
    return graph.add("Relu", joined)


def volume(graph: Growing, current: str) -> str:
    """Reshape to another number of elements."""
    return graph.add("Reshape", current, graph.constant("target", [1, 4, 8, 9], np.int64))


def sequence(graph: Growing, current: str) -> str:
    """Put tensors into a sequence, a type that TensorRT has not."""
    pair = graph.add("SequenceConstruct", current, current)
    return graph.add("SequenceAt", pair, graph.constant("second", 1, np.int64))


def bytes_added(graph: Growing, current: str) -> str:
    """Add unsigned bytes."""
    whole = graph.add("Cast", current, to=TensorProto.UINT8)
    return graph.add("Cast", graph.add("Add", whole, whole), to=TensorProto.FLOAT)


def channels(graph: Growing, current: str) -> str:
    """Convolve with weights of another number of channels."""
    return graph.add("Conv", current, graph.constant("kernel", np.zeros((4, 3, 1, 1))))


def branch(graph: Growing, current: str) -> str:
    """Compute a determinant in a branch."""
    peak = graph.add("ReduceMax", current, keepdims=0)
    condition = graph.add("Greater", peak, graph.constant("limit", 0.0))
    shape = [1, _CHANNELS]
    taken = helper.make_graph(
        [
            helper.make_node("Abs", [current], ["then_abs"], name="/then/Abs"),
            helper.make_node("Det", ["then_abs"], ["then_det"], name="/then/Det"),
        ],
        "then",
        [],
        [helper.make_tensor_value_info("then_det", TensorProto.FLOAT, shape)],
    )
    other = helper.make_graph(
        [helper.make_node("ReduceSum", [current, "axes"], ["else_sum"], name="/else/ReduceSum", keepdims=0)],
        "else",
        [],
        [helper.make_tensor_value_info("else_sum", TensorProto.FLOAT, shape)],
    )
    graph.constant("axes", [2, 3], np.int64)
    found = graph.add("If", condition, then_branch=taken, else_branch=other)
    return graph.add("Add", current, graph.add("Reshape", found, graph.constant("if_shape", [1, 4, 1, 1], np.int64)))


def loop(graph: Growing, current: str) -> str:
    """Compute a determinant in the body of a loop."""
    value = helper.make_tensor_value_info("kept", TensorProto.FLOAT, [1, _CHANNELS, _SIZE, _SIZE])
    flag = helper.make_tensor_value_info("go_on", TensorProto.BOOL, [])
    body = helper.make_graph(
        [
            helper.make_node("Det", ["kept"], ["loop_det"], name="/loop/Det"),
            helper.make_node("Unsqueeze", ["loop_det", "loop_axes"], ["loop_wide"], name="/loop/Unsqueeze"),
            helper.make_node("Add", ["kept", "loop_wide"], ["kept_next"], name="/loop/Add"),
            helper.make_node("Identity", ["go_on"], ["go_on_next"], name="/loop/Identity"),
        ],
        "body",
        [helper.make_tensor_value_info("count", TensorProto.INT64, []), flag, value],
        [
            helper.make_tensor_value_info("go_on_next", TensorProto.BOOL, []),
            helper.make_tensor_value_info("kept_next", TensorProto.FLOAT, [1, _CHANNELS, _SIZE, _SIZE]),
        ],
    )
    graph.constant("loop_axes", [2, 3], np.int64)
    trips, start = graph.constant("trips", 2, np.int64), graph.constant("start", True, np.bool_)  # noqa: FBT003 - a value
    return graph.add("Loop", trips, start, current, body=body)


def data_dependent_target(graph: Growing, current: str) -> str:
    """Reshape to sizes that the data decide."""
    peak = graph.add("ReduceMax", current, axes=[0, 2, 3], keepdims=0)
    signs = graph.add("Sign", graph.add("Abs", peak))
    sizes = graph.constant("sizes", [1, _CHANNELS, _SIZE, _SIZE])
    target = graph.add("Cast", graph.add("Mul", signs, sizes), to=TensorProto.INT64)
    return graph.add("Reshape", current, target)


def non_zero(graph: Growing, current: str) -> str:
    """Find where a tensor is not zero: how many places there are, the data decide."""
    places = graph.add("NonZero", current)
    count = graph.add("Cast", graph.add("Shape", places), to=TensorProto.FLOAT)
    mean = graph.add("ReduceMean", count, keepdims=0)
    return graph.add("Add", current, mean)


def square(graph: Growing, current: str) -> str:
    """Square what is large: 16 bits overflow."""
    large = graph.add("Mul", current, graph.constant("wide", _WIDE * 4))
    squared = graph.add("Mul", large, large)
    return graph.add("Mul", squared, graph.constant("narrow", 1e-6))


def variance(graph: Growing, current: str) -> str:
    """Normalise by hand: the squares overflow."""
    large = graph.add("Mul", graph.add("Add", current, graph.constant("one", 1.0)), graph.constant("wide", _WIDE * 3))
    squares = graph.add("Pow", large, graph.constant("two", 2.0))
    mean = graph.add("ReduceMean", squares, axes=[-1], keepdims=1)
    return graph.add("Div", large, graph.add("Sqrt", mean))


def exponential(graph: Growing, current: str) -> str:
    """Compute a softmax by hand without taking off the maximum."""
    large = graph.add("Mul", graph.add("Add", current, graph.constant("one", 1.0)), graph.constant("twenty", 20.0))
    raised = graph.add("Exp", large)
    total = graph.add("ReduceSum", raised, graph.constant("last_axis", [-1], np.int64), keepdims=1)
    return graph.add("Div", raised, total)


def product(graph: Growing, current: str) -> str:
    """Multiply matrices of large values."""
    large = graph.add("Mul", graph.add("Add", current, graph.constant("one", 1.0)), graph.constant("wide", _WIDE))
    heavy = graph.add("MatMul", large, graph.constant("heavy", np.full((_SIZE, _SIZE), 100.0)))
    return graph.add("Mul", heavy, graph.constant("narrow", 1e-5))


@dataclass(frozen=True)
class PlantedCase:
    """A fault, how many nodes the model has, and of how many the smallest failing part consists."""

    name: str
    fault: Callable[[Growing, str], str]
    count: int
    smallest: int
    precision: str = ""

    def model(self) -> onnx.ModelProto:
        """Return the model."""
        return model_with(self.fault, self.count)


CASES = (
    PlantedCase("resize", resize, 50, 1),
    PlantedCase("determinant", determinant, 3000, 1),
    PlantedCase("plugin", plugin, 300, 1),
    PlantedCase("mixed-types", mixed_types, 200, 1),
    PlantedCase("inner-dimensions", inner_dimensions, 100, 1),
    PlantedCase("concatenation", concatenation, 150, 1),
    PlantedCase("volume", volume, 1000, 1),
    PlantedCase("sequence", sequence, 100, 1),
    PlantedCase("bytes", bytes_added, 80, 2),
    PlantedCase("channels", channels, 400, 1),
    PlantedCase("branch", branch, 200, 1),
    PlantedCase("loop", loop, 120, 1),
    PlantedCase("data-dependent-target", data_dependent_target, 250, 16),
    PlantedCase("non-zero", non_zero, 500, 1),
    PlantedCase("resize-large", resize, 2000, 1),
    PlantedCase("fp16-square", square, 200, 1, "fp16"),
    PlantedCase("fp16-variance", variance, 60, 4, "fp16"),
    PlantedCase("fp16-exponential", exponential, 100, 1, "fp16"),
    PlantedCase("fp16-product", product, 3000, 1, "fp16"),
    PlantedCase("fp16-square-small", square, 50, 1, "fp16"),
)
"""Parser and builder errors of TensorRT-RTX, then overflows in FP16.

Of the data-dependent target, two nodes fail too, but in another check of TensorRT-RTX 1.7.1 than the original: the
same error needs a branch and a join above them.
"""
