"""Random ONNX models: broadcasts, casts, reshapes, bodies, functions, defaults, quantization, random numbers.

A model is drawn from a ``random.Random``, a seeded one or Hypothesis's, so that a run can be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

OPSETS = tuple(range(9, 24))
_SHAPES = ((2, 3, 4), (3, 4), (4,), (), (1, 3, 1), (2, 1, 4))
_KINDS = (
    *(TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT32, TensorProto.INT8),
    *(TensorProto.INT64, TensorProto.BOOL, TensorProto.UINT8, TensorProto.FLOAT),
)
_AXES_ARE_INPUTS, _WITH_QUANTIZATION, _WITH_FUNCTIONS, _WITH_TRAINING = 13, 10, 15, 12
_TEXTS_ARE_STABLE = 13
_DIMS: tuple[list[int | str | None], ...] = ([2, 3, 4], ["n", 3, 4], ["n", 3, "m"], [None, 3, 4])
_DOMAIN = "my.functions"


@dataclass
class DrawnModel:
    """A model, the shape of its input ``x`` for samples, and what is in it."""

    model: onnx.ModelProto
    features: frozenset[str]
    external: bool


@dataclass
class _Drawing:
    random: Random
    opset: int
    dims: list[int | str | None]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    functions: list[onnx.FunctionProto] = field(default_factory=list)
    features: set[str] = field(default_factory=set)

    def add(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Append a node, which may have no name, and return its result."""
        made = f"t{len(self.nodes)}"
        name = "" if self.random.random() < 0.15 else f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [made], name=name, domain=domain, **attributes))
        return made

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        """Add an initializer, or a Constant node."""
        tensor = numpy_helper.from_array(np.asarray(value, kind), f"c{len(self.constants)}")
        self.constants.append(tensor)
        if self.random.random() < 0.2:
            return self.add("Constant", value=self.constants[-1])
        return str(tensor.name)

    def floats(self) -> str:
        """Add floats of a random shape."""
        shape = self.random.choice(_SHAPES)
        values = [self.random.uniform(1, 2) for _ in range(int(np.prod(shape)))]
        return self.constant(np.reshape(values, shape))

    def default(self, value: Any, kind: Any) -> str:
        """Add an input with a default."""
        array = np.asarray(value, kind)
        name = f"d{len(self.inputs)}"
        element = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, element, array.shape))
        self.constants.append(numpy_helper.from_array(array, name))
        return name


def _binary(draw: _Drawing, current: str) -> str:
    other = draw.floats()
    if draw.random.random() < 0.4:
        other = draw.add("Sqrt", other)
    pair = [current, other] if draw.random.random() < 0.5 else [other, current]
    return draw.add(draw.random.choice(("Add", "Mul", "Sub", "Div", "Max")), *pair)


def _peak(draw: _Drawing, current: str) -> str:
    return draw.add("Sub", current, draw.add("ReduceMax", current, keepdims=draw.random.randint(0, 1)))


def _reshape(draw: _Drawing, current: str) -> str:
    target = draw.constant(draw.random.choice(([-1], [0, -1], [0, 0, -1], [-1, 3, 4])), np.int64)
    flat = draw.add("Reshape", current, target)
    return draw.add("Reshape", flat, draw.add("Shape", draw.random.choice(("x", current))))


def _computed(draw: _Drawing, current: str) -> str:
    """Reshape to sizes that are put together from a shape."""
    size = draw.add("Gather", draw.add("Shape", current), draw.constant([0], np.int64))
    target = draw.add("Concat", size, draw.constant([-1], np.int64), axis=0)
    more: dict[str, Any] = (
        {"allowzero": 1} if draw.opset >= 14 and draw.random.random() < 0.3 and None not in draw.dims else {}
    )
    flat = draw.add("Reshape", current, target, **more)
    return draw.add("Reshape", flat, draw.add("Shape", current))


def _casts(draw: _Drawing, current: str) -> str:
    for kind in draw.random.choices(_KINDS, k=draw.random.randint(1, 3)):
        current = draw.add("Cast", current, to=kind)
    return draw.add("Cast", current, to=TensorProto.FLOAT)


def _texts(draw: _Drawing, current: str) -> str:
    wide = draw.add("Cast", current, to=TensorProto.DOUBLE)
    text = draw.add("Cast", wide, to=TensorProto.STRING)
    return draw.add("Cast", text, to=TensorProto.FLOAT) if draw.opset >= _TEXTS_ARE_STABLE else current


def _filled(draw: _Drawing, current: str) -> str:
    value = numpy_helper.from_array(np.array([draw.random.uniform(1, 2)], np.float32), "value")
    return draw.add("Add", current, draw.add("ConstantOfShape", draw.add("Shape", current), value=value))


def _large(draw: _Drawing, current: str) -> str:
    condition = draw.add("Greater", current, draw.constant(1.0))
    return draw.add("Where", condition, current, draw.add("Neg", draw.floats()))


def _random(draw: _Drawing, current: str) -> str:
    """Draw numbers: of the shape of a constant, which everything else would make a constant too."""
    draw.features.add("random")
    more: dict[str, Any] = {"seed": 7.0} if draw.random.random() < 0.5 else {}
    like = draw.random.choice((current, draw.constant(np.zeros(4))))
    op = draw.random.choice(("RandomNormalLike", "RandomUniformLike"))
    numbers = draw.add(op, like, dtype=TensorProto.FLOAT, **more)
    if draw.random.random() < 0.3:
        numbers = draw.add("RandomUniform", shape=[4], **more)
    return draw.add("Add", current, draw.add("Mul", numbers, draw.constant(0.5)))


def _dropout(draw: _Drawing, current: str) -> str:
    if draw.opset < _WITH_TRAINING:
        return draw.add("Relu", current)
    draw.features.add("dropout")
    ratio, on = draw.constant(0.4), draw.constant(np.True_, np.bool_)
    return draw.add("Mul", current, draw.add("Dropout", draw.constant(np.ones(4)), ratio, on))


def _default(draw: _Drawing, current: str) -> str:
    draw.features.add("default")
    if draw.random.random() < 0.5:
        return draw.add("Add", current, draw.add("Neg", draw.default([1, 2, 3, 4], np.float32)))
    target = draw.default(draw.random.choice(([-1, 4], [2, -1], [-1])), np.int64)
    return draw.add("Reshape", draw.add("Reshape", current, target), draw.add("Shape", current))


def _body(draw: _Drawing, op: str, inputs: Sequence[str], number: int) -> onnx.GraphProto:
    """Return a body with names that another body may have too, which reads a tensor from outside."""
    source = inputs[0]
    nodes = [
        helper.make_node("Cast", [source], ["inner"], name="inner", to=TensorProto.FLOAT),
        helper.make_node(op, ["inner", inputs[1]], [f"branch{number}"], name="branch"),
    ]
    made = helper.make_tensor_value_info(f"branch{number}", TensorProto.FLOAT, [None, None, None])
    constants = [numpy_helper.from_array(np.array([draw.random.random()], np.float32), "inside")]
    if draw.random.random() < 0.5:
        nodes[1].input[1] = "inside"
    return helper.make_graph(nodes, "body", [], [made], constants)


def _if(draw: _Drawing, current: str) -> str:
    draw.features.add("if")
    peak = draw.add("ReduceMax", current, keepdims=0)
    condition = draw.add("Greater", peak, draw.constant(1.5))
    outside = draw.add("Cast", current, to=TensorProto.FLOAT)
    number, other = len(draw.nodes), draw.floats()
    return draw.add(
        "If",
        condition,
        then_branch=_body(draw, "Add", [outside, other], number),
        else_branch=_body(draw, "Mul", [outside, other], number + 1000),
    )


def _loop(draw: _Drawing, current: str) -> str:
    draw.features.add("loop")
    value = [
        helper.make_tensor_value_info(f"{name}{len(draw.nodes)}", TensorProto.FLOAT, [None, None, None])
        for name in ("k", "l")
    ]
    flags = [helper.make_tensor_value_info(f"{name}{len(draw.nodes)}", TensorProto.BOOL, []) for name in ("g", "h")]
    kept, following = (each.name for each in value)
    outside = draw.add("Cast", draw.constant([1.5]), to=TensorProto.FLOAT)
    nodes = [
        helper.make_node("Add", [kept, outside], [following], name="loop/Add"),
        helper.make_node("Identity", [flags[0].name], [flags[1].name], name="loop/Identity"),
    ]
    count = helper.make_tensor_value_info(f"i{len(draw.nodes)}", TensorProto.INT64, [])
    body = helper.make_graph(nodes, "loop", [count, flags[0], value[0]], [flags[1], value[1]])
    trips, start = draw.constant(draw.random.randint(0, 3), np.int64), draw.constant(np.True_, np.bool_)
    return draw.add("Loop", trips, start, current, body=body)


def _function(draw: _Drawing, current: str) -> str:
    if draw.opset < _WITH_FUNCTIONS:
        return draw.add("Relu", current)
    draw.features.add("function")
    if not draw.functions:
        nodes = [
            helper.make_node("Constant", [], ["half"], value_float=0.5),
            helper.make_node("RandomNormalLike", ["a"], ["noise"]),
            helper.make_node("Mul", ["noise", "half"], ["small"]),
            helper.make_node("Add", ["a", "small"], ["b"]),
        ]
        opsets = [helper.make_opsetid("", draw.opset)]
        draw.functions.append(helper.make_function(_DOMAIN, "Noisy", ["a"], ["b"], nodes, opsets))
    return draw.add("Noisy", current, domain=_DOMAIN)


def _quantized(draw: _Drawing, current: str) -> str:
    if draw.opset < _WITH_QUANTIZATION:
        return draw.add("Relu", current)
    draw.features.add("quantized")
    scale, zero = draw.constant(0.05), draw.constant(0, np.int8)
    weight = draw.add("DequantizeLinear", draw.constant([3, -4, 5, 6], np.int8), scale, zero)
    rounded = draw.add("DequantizeLinear", draw.add("QuantizeLinear", current, scale, zero), scale, zero)
    return draw.add("Mul", rounded, weight)


def _sequence(draw: _Drawing, current: str) -> str:
    """Put constants into a sequence."""
    if draw.opset < 11:
        return draw.add("Relu", current)
    draw.features.add("sequence")
    pair = draw.add("SequenceConstruct", draw.constant([1.0, 2, 3, 4]), draw.constant([2.0, 2, 2, 2]))
    return draw.add("Add", current, draw.add("SequenceAt", pair, draw.constant(draw.random.randint(0, 1), np.int64)))


_BLOCKS: tuple[Callable[[_Drawing, str], str], ...] = (
    *(_binary, _binary, _peak, _reshape, _computed, _casts, _casts, _texts, _filled, _large, _random, _dropout),
    *(_default, _if, _loop, _function, _quantized, _sequence),
)


def drawn_model(random: Random, blocks: Sequence[Callable[[Any, str], str]] = _BLOCKS, most: int = 8) -> DrawnModel:
    """Draw a model; its input ``x`` has three dimensions, 2x3x4 in samples."""
    draw = _Drawing(random, random.choice(OPSETS), random.choice(_DIMS))
    current = "x"
    for _ in range(random.randint(1, most)):
        current = random.choice(blocks)(draw, current)
    last = draw.add("Identity", current)
    outputs = [helper.make_tensor_value_info(last, TensorProto.FLOAT, [None, None, None])]
    if random.random() < 0.3:
        outputs.insert(
            0, helper.make_tensor_value_info(draw.add("Neg", current), TensorProto.FLOAT, [None, None, None])
        )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, draw.dims, "what comes in")
    used = {name for node in draw.nodes for name in node.input} | {
        name for node in draw.nodes for a in node.attribute for inner in a.g.node for name in inner.input
    }
    constants = [tensor for tensor in draw.constants if tensor.name in used or random.random() < 0.3]
    graph = helper.make_graph(draw.nodes, "drawn", [x, *draw.inputs], outputs, constants, doc_string="a drawn graph")
    opsets = [helper.make_opsetid("", draw.opset), helper.make_opsetid("unused.domain", 1)]
    if draw.functions:
        opsets.append(helper.make_opsetid(_DOMAIN, 1))
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=draw.functions, doc_string="drawn")
    if not draw.inputs and not draw.functions and random.random() < 0.15:
        draw.features.add("IR 3")
        model.ir_version = 3
        for tensor in constants:
            graph_input = helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            model.graph.input.append(graph_input)
    helper.set_model_props(model, {"author": "a test"})
    return DrawnModel(model, frozenset(draw.features), random.random() < 0.2)
