"""A second rounding: products that add their terms from the last to the first.

Kernels add in orders of their own. What only passes in one order passes by luck. FP32 sums of another order differ in
their last digits, that turns some roundings to 16 bits, and each turned one moves all that reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from trtforensics.onnx_models.graphs import STANDARD, copied, integer, operator_set
from trtforensics.onnx_models.rewriting import GraphRewriter, NodeWriter, Scope
from trtforensics.onnx_models.shapes import sizes_by_tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.onnx_models.shapes import Sizes

_FIRST_WITH_STEPS = 10
"""Before this operator set, Slice cannot go backwards."""
_START, _END = -1, -(2**63) + 1


def can_reorder(model: onnx.ModelProto) -> bool:
    """Whether the operator set can turn tensors around."""
    return operator_set(model) >= _FIRST_WITH_STEPS


def reordered(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model in which MatMul, Gemm and Conv without groups read both operands backwards.

    The results are the same but for rounding. What multiplies tensors of no known rank stays as it is.
    """
    turned = copied(model)
    _Turning(sizes_by_tensor(onnx.shape_inference.infer_shapes(model))).rewrite(turned.graph)
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
