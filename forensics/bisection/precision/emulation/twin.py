"""The emulated twin: FP32 nodes with explicit Casts to 16 bits and back around them.

ONNX Runtime's CPU provider has no FP16 arithmetic. It computes FP16 nodes in FP32 and drops the Casts between them, at
every optimisation level, so that overflow and rounding never show (seen in 1.17 to 1.31). It keeps the explicit pairs
of Casts of the twin. The twin therefore models what 16-bit storage does to each result: its range, and one rounding for
each operator, as of a kernel that accumulates in FP32; or the sums of kernels that accumulate in FP16, where that is
asked for. It does not model TensorRT's fused kernels.

Where a value is NaN, operators that compare follow the GPU: Max, Min, Clip, Relu, pooling and reductions hand NaN on,
and TopK and ArgMax take it for the largest value (PyTorch's CUDA kernels; ONNX Runtime drops some, by their place).
Comparisons with NaN are false in both, and Where hands on what it selects.

The rounding floor is of the FP32 model, for all candidates at once: what 16 bits of storage cost if
their exponent had no limits. The operands and results of every candidate are rounded to the type's digits in FP32, by
Veltkamp's splitting (``c = x * (2**s + 1); c - (c - x)``), so that rounding shows and overflow does not. Where products
sum in FP16, the partial sums are rounded likewise.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from zlib import crc32

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisection.precision.casting.caster import Caster, operators_that
from trtforensics.bisection.precision.casting.storage import Floats, rounded
from trtforensics.bisection.precision.emulation.accumulation import accumulated, product_of
from trtforensics.model.data_types import Accumulator
from trtforensics.onnx_models.graphs import STANDARD, copied, operator_set
from trtforensics.onnx_models.reading import unique_node_names
from trtforensics.onnx_models.rewriting import GraphRewriter, NodeWriter, Scope
from trtforensics.onnx_models.shapes import Sizes, element_types, sizes_by_tensor, without_weights
from trtforensics.onnx_models.streaming import Streamed

_HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
_FLOATS = (TensorProto.FLOAT, *_HALVES)
_FIRST_WITH_IS_NAN = 9
_ROUNDED_ALIKE = operators_that("moves") | operators_that("carries-masks") | operators_that("rounded-alike")
"""Every kernel stores the same results of these: single values, their sums and products, rounded to the nearest."""
_EACH_VALUE = frozenset({"Clip", "Max", "Min", "Relu", "Shrink", "ThresholdedRelu"})
_OF_MANY = {"GlobalMaxPool": "GlobalMaxPool", "MaxPool": "MaxPool", "ReduceMax": "ReduceMax", "ReduceMin": "ReduceMax"}
"""Operators that choose among values, each with the one that shows by ones and zeros whether NaN was among them."""
_PLACES = {"ArgMax": np.inf, "ArgMin": -np.inf, "Hardmax": np.inf, "TopK": np.inf}
"""Operators that give places of values, each with the value that NaN counts as."""
_LEFT_ALONE = operators_that("kept-by-twin")
"""These operators only pass values on, or state their type in an attribute."""


def emulate(
    model: onnx.ModelProto,
    accumulator: Accumulator = Accumulator.FP32,
    wide_sums: Collection[str] = (),
    nudge: float = 0.0,
) -> onnx.ModelProto:
    """Return the twin of a typed model: the same interface, with the effects of 16-bit storage on its values.

    16-bit products sum in ``accumulator``, those of the nodes ``wide_sums`` in FP32. Sums of products and functions,
    which each kernel computes in its own way, are off by the share ``nudge``, up or down by their names.
    """
    twin = copied(model)
    light = onnx.shape_inference.infer_shapes(without_weights(model))
    types = element_types(light)
    if any(kind in _HALVES for kind in types.values()):
        shapes = sizes_by_tensor(light) if accumulator is Accumulator.FP16 else {}
        emulation = _Emulation(types, shapes, frozenset(wide_sums))
        emulation.nudge = nudge
        emulation.keeps_nan = operator_set(model) >= _FIRST_WITH_IS_NAN
        emulation.rewrite(twin.graph)
        unique_node_names(twin.graph)  # nodes may be named as tensors are, and so are those that were added
    return twin


def store_and_read(source: str, target: str, elem_type: int) -> list[onnx.NodeProto]:
    """Return the Casts of an FP32 tensor to 16 bits and back."""
    narrow = f"{target}__16"
    return [
        helper.make_node("Cast", [source], [narrow], name=narrow, to=elem_type),
        helper.make_node("Cast", [narrow], [target], name=f"{target}__32", to=TensorProto.FLOAT),
    ]


class _Emulation(GraphRewriter):
    keeps_nan = False
    nudge = 0.0

    def __init__(self, types: Mapping[str, int], shapes: Mapping[str, Sizes], wide_sums: frozenset[str]) -> None:
        super().__init__()
        self._narrow = {name: kind for name, kind in types.items() if kind in _HALVES}
        self._floats = {name for name, kind in types.items() if kind in _FLOATS}
        self._shapes = shapes
        self._wide_sums = wide_sums

    def begin(self, scope: Scope) -> None:
        """Forget the types of tensors, which change."""
        scope.graph.ClearField("value_info")

    def node(self, node: onnx.NodeProto, scope: Scope) -> None:
        graph, narrow = scope.graph, self._narrow
        if node.op_type in _LEFT_ALONE:
            graph.node.append(node)
            return
        sums = self._shapes and node.output[0] in narrow and node.name not in self._wide_sums
        product = product_of(node, self._shapes) if sums else None
        compared = [slot for slot, name in enumerate(node.input) if name in self._floats] if self.keeps_nan else []
        self._read_wide(node, scope)
        written = [name for name in node.output if name in narrow]
        node.output[:] = [f"{name}__exact" if name in narrow else name for name in node.output]
        for attribute in node.attribute:
            if attribute.name == "output_dtype" and attribute.i in _HALVES:
                attribute.i = TensorProto.FLOAT
        graph.node.extend(_with_nan(node, compared))
        exact = "exact"
        if product is not None:
            exact = "summed"
            rounding = partial(store_and_read, elem_type=narrow[written[0]])
            graph.node.extend(accumulated(node, product, f"{written[0]}__summed", rounding))
        nudged = self.nudge and node.op_type not in _ROUNDED_ALIKE
        for name in written:
            result = f"{name}__{exact}"
            if nudged:
                writer = NodeWriter(f"{name}__nudged")
                share = self.nudge if crc32(name.encode()) % 2 else -self.nudge
                result = writer.add("Mul", result, writer.constant(1.0 + share, np.float32))
                graph.node.extend(writer.nodes)
            graph.node.append(helper.make_node("Cast", [result], [name], name=f"{name}__storage", to=narrow[name]))

    def _read_wide(self, node: onnx.NodeProto, scope: Scope) -> None:
        for slot, name in enumerate(node.input):
            if name in self._narrow:
                wide = f"{name}__emulated_{scope.number}"
                if wide not in scope.copies:
                    scope.copies.add(wide)
                    cast = helper.make_node("Cast", [name], [wide], name=f"{wide}__storage", to=TensorProto.FLOAT)
                    scope.graph.node.append(cast)
                node.input[slot] = wide


def _with_nan(node: onnx.NodeProto, compared: Sequence[int]) -> list[onnx.NodeProto]:
    """Return nodes that compute what a node does, with NaN as on a GPU; ``compared`` are its slots of floats."""
    writer = NodeWriter(f"{node.output[0]}__nan")
    result = node.output[0]
    if not compared or node.domain not in STANDARD:
        return [node]
    if node.op_type in _PLACES:
        wrong = writer.add("IsNaN", node.input[0])
        end = writer.constant(_PLACES[node.op_type], np.float32)
        node.input[0] = writer.add("Where", wrong, end, node.input[0])
        return [*writer.nodes, node]
    if node.op_type not in _EACH_VALUE and node.op_type not in _OF_MANY:
        return [node]
    node.output[0] = f"{writer.prefix}__numbers"
    writer.nodes.append(node)
    chosen = node.output[0]
    for slot in compared if node.op_type in _EACH_VALUE else compared[:1]:
        wrong = writer.add("IsNaN", node.input[slot])
        if node.op_type in _OF_MANY:
            among = copied(node)
            among.op_type, among.name = _OF_MANY[node.op_type], f"{wrong}_among"
            among.input[0], among.output[:] = writer.add("Cast", wrong, to=TensorProto.FLOAT), [among.name]
            writer.nodes.append(among)
            wrong = writer.add("Cast", among.name, to=TensorProto.BOOL)
        chosen = writer.add("Where", wrong, writer.constant(np.nan, np.float32), chosen)
    writer.named(chosen, result)
    return writer.nodes


_LARGEST_SPLIT = 1e30
"""Beyond it, the product would overflow FP32; larger values are masks, for which this limit is as good as infinity."""
_FP32_DIGITS = 24
_FIRST_WITH_BROADCAST_MAX = 8
"""Before this operator set, Max and Min take operands of one shape only, but Clip has its limits as attributes."""


def without_range_limits(
    caster: Caster, accumulator: Accumulator = Accumulator.FP32
) -> tuple[onnx.ModelProto, Streamed]:
    """Return the model with every candidate rounded, nothing clamped, and its large constants' values as inputs."""
    model = copied(caster.source)
    rounding = _Rounding(caster, accumulator, model.graph)
    rounding.rewrite(model.graph)
    return model, rounding.large


def add_switches(graph: onnx.GraphProto, name: str, count: int) -> list[str]:
    """Add an input of so many booleans to a graph; return a tensor for each."""
    graph.input.append(helper.make_tensor_value_info(name, TensorProto.BOOL, [count]))
    tensors = [f"{name} {number}" for number in range(count)]
    for number, tensor in enumerate(tensors):
        index = f"{name}_{number}"
        graph.initializer.append(numpy_helper.from_array(np.asarray(number, np.int64), index))
        graph.node.append(helper.make_node("Gather", [name, index], [tensor], name=f"{index}_of"))
    return tensors


class _Rounding(GraphRewriter):
    """Has candidates read and write the digits that the type keeps of a tensor, by Veltkamp's splitting."""

    def __init__(self, caster: Caster, accumulator: Accumulator, graph: onnx.GraphProto) -> None:
        super().__init__()
        self.large: dict[str, Floats] = {}
        self._caster, self._main = caster, graph
        self._shapes = sizes_by_tensor(caster.prepared.proto) if accumulator is Accumulator.FP16 else {}
        self._broadcasts = operator_set(caster.prepared.proto) >= _FIRST_WITH_BROADCAST_MAX
        nodes, candidates = caster.survey.nodes, caster.candidates.items()
        self._stored = {nodes[name].output[slot] for name, node in candidates for slot in node.outputs}

    def node(self, node: onnx.NodeProto, scope: Scope) -> None:
        """Store the operands of a candidate, as far as no candidate has stored them, and its results."""
        graph, candidate, mark = scope.graph, self._caster.candidates.get(node.name), f"__stored_{scope.number}"
        if candidate is None:
            graph.node.append(node)
            return
        product = product_of(node, self._shapes)
        for slot in candidate.inputs:
            tensor, stored = node.input[slot], node.input[slot] + mark
            if tensor in self._stored:
                continue
            if stored not in scope.copies:
                scope.copies.add(stored)
                self._store_operand(tensor, stored, graph)
            node.input[slot] = stored
        results = [node.output[slot] for slot in candidate.outputs]
        for slot in candidate.outputs:
            node.output[slot] += f"{mark}_exact"
        graph.node.append(node)
        for result in results:
            sums = f"{result}{mark}_exact"
            if product is not None:
                sums = f"{result}{mark}_summed"
                graph.node.extend(accumulated(node, product, sums, self._storing))
            graph.node.extend(self._storing(sums, result))

    def begin(self, scope: Scope) -> None:
        """Add the constants that the nodes of every splitting read."""
        factor = 2 ** (_FP32_DIGITS - self._caster.storage.digits) + 1
        for name, value in (("low", -_LARGEST_SPLIT), ("high", _LARGEST_SPLIT), ("factor", factor)):
            if not scope.number:
                constant = numpy_helper.from_array(np.asarray(value, np.float32), f"__split_{name}")
                scope.graph.initializer.append(constant)

    def _store_operand(self, source: str, target: str, graph: onnx.GraphProto) -> None:
        caster, storage = self._caster, self._caster.storage
        if source in caster.survey.constants and source not in caster.prepared.streamed:
            large = caster.streamed.get(source)
            exact = rounded(numpy_helper.to_array(caster.survey.constants[source]) if large is None else large, storage)
            if large is None:
                graph.initializer.append(numpy_helper.from_array(exact, target))
            else:
                self.large[target] = exact
                self._main.input.append(helper.make_tensor_value_info(target, TensorProto.FLOAT, exact.shape))
        else:
            graph.node.extend(self._storing(source, target))

    def _storing(self, source: str, target: str) -> list[onnx.NodeProto]:
        writer = NodeWriter(target)
        if self._broadcasts:
            limited = writer.add("Min", writer.add("Max", source, "__split_low"), "__split_high")
        else:
            limited = writer.add("Clip", source, min=-_LARGEST_SPLIT, max=_LARGEST_SPLIT)
        scaled = writer.add("Mul", limited, "__split_factor")
        writer.add("Sub", scaled, writer.add("Sub", scaled, limited))
        writer.nodes[-1].output[0] = target
        return writer.nodes
