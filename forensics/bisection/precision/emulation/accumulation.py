"""Matrix products and convolutions that accumulate in FP16, or their terms from the last to the first, as ONNX nodes.

The model is a tensor core's instruction with FP16 accumulators: it adds the products of 16 operands at once to the sum
(``mma.m16n8k16`` in NVIDIA's PTX ISA), and the sum is stored in FP16 after each. The 16 products are added in FP32.
Real kernels take the operands in an order of their own, round inside an instruction too, or split the reduction, so
that rounding differs from theirs in detail. A sum that leaves FP16 after any block is infinite from there on.

A convolution is the product of its weights with the patches of its input; the reduction goes over channels, then over
the positions of the filter. Where an operand is not finite, the result is that of FP32.

Another rounding adds the terms in the other order, and what only passes in one passes by luck. FP32 sums of another
order differ in their last digits, that turns some roundings to 16 bits, and each turned one moves all that reads it.
In shallow models few turn; the twin's nudge has more of them turn.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.onnx_models.graphs import STANDARD, copied, integer, operator_set
from trtforensics.onnx_models.rewriting import GraphRewriter, NodeWriter, Scope
from trtforensics.onnx_models.shapes import Sizes, sizes_by_tensor, without_weights

Rounding = Callable[[str, str], Iterable[onnx.NodeProto]]
Step = Callable[[NodeWriter, Sequence[str], str], list[str]]


BLOCK = 16
"""How many products one instruction adds to the sum."""

FIRST_OPERATOR_SET = 11
"""Before it, neither Pad nor Scan takes what the sums need."""

_MATRIX_RANK = 2
_LARGEST = float(np.finfo(np.float32).max)
_GEOMETRY = frozenset({"auto_pad", "dilations", "pads", "strides"})


@dataclass(frozen=True, slots=True)
class Product:
    """A node that sums: the ranks of both operands as they are multiplied. ``weights`` is the shape of a filter."""

    ranks: tuple[int, int]
    weights: tuple[int, ...] = ()


def product_of(node: onnx.NodeProto, shapes: Mapping[str, Sizes]) -> Product | None:
    """Return how a node's sums can be emulated; None if it has none, or where they are not emulated.

    Not emulated are ConvTranspose, operators that multiply inside, products of vectors, and what has no known rank.
    """
    if node.domain not in STANDARD:
        return None
    known = [shapes.get(name) for name in node.input[:2]]
    left, right = (*known, None, None)[:2]
    if left is None or right is None:
        return None
    if node.op_type == "Gemm" or (node.op_type == "MatMul" and min(len(left), len(right)) >= _MATRIX_RANK):
        return Product((len(left), len(right)))
    if node.op_type == "Conv" and len(right) > _MATRIX_RANK:
        weights = tuple(size for size in right if size)
        return Product((3, 4), weights) if len(weights) == len(right) else None
    return None


def accumulated(node: onnx.NodeProto, product: Product, target: str, rounding: Rounding) -> list[onnx.NodeProto]:
    """Return nodes that compute a product's result with rounded sums from the inputs of ``node``, as ``target``.

    ``node`` itself must be in the graph too, for the exact result; ``rounding`` rounds one tensor into another.
    """
    writer = NodeWriter(target)
    exact = node.output[0]
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    result = _summed(writer, _operands(writer, node, product, attributes), product.ranks, rounding)
    if node.op_type == "Conv":
        result = writer.add("Reshape", result, writer.add("Shape", exact))
    result = _finished(writer, node, product, result, attributes)
    finite = writer.add("Less", writer.add("Abs", exact), writer.constant(_LARGEST, np.float32))
    writer.nodes.append(helper.make_node("Where", [finite, result, exact], [target], name=f"{target}__Where"))
    return writer.nodes


def partial_sums(node: onnx.NodeProto, product: Product, target: str) -> list[onnx.NodeProto]:
    """Return nodes that compute the largest magnitude of a product's sums after each block, beside ``node``."""
    writer = NodeWriter(target)
    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    operands = _operands(writer, node, product, attributes)

    def step(inner: NodeWriter, states: Sequence[str], total: str) -> list[str]:
        return [total, inner.add("Max", states[1], inner.add("Abs", total))]

    largest = _scanned(writer, operands, product.ranks, 2, step)[1]
    writer.nodes.append(helper.make_node("ReduceMax", [largest], [target], name=target, keepdims=0))
    return writer.nodes


def _operands(
    writer: NodeWriter, node: onnx.NodeProto, product: Product, attributes: Mapping[str, Any]
) -> tuple[str, str, str]:
    """Return both operands as they are multiplied, and a tensor of the shape of their product."""
    if node.op_type == "Conv":
        return _patches(writer, node, product.weights, attributes)
    left, right = node.input[0], node.input[1]
    if attributes.get("transA"):
        left = writer.add("Transpose", left, perm=[1, 0])
    if attributes.get("transB"):
        right = writer.add("Transpose", right, perm=[1, 0])
    return left, right, node.output[0]


def _patches(
    writer: NodeWriter, node: onnx.NodeProto, weights: tuple[int, ...], attributes: Mapping[str, Any]
) -> tuple[str, str, str]:
    """Return a convolution as a product by groups: weights, the patches of the input, and the result's shape."""
    # shapes: (groups, filters, reduction), (batch, groups, reduction, places), (batch, groups, filters, places)
    group = int(attributes.get("group", 1))
    taps, channels = prod(weights[2:]), weights[1] * group
    one_hot = np.tile(np.eye(taps, dtype=np.float32), (channels, 1)).reshape(channels * taps, 1, *weights[2:])
    geometry = {name: value for name, value in attributes.items() if name in _GEOMETRY}
    selecting = writer.constant(one_hot, np.float32)
    patches = writer.add("Conv", node.input[0], selecting, group=channels, kernel_shape=list(weights[2:]), **geometry)
    filters = weights[0] // group
    return (
        writer.add("Reshape", node.input[1], writer.constant([group, filters, weights[1] * taps])),
        writer.add("Reshape", patches, writer.constant([0, group, weights[1] * taps, -1])),
        writer.add("Reshape", node.output[0], writer.constant([0, group, filters, -1])),
    )


def _summed(writer: NodeWriter, operands: tuple[str, str, str], ranks: tuple[int, int], rounding: Rounding) -> str:
    """Add the products block by block and round the sum after each."""

    def step(inner: NodeWriter, _states: Sequence[str], total: str) -> list[str]:
        rounded = f"{inner.prefix}_rounded"
        inner.nodes += rounding(total, rounded)
        return [rounded]

    return _scanned(writer, operands, ranks, 1, step)[0]


def _scanned(
    writer: NodeWriter, operands: tuple[str, str, str], ranks: tuple[int, int], states: int, step: Step
) -> list[str]:
    """Go over the blocks with so many states, zero at first; ``step`` makes new ones of them and the next sum."""
    last = list(range(ranks[1]))
    last[-2:] = last[:-3:-1]
    turned = writer.add("Transpose", operands[1], perm=last)
    blocks = [_blocks(writer, name, rank) for name, rank in zip((operands[0], turned), ranks, strict=True)]
    zero = numpy_helper.from_array(np.zeros(1, np.float32), "value")
    start = writer.add("ConstantOfShape", writer.add("Shape", operands[2]), value=zero)
    inner = NodeWriter(f"{writer.prefix}__block")
    names = [f"{inner.prefix}_{word}" for word in (*(f"state_{number}" for number in range(states)), "left", "right")]
    block = inner.add("MatMul", names[-2], inner.add("Transpose", names[-1], perm=last))
    results = step(inner, names[:states], inner.add("Add", names[0], block))
    body = helper.make_graph(inner.nodes, "block", [_value(name) for name in names], [_value(name) for name in results])
    ends = [f"{writer.prefix}__Scan_{number}" for number in range(states)]
    inputs = [*[start] * states, *blocks]
    axes = [rank - 1 for rank in ranks]
    scan = helper.make_node("Scan", inputs, ends, name=ends[0], num_scan_inputs=2, scan_input_axes=axes, body=body)
    writer.nodes.append(scan)
    return ends


def _blocks(writer: NodeWriter, tensor: str, rank: int) -> str:
    """Cut the last axis into blocks, the last one filled up with zeros; shape: (…, blocks, 16)."""
    size = writer.add("Gather", writer.add("Shape", tensor), writer.constant([rank - 1]))
    missing = writer.add("Mod", writer.add("Sub", writer.constant([0]), size), writer.constant([BLOCK]))
    pads = writer.add("Concat", writer.constant([0] * (2 * rank - 1)), missing, axis=0)
    whole = writer.add("Pad", tensor, pads)
    return writer.add("Reshape", whole, writer.constant([0] * (rank - 1) + [-1, BLOCK]))


def _finished(
    writer: NodeWriter, node: onnx.NodeProto, product: Product, result: str, attributes: Mapping[str, Any]
) -> str:
    alpha, beta = (float(attributes.get(name, 1.0)) for name in ("alpha", "beta"))
    if alpha != 1.0:
        result = writer.add("Mul", result, writer.constant(alpha, np.float32))
    bias = node.input[2] if len(node.input) > _MATRIX_RANK else ""
    if not bias:
        return result
    if product.weights:
        bias = writer.add("Reshape", bias, writer.constant([-1] + [1] * (len(product.weights) - 2)))
    if beta != 1.0:
        bias = writer.add("Mul", bias, writer.constant(beta, np.float32))
    return writer.add("Add", result, bias)


def _value(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


_FIRST_WITH_STEPS = 10
"""Before this operator set, Slice cannot go backwards."""
_START, _END = -1, -(2**63) + 1


def can_reorder(model: onnx.ModelProto) -> bool:
    """Whether the operator set can turn tensors around."""
    return operator_set(model) >= _FIRST_WITH_STEPS


def reordered(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model whose MatMul, Gemm, and Conv without groups, of known rank, read both operands backwards."""
    turned = copied(model)
    _Turning(sizes_by_tensor(onnx.shape_inference.infer_shapes(without_weights(model)))).rewrite(turned.graph)
    return turned


class _Turning(GraphRewriter):
    def __init__(self, sizes: Mapping[str, Sizes]) -> None:
        super().__init__()
        self._sizes = sizes

    def node(self, node: onnx.NodeProto, scope: Scope) -> None:
        """Turn the operands of a product around along the axis over which it sums."""
        axes = self._summed_axes(node)
        writer = NodeWriter(f"{node.output[0]}__turned" if axes else "")
        steps = [writer.constant([value]) for value in (_START, _END, -1)] if axes else []
        for slot, axis in enumerate(axes):
            node.input[slot] = writer.add("Slice", node.input[slot], *steps[:2], writer.constant([axis]), steps[2])
        scope.graph.node.extend([*writer.nodes, node])

    def _summed_axes(self, node: onnx.NodeProto) -> tuple[int, ...]:
        """Return the axis of each operand over which a node sums; none if it is no such product."""
        if node.domain not in STANDARD:
            return ()
        if node.op_type == "Gemm":
            return 0 if integer(node, "transA") else 1, 1 if integer(node, "transB") else 0
        if node.op_type == "Conv" and integer(node, "group") in {None, 1}:
            return 1, 1
        ranks = [len(self._sizes.get(name, ())) for name in node.input[:2]]
        return (-1, -min(ranks[1], 2)) if node.op_type == "MatMul" and all(ranks) else ()
