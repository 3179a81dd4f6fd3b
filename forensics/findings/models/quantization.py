"""Q/DQ as a model has it: scales, zero points, pairs, and compute nodes that are left in between."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.engines.requests import allows
from trtforensics.findings.finding import Confidence, Observation, Severity
from trtforensics.findings.models.seen import by_reason, of_nodes
from trtforensics.findings.rule import explained
from trtforensics.onnx_models.graphs import integer, reachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import onnx

    from trtforensics.findings.case import Case
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.onnx_models.checked_graph import CheckedNode
    from trtforensics.onnx_models.samples import Values

_QUANTIZE, _DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
_COMPUTE = {"Conv", "ConvTranspose", "Gemm", "MatMul"}
_RESHAPES = {"DepthToSpace", "Expand", "Flatten", "Reshape", "SpaceToDepth", "Squeeze", "Tile", "Unsqueeze"}
MOVES = _RESHAPES | {"Abs", "Concat", "Gather", "Identity", "MaxPool", "Neg", "Pad", "Slice", "Split", "Transpose"}
"""Operators that TensorRT moves Q and DQ across (TensorRT-RTX 1.7.1 does); not so Relu, Clip, AveragePool, Resize."""
NORMALISATIONS = {"LayerNormalization", "GroupNormalization", "InstanceNormalization", "RMSNormalization"}
_EPILOGUES = {"BatchNormalization", "Relu", "LeakyRelu", "Clip", "Sigmoid", "Elu"}
_FLOATING = {"Softmax", "LogSoftmax", *NORMALISATIONS}
"""Operators without a kernel of 8 bits outside of a fused attention."""
_MOST = 0.5
"""Share of quantised compute nodes from which on those left out stand out."""
_SCALE = 1
_STEPS = 127
"""Steps of INT8 on each side of 0."""


def moved_by(node: onnx.NodeProto) -> Sequence[str]:
    """Return the tensors that a node only moves; none where it does more."""
    return () if node.op_type not in MOVES else node.input if node.op_type == "Concat" else node.input[:1]


_AFTER_WRONG_AXIS = (10, 2)
"""After the last importers known that take axis 0 where none is named (8.5 to 10.1); TensorRT-RTX 1.7.1 takes 1."""


@explained("TF187")
def wrong_scales(case: Case) -> Iterator[Observation]:
    """Name the nodes whose scale is NaN, infinite, or of another length than its axis; TF171 says the rest."""
    model = case.checked
    for node in model.nodes:
        if node.op not in {_QUANTIZE, _DEQUANTIZE} or len(node.proto.input) <= _SCALE:
            continue
        scale, sizes = model.values(node.proto.input[_SCALE], whole=True), model.sizes.get(node.proto.input[0])
        if why := _of_another_type(model, node) or _without_axis(case, node):
            yield of_nodes(case, [node], why)
        elif scale is None or scale.dtype.kind != "f":
            continue
        elif why := _misfit(model, node, scale):
            yield of_nodes(case, [node], why)
        elif why := _wasted(model, node, scale):
            yield of_nodes(case, [node], why, severity=Severity.WARNING)
        elif scale.size > 1 and _feeds_product(model, node) and not model.is_static(node.proto.input[0]):
            title = (
                f"{{nodes}} has a scale for each of {scale.size} channels of an activation, which products take one of"
            )
            settle = "Whether what reads it runs in 8 bits"
            yield of_nodes(case, [node], title, severity=Severity.WARNING, settle=settle)
        elif scale.ndim == 1 and scale.size > 1 and sizes:
            place, wanted = _axis(node), _channels(model, node)
            if wanted is not None and place % len(sizes) != wanted % len(sizes):
                title = f"{{nodes}} has a scale for each place of axis {place}, output channels are axis {wanted}"
                settle = "Whether the build runs what reads it in INT8"
                yield of_nodes(case, [node], title, severity=Severity.WARNING, settle=settle)


def _axis(node: CheckedNode) -> int:
    axis = node.attribute("axis")
    return 1 if axis is None else int(axis)


def _without_axis(case: Case, node: CheckedNode) -> str:
    """Return that ONNX and the parser mean different axes where a node names none, in words."""
    stated = case.version is not None and not case.version.rtx and case.version.numbers < _AFTER_WRONG_AXIS
    _, scales = case.checked.weights.get(node.proto.input[_SCALE], ("", ()))
    channels = len(scales) == 1 and scales[0] > 1
    wrong = stated and channels and node.attribute("axis") is None
    return "{nodes} names no axis for its scales, for which ONNX takes 1 and the parser 0" if wrong else ""


def _of_another_type(model: CheckedModel, node: CheckedNode) -> str:
    """Return that ``output_dtype`` is not the type of the zero points, in words."""
    point = model.type_of(node.proto.input[2]) if node.op == _QUANTIZE and len(node.proto.input) > _SCALE + 1 else ""
    stated = node.element("output_dtype")
    unlike = "UNDEFINED" not in {stated, point} and point not in {"", stated}
    return f"{{nodes}} has output_dtype {stated} and a zero point of {point}" if unlike else ""


def _misfit(model: CheckedModel, node: CheckedNode, scale: Values) -> str:
    """Return what is wrong with the values, the number or the blocks of scales, in words."""
    sizes, axis = model.sizes.get(node.proto.input[0]), _axis(node)
    points = model.values(node.proto.input[2], whole=True) if len(node.proto.input) > _SCALE + 1 else None
    if points is not None and points.size != scale.size:
        return f"{{nodes}} has {scale.size} scales and {points.size} zero points"
    if not np.isfinite(scale).all():
        return "The scale of {nodes} is NaN or infinite"
    if scale.size == 1 or not sizes:
        return ""
    if scale.ndim == 1 and not -len(sizes) <= axis < len(sizes):
        return f"The axis {axis} of {{nodes}} is none of {len(sizes)} dimensions"
    if scale.ndim == 1 and sizes[axis] not in {None, scale.size}:
        return f"{{nodes}} has {scale.size} scales where its axis {axis} has {sizes[axis]} channels"
    blocks = [size % count for size, count in zip(sizes, scale.shape, strict=False) if size not in {None, count}]
    shapes = " and ".join("x".join(map(str, each)) for each in (scale.shape, sizes))
    wrong = scale.ndim > 1 and (scale.ndim != len(sizes) or blocks not in ([], [0]))
    return f"The scales and the values of {{nodes}} are {shapes}: blocks are along one dimension" if wrong else ""


def _wasted(model: CheckedModel, node: CheckedNode, scale: Values) -> str:
    """Return that the scales clip most of constant weights in INT8, or make all of them 0, in words."""
    weights = model.values(node.proto.input[0], whole=True) if node.op == _QUANTIZE else None
    point = model.type_of(node.proto.input[2]) if len(node.proto.input) > _SCALE + 1 else "INT8"
    if weights is None or not weights.any() or point != "INT8" or scale.ndim > 1:
        return ""
    places = [1] * weights.ndim
    places[_axis(node) % weights.ndim if scale.ndim else 0] = -1
    steps = np.abs(weights.astype(np.float32) / scale.reshape(places))
    if (steps > _STEPS).mean() > _MOST:
        ends = f"{np.abs(weights).max():.3g}, its range ends at {scale.max() * _STEPS:.3g}"
        return f"{{nodes}} clips most weights: they are up to {ends}"
    return "{nodes} makes all weights 0, as its scale is larger than they are" if steps.max() < _MOST else ""


def _feeds_product(model: CheckedModel, node: CheckedNode) -> bool:
    behind = (reader for pair in model.readers.get(node.proto.output[0], ()) for reader in _readers(model, pair))
    return node.op == _QUANTIZE and any(reader.op in _COMPUTE for reader in behind)


def _channels(model: CheckedModel, node: CheckedNode) -> int | None:
    """Return the axis of output channels of weights that a node dequantises for a layer; None where none reads them."""
    reader = next(iter(model.readers.get(node.proto.output[0], ())), None)
    if node.proto.input[0] not in model.constants or reader is None or reader.proto.input[1:2] != node.proto.output[:1]:
        return None
    return channel_axis(reader.proto)


def channel_axis(node: onnx.NodeProto) -> int | None:
    """Return the axis of the output's channels in the second operand of a product; None where it has none."""
    apart = node.op_type == "ConvTranspose" and integer(node, "group") not in {None, 1}
    places = {"Conv": 0, "ConvTranspose": 1, "MatMul": -1, "Gemm": 0 if integer(node, "transB") else 1}
    return None if apart else places.get(node.op_type)


@explained("TF188")
def unpaired(case: Case) -> Iterator[Observation]:
    """Name QuantizeLinear nodes that something else than DequantizeLinear reads."""
    model = case.checked
    results = {value.name for value in model.proto.graph.output}
    for node in model.nodes:
        output = node.proto.output[0] if node.op == _QUANTIZE and node.proto.output else ""
        others = [each for each in model.readers.get(output, ()) if each.op not in {_DEQUANTIZE, *MOVES}]
        if output and output not in results and (others or output not in model.readers):
            what = f"read by {others[0].op} {others[0].label}" if others else "read by nothing"
            yield of_nodes(case, [node], f"{{nodes}} is {what}, not by a DequantizeLinear")
        pairs = (reader for reader in model.readers.get(output, ()) if output and reader.op == _DEQUANTIZE)
        for reader in pairs:
            if not _same_scale(model, node, reader):
                title = "{nodes} have different scales, which multiplies the values"
                yield of_nodes(case, [node, reader], title)


def _same_scale(model: CheckedModel, *pair: CheckedNode) -> bool:
    first, other = (model.values(node.proto.input[_SCALE]) for node in pair)
    return first is None or other is None or first.shape != other.shape or bool(np.allclose(first, other))


@explained("TF189")
def left_out(case: Case) -> Iterator[Observation]:
    """Name them, where most compute nodes have Q/DQ."""
    model = case.checked
    compute = [node for node in model.nodes if node.op in _COMPUTE]
    rest = [node for node in compute if not any(quantised(model, name) for name in node.proto.input[:2])]
    if compute and rest and len(rest) < len(compute) * _MOST:
        title = f"{len(rest)} of {len(compute)} products and convolutions have no Q/DQ on their inputs: {{nodes}}"
        settle = "Whether they were left out for accuracy"
        yield of_nodes(case, rest, title, confidence=Confidence.POSSIBLE, settle=settle, same_as="left out")
    islands = [node for node in rest if node.proto.input[1] in model.constants and _is_between(model, node)]
    if islands:
        title = "{nodes} in floating point between quantised layers, with conversions on both sides"
        severity, settle = Severity.WARNING, "Whether it was left out for accuracy"
        yield of_nodes(case, islands, title, severity=severity, settle=settle, same_as="islands")
    asked = allows(case.build, "INT8", "FP8") or any(
        all(quantised(model, name) for name in node.proto.input[:2]) for node in compute
    )
    types = ((node, sorted({_stored_as(model, name) for name in node.proto.input[:2]} - {""})) for node in compute)
    reasons = ((node, f"inputs come from {' and '.join(each)}" if len(each) > 1 else "") for node, each in types)
    yield from by_reason(case, reasons, severity=Severity.WARNING, settle="A build")
    for side, words in ((0, "weights have none"), (1, "activations have none")):
        half = [node for node in compute if len(node.proto.input) > 1 and halved(model, node) == side]
        if half:
            title = f"{{nodes}} in floating point: Q/DQ on one input alone, {words}"
            severity = Severity.NOTE if side and not asked else Severity.WARNING  # a model of weights alone saves size
            settle = "The types of these layers in a build"
            yield of_nodes(case, half, title, severity=severity, settle=settle, same_as=words)


def _is_between(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether a quantised product or convolution comes next before a node, and one next behind it."""

    def is_next(step: Callable[[CheckedNode], Iterable[CheckedNode]]) -> bool:
        near = reachable(step(node), lambda each: () if each.op in _COMPUTE else step(each))
        return any(
            each.op in _COMPUTE and all(quantised(model, name) for name in each.proto.input[:2]) for each in near
        )

    before = is_next(lambda each: filter(None, map(model.makers.get, each.proto.input)))
    return before and is_next(partial(_readers, model))


def _readers(model: CheckedModel, node: CheckedNode) -> list[CheckedNode]:
    return [reader for name in node.proto.output for reader in model.readers.get(name, ())]


def _stored_as(model: CheckedModel, tensor: str) -> str:
    """Return the type of 8 bits that a DequantizeLinear makes a tensor of; empty for any other."""
    maker = model.makers.get(tensor)
    element = model.type_of(maker.proto.input[0]) if maker is not None and maker.op == _DEQUANTIZE else ""
    return element if element in {"INT8", "FLOAT8E4M3FN"} else ""


def halved(model: CheckedModel, node: CheckedNode) -> int | None:
    """Return which of the first two inputs alone is quantised, to 8 bits; None where both or none are."""
    has = [quantised(model, name) for name in node.proto.input[:2]]
    makers = [maker for name in node.proto.input if (maker := model.makers.get(name)) and maker.proto.input]
    packed = any("4" in model.type_of(maker.proto.input[0])[-4:] for maker in makers)
    return None if has[0] == has[1] or packed else has.index(True)


def quantised(model: CheckedModel, tensor: str) -> bool:
    """Whether a tensor comes from a DequantizeLinear, straight or through what TensorRT moves it across."""

    def behind(name: str) -> Sequence[str]:
        maker = model.makers.get(name)
        return () if maker is None else moved_by(maker.proto)

    origins = [model.makers.get(name) for name in reachable([tensor], behind) if not behind(name)]
    pairs = [maker.proto for maker in origins if maker is not None and maker.op == _DEQUANTIZE]
    scales = [scale for pair in pairs if (scale := model.values(pair.input[_SCALE])) is not None]
    same = all(np.array_equal(scale, scales[0]) for scale in scales)  # across Concat it moves those of one scale
    return same and len(pairs) == len(origins) > 0  # a circle has none


def _adds_unquantised(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether a computed tensor without Q/DQ is added to a product in 8 bits, and the sum is quantised."""
    makers = [model.makers.get(name) for name in node.proto.input]
    products = [maker for maker in makers if maker is not None and maker.op in _COMPUTE]
    eights = [all(quantised(model, name) for name in product.proto.input[:2]) for product in products]
    others = [name for name in node.proto.input if model.makers.get(name) not in products]
    plain = any(name not in model.constants and not quantised(model, name) for name in others)
    readers = model.readers.get(node.proto.output[0], ())
    behind = (each.op for reader in readers for each in (reader, *model.readers.get(reader.proto.output[0], ())))
    return eights == [True] and plain and _QUANTIZE in behind


def placements(case: Case) -> Iterator[Observation]:
    """Forecast which sums stay in floating point for want of Q/DQ, and which Q/DQ end fusions or only convert."""
    model = case.checked
    sums = [node for node in model.nodes if node.op == "Add" and _adds_unquantised(model, node)]
    if sums:
        title = "Forecast: {nodes} in floating point: the other addend of a quantised product has no Q/DQ"
        settle = "The types of these layers in a build"
        yield of_nodes(case, sums, title, severity=Severity.WARNING, settle=settle, same_as="residual")
    for words, nodes in needless_pairs(model).items():
        title = f"Forecast: the Q/DQ before {{nodes}} {words}"
        yield of_nodes(case, nodes, title, severity=Severity.WARNING, settle="A build", same_as=words)


def needless_pairs(model: CheckedModel) -> dict[str, list[CheckedNode]]:
    """Return the nodes behind Q/DQ that end a fusion or only convert, by what their Q/DQ do."""
    apart: dict[str, list[CheckedNode]] = {}
    for node in model.nodes:
        pair = model.makers.get(node.proto.input[0]) if node.proto.input else None
        before = model.makers.get(pair.proto.input[0]) if pair is not None and pair.op == _DEQUANTIZE else None
        if before is None:
            continue
        maker = model.makers.get(before.proto.input[0]) if before.op == _QUANTIZE else None
        if node.op == _QUANTIZE and not _same_scale(model, before, node):
            apart.setdefault("round twice, by other scales than its own", []).append(node)
        elif node.op in _EPILOGUES and maker is not None and maker.op in _COMPUTE:
            apart.setdefault("stand between it and what is computed before, which ends the fusion", []).append(node)
        elif node.op in _FLOATING:
            apart.setdefault("only convert around it, as no INT8 kernel has it", []).append(node)
    return apart
