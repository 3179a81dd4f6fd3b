"""The emulated twin: FP32 nodes with explicit Casts to 16 bits and back around them.

ONNX Runtime's CPU provider has no FP16 arithmetic. It computes FP16 nodes in FP32 and drops the Casts between them, at
every optimisation level, so that overflow and rounding never show (seen in 1.17 to 1.31). It keeps the explicit pairs
of Casts of the twin. The twin therefore models what 16-bit storage does to each result: its range, and one rounding for
each operator, as of a kernel that accumulates in FP32; or the sums of kernels that accumulate in FP16, where that is
asked for. It does not model TensorRT's fused kernels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import onnx
from onnx import TensorProto

from trtforensics.bisect.precision.casting.preparation import bodies, graphs
from trtforensics.bisect.precision.emulation.accumulation import accumulated, product_of, shapes_of
from trtforensics.model.accumulator import Accumulator

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

_HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
_LEFT_ALONE = frozenset(
    {
        *("Bernoulli", "Cast", "CastLike", "Constant", "ConstantOfShape", "EyeLike", "If", "Loop", "RandomNormal"),
        *("RandomNormalLike", "RandomUniform", "RandomUniformLike", "Scan", "SequenceMap"),
    }
)
"""These operators only pass values on, or state their type in an attribute."""


def emulate(
    model: onnx.ModelProto, accumulator: Accumulator = Accumulator.FP32, wide_sums: Collection[str] = ()
) -> onnx.ModelProto:
    """Return the twin of a typed model: the same interface, with the effects of 16-bit storage on its values.

    16-bit products sum in ``accumulator``, those of the nodes ``wide_sums`` in FP32.
    """
    twin = onnx.ModelProto()
    twin.CopyFrom(model)
    inferred = onnx.shape_inference.infer_shapes(model)
    narrow = _narrow_tensors(inferred)
    if narrow:
        shapes = shapes_of(inferred) if accumulator is Accumulator.FP16 else {}
        _Emulation(narrow, shapes, frozenset(wide_sums)).graph(twin.graph)
    return twin


def store_and_read(source: str, target: str, elem_type: int) -> list[onnx.NodeProto]:
    """Return the Casts of an FP32 tensor to 16 bits and back."""
    narrow = f"{target}__16"
    return [
        onnx.helper.make_node("Cast", [source], [narrow], name=narrow, to=elem_type),
        onnx.helper.make_node("Cast", [narrow], [target], name=f"{target}__32", to=TensorProto.FLOAT),
    ]


def narrow_tensors(model: onnx.ModelProto) -> dict[str, int]:
    """Return the types of all tensors of 16-bit floating-point type, in every graph of a model."""
    return _narrow_tensors(onnx.shape_inference.infer_shapes(model))


def _narrow_tensors(inferred: onnx.ModelProto) -> dict[str, int]:
    kinds = {}
    for graph in graphs(inferred.graph):
        for value in (*graph.input, *graph.output, *graph.value_info):
            kinds[value.name] = value.type.tensor_type.elem_type
        for tensor in graph.initializer:
            kinds[tensor.name] = tensor.data_type
    return {name: kind for name, kind in kinds.items() if kind in _HALVES}


@dataclass(slots=True)
class _Emulation:
    narrow: dict[str, int]
    shapes: Mapping[str, Sequence[int]]
    wide_sums: frozenset[str]
    scopes: Iterator[int] = field(default_factory=lambda: iter(range(1 << 30)))

    def graph(self, graph: onnx.GraphProto) -> None:
        """Rewrite one graph and its subgraphs in place."""
        mark = f"__emulated_{next(self.scopes)}"
        nodes = list(graph.node)
        graph.ClearField("node")
        graph.ClearField("value_info")
        widened: set[str] = set()
        for node in nodes:
            for body in bodies(node):
                self.graph(body)
            if node.op_type in _LEFT_ALONE:
                graph.node.append(node)
            else:
                self._node(node, graph, mark, widened)

    def _node(self, node: onnx.NodeProto, graph: onnx.GraphProto, mark: str, widened: set[str]) -> None:
        sums = self.shapes and node.output[0] in self.narrow and node.name not in self.wide_sums
        product = product_of(node, self.shapes) if sums else None
        for slot, name in enumerate(node.input):
            if name in self.narrow:
                wide = name + mark
                if wide not in widened:
                    widened.add(wide)
                    _add_cast(graph, name, wide, TensorProto.FLOAT)
                node.input[slot] = wide
        written = [name for name in node.output if name in self.narrow]
        for slot, name in enumerate(node.output):
            if name in self.narrow:
                node.output[slot] = f"{name}__exact"
        for attribute in node.attribute:
            if attribute.name == "output_dtype" and attribute.i in _HALVES:
                attribute.i = TensorProto.FLOAT
        graph.node.append(node)
        if product is not None:
            rounding = partial(store_and_read, elem_type=self.narrow[written[0]])
            graph.node.extend(accumulated(node, product, f"{written[0]}__summed", rounding))
            _add_cast(graph, f"{written[0]}__summed", written[0], self.narrow[written[0]])
            return
        for name in written:
            _add_cast(graph, f"{name}__exact", name, self.narrow[name])


def _add_cast(graph: onnx.GraphProto, source: str, target: str, elem_type: int) -> None:
    graph.node.append(onnx.helper.make_node("Cast", [source], [target], name=f"{target}__storage", to=elem_type))
