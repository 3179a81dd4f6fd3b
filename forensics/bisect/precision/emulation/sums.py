"""Products whose sums leave FP16 where a kernel accumulates in it.

The twin rounds a sum once, as a kernel does that accumulates in FP32. Which accumulator a kernel has depends on its
tactic. A partial sum stays within the sum of the products' magnitudes, so that a smaller one cannot overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper

from trtforensics.bisect.precision.emulation.accumulation import partial_sums, product_of, shapes_of
from trtforensics.bisect.precision.emulation.twin import emulate

if TYPE_CHECKING:
    from collections.abc import Collection

    from trtforensics.bisect.precision.emulation.oracle import Oracle

PRODUCTS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_MARK = "__magnitudes"
_PARTIAL = "__partial_sum"
_OPERANDS = 2
_NODES_A_RUN = 64


def sums_beyond(oracle: Oracle, keep: Collection[str]) -> dict[str, float]:
    """Return the products of the main graph in 16 bits whose sum of magnitudes exceeds the type, with the largest.

    Operands are those of the FP32 model; nodes in ``keep`` stay FP32 and are left out.

    Raises:
        RunError: ONNX Runtime cannot run the model with these sums.
    """
    caster = oracle.caster
    names = [
        name for name, node in caster.candidates.items() if node.op in PRODUCTS and node.scope == 0 and name not in keep
    ]
    largest: dict[str, float] = {}
    for start in range(0, len(names), _NODES_A_RUN):
        part = names[start : start + _NODES_A_RUN]
        for outputs in oracle.outputs_of(_with_sums(oracle, part)):
            for name in part:
                value = float(np.max(outputs[name + _MARK], initial=0.0))
                largest[name] = max(largest.get(name, 0.0), value)
    return {name: value for name, value in largest.items() if value > caster.storage.largest}


def _with_sums(oracle: Oracle, names: Collection[str]) -> onnx.ModelProto:
    """Return the model with the products of the magnitudes of operands as its outputs, without what is added."""
    model = emulate(oracle.caster.prepared.proto)
    model.graph.ClearField("output")
    done: set[str] = set()
    for name in names:
        node = oracle.caster.survey.nodes[name]
        for tensor in node.input[:_OPERANDS]:
            if tensor not in done:
                done.add(tensor)
                model.graph.node.append(
                    helper.make_node("Abs", [tensor], [tensor + _MARK], name=f"{tensor}{_MARK}_Abs")
                )
        product = onnx.NodeProto()
        product.CopyFrom(node)
        product.name = product.output[0] = name + _MARK
        del product.input[_OPERANDS:], product.output[1:]
        product.input[:] = [tensor + _MARK for tensor in product.input]
        model.graph.node.append(product)
        model.graph.output.append(helper.make_tensor_value_info(product.output[0], TensorProto.FLOAT, None))
    return model


def largest_partial_sums(oracle: Oracle, names: Collection[str]) -> dict[str, float]:
    """Return the largest magnitude that the sum of each product has after a block of its terms, in FP32.

    Of the main graph, and where the sums can be emulated.

    Raises:
        RunError: ONNX Runtime cannot run the model with these sums.
    """
    proto, survey = oracle.caster.prepared.proto, oracle.caster.survey
    shapes = shapes_of(proto)
    model = emulate(proto)
    model.graph.ClearField("output")
    for name in names:
        node = survey.nodes[name]
        product = product_of(node, shapes)
        if product is not None and survey.scopes[node.output[0]] == 0:
            model.graph.node.extend(partial_sums(node, product, name + _PARTIAL))
            model.graph.output.append(helper.make_tensor_value_info(name + _PARTIAL, TensorProto.FLOAT, None))
    if not model.graph.output:
        return {}
    runs = oracle.outputs_of(model)
    return {tap.removesuffix(_PARTIAL): max(float(run[tap]) for run in runs) for tap in runs[0]}
