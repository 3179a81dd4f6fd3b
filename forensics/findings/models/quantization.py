"""Q/DQ as a model has it: scales, zero points, pairs, and compute nodes that are left in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trtforensics.findings.finding import Confidence, Observation
from trtforensics.findings.models.seen import of_nodes
from trtforensics.findings.rule import explained

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.onnx_models.checked import CheckedModel, CheckedNode

_QUANTIZE, _DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
_COMPUTE = {"Conv", "ConvTranspose", "Gemm", "MatMul"}
_MOVES = {"Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "MaxPool", "Slice", "Concat", "Identity", "Relu"}
"""Operators that quantised values pass through: TensorRT moves Q and DQ across them."""
_MOST = 0.5
"""Share of quantised compute nodes from which on those left out stand out."""
_SCALE = 1


@explained("TF187")
def wrong_scales(case: Case) -> Iterator[Observation]:
    """Name the nodes whose scale is NaN, infinite, or of another length than its axis; TF171 says the rest."""
    model = case.checked
    for node in model.nodes:
        if node.op in {_QUANTIZE, _DEQUANTIZE} and len(node.proto.input) > _SCALE:
            scale = model.values(node.proto.input[_SCALE], whole=True)
            sizes = model.sizes.get(node.proto.input[0])
            if scale is None or scale.dtype.kind != "f":
                continue
            if not np.isfinite(scale).all():
                yield of_nodes(case, [node], "The scale of {nodes} is NaN or infinite")
            elif scale.ndim == 1 and scale.size > 1 and sizes:
                axis = node.attribute("axis")
                place = 1 if axis is None else int(axis)
                size = sizes[place] if -len(sizes) <= place < len(sizes) else None
                if size not in {None, scale.size}:
                    title = f"{{nodes}} has {scale.size} scales where its axis {place} has {size} channels"
                    yield of_nodes(case, [node], title)


@explained("TF188")
def unpaired(case: Case) -> Iterator[Observation]:
    """Name QuantizeLinear nodes that something else than DequantizeLinear reads."""
    model = case.checked
    results = {value.name for value in model.proto.graph.output}
    for node in model.nodes:
        output = node.proto.output[0] if node.op == _QUANTIZE and node.proto.output else ""
        others = [each for each in model.readers.get(output, ()) if each.op not in {_DEQUANTIZE, *_MOVES}]
        if output and output not in results and (others or output not in model.readers):
            what = f"read by {others[0].op} {others[0].label}" if others else "read by nothing"
            yield of_nodes(case, [node], f"{{nodes}} is {what}, not by a DequantizeLinear")


@explained("TF189")
def left_out(case: Case) -> Iterator[Observation]:
    """Name them, where most compute nodes have Q/DQ."""
    model = case.checked
    compute = [node for node in model.nodes if node.op in _COMPUTE]
    rest = [node for node in compute if not any(_quantised(model, name) for name in node.proto.input[:2])]
    if compute and rest and len(rest) < len(compute) * _MOST:
        title = f"{len(rest)} of {len(compute)} products and convolutions have no Q/DQ on their inputs: {{nodes}}"
        settle = "Whether they were left out for accuracy"
        yield of_nodes(case, rest, title, confidence=Confidence.POSSIBLE, settle=settle, same_as="left out")


def _quantised(model: CheckedModel, tensor: str) -> bool:
    """Whether a tensor comes from a DequantizeLinear, straight or through what only moves values."""
    maker: CheckedNode | None = model.makers.get(tensor)
    passed: set[int] = set()
    while maker is not None and maker.op in _MOVES and maker.number not in passed:
        passed.add(maker.number)
        maker = model.makers.get(maker.proto.input[0])
    return maker is not None and maker.op == _DEQUANTIZE
