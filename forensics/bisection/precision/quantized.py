"""Models with pairs of QuantizeLinear and DequantizeLinear before their products, and the ranges of the pairs.

Ranges are symmetric: the largest magnitude divided by the end of the type is the scale. Activations have one scale a
tensor, as TensorRT wants it; weights one a tensor or one for each channel of the output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisection.precision.answer.kernels import PRODUCTS
from trtforensics.bisection.precision.answer.quantization import QUANTIZED, pairs_of, switched
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.onnx_models.graphs import Survey, copied, integer
from trtforensics.onnx_models.reading import rewritten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import numpy.typing as npt

    from trtforensics.bisection.precision.emulation.judging import Scores
    from trtforensics.bisection.precision.emulation.oracle import Oracle

_OPERANDS = 2
_PERCENTILE = 99.99
_BINS = 2048
_LEVELS = 128
MOST_GROUPS = 24
"""How many groups of products the curve has."""
_STEP = 16
"""How many bins each range of the search by entropy has more than the one before."""


@dataclass(frozen=True, slots=True)
class QuantizedType:
    """A type of 8 bits, its largest value, and how ranges of activations may be chosen.

    Entropy compares histograms with 128 equal steps, which FP8 has not.
    """

    name: str
    elem_type: int
    largest: float
    methods: tuple[str, ...]


TYPES = {
    "int8": QuantizedType("int8", TensorProto.INT8, 127.0, ("max", "percentile", "entropy")),
    "fp8": QuantizedType("fp8", TensorProto.FLOAT8E4M3FN, 448.0, ("max", "percentile")),
}


def products_of(survey: Survey) -> dict[str, tuple[str, ...]]:
    """Return the products of the main graph that can be quantized, with their two operands in FP32."""
    products = {}
    for name, node in survey.nodes.items():
        if node.op_type in PRODUCTS and survey.scopes[node.output[0]] == 0:
            operands = tuple(node.input[:_OPERANDS])
            if all(survey.types.get(each) == TensorProto.FLOAT for each in operands):
                products[name] = operands
    return products


def ranges_of(oracle: Oracle, tensors: Collection[str], methods: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the largest magnitude to keep of each tensor that depends on the samples, by method and name.

    Raises:
        RunError: ONNX Runtime does not return one of them.
    """
    ranges: dict[str, dict[str, float]] = {method: {} for method in methods}
    for name, arrays in oracle.values_of(tensors):
        magnitudes = np.abs(np.concatenate([np.ravel(each) for each in arrays]))
        magnitudes = magnitudes[np.isfinite(magnitudes)]
        for method in methods:
            ranges[method][name] = _METHODS[method](magnitudes) if magnitudes.size else 0.0
    return ranges


def _by_max(magnitudes: npt.NDArray[Any]) -> float:
    return float(magnitudes.max())


def _by_percentile(magnitudes: npt.NDArray[Any]) -> float:
    return float(np.percentile(magnitudes, _PERCENTILE))


def _by_entropy(magnitudes: npt.NDArray[Any]) -> float:
    """Return the range whose 128 steps lose the least information of the histogram (Migacz, GTC 2017).

    The bin of zero counts as its neighbour: a ReLU makes many zeros, and they cost nothing.
    """
    counts, edges = np.histogram(magnitudes, _BINS, range=(0.0, float(magnitudes.max()) or 1.0))
    counts[0] = counts[1]
    best, least = float(edges[-1]), np.inf
    for end in range(_LEVELS, _BINS + 1, _STEP):
        inside = counts[:end].astype(np.float64)
        if not inside.any():
            continue
        clipped = inside.copy()
        clipped[np.flatnonzero(inside)[-1]] += counts[end:].sum()
        steps = np.arange(end) * _LEVELS // end
        filled = np.bincount(steps, inside > 0, _LEVELS)
        means = np.bincount(steps, inside, _LEVELS) / np.maximum(filled, 1.0)
        seen = inside > 0
        kept, share = means[steps][seen], clipped[seen] / clipped.sum()
        lost = float(np.sum(share * np.log(share * kept.sum() / kept)))
        if lost < least:
            best, least = float(edges[end]), lost
    return best


_METHODS: Mapping[str, Callable[[npt.NDArray[Any]], float]] = {
    "max": _by_max,
    "percentile": _by_percentile,
    "entropy": _by_entropy,
}


@dataclass(frozen=True, slots=True)
class Pairs:
    """How pairs are made: the largest magnitude of each activation, the type, scales of weights by channel or not."""

    survey: Survey
    reaches: Mapping[str, float]
    kind: QuantizedType
    by_channel: bool

    def model(self, source: onnx.ModelProto, layers: Collection[str]) -> onnx.ModelProto:
        """Return an FP32 model, of an operator set that knows the type, with a pair at each operand of some products.

        Each product has pairs of its own, named ``LAYER__0_Q`` and so on. Constants get their own values' scales.
        """
        model = copied(source)
        nodes = list(model.graph.node)
        model.graph.ClearField("node")
        for node in nodes:
            for slot in range(_OPERANDS) if node.name in layers else ():
                node.input[slot] = self._add(model.graph, node, slot)
            model.graph.node.append(node)
        return model

    def _add(self, graph: onnx.GraphProto, node: onnx.NodeProto, slot: int) -> str:
        """Add a pair in front of an operand, and return its result."""
        tensor, stem, axis = node.input[slot], f"{node.name}__{slot}", None
        if tensor in self.survey.constants:
            values = np.abs(numpy_helper.to_array(self.survey.constants[tensor]).astype(np.float64))
            axis = _channel_axis(node, values.ndim) if self.by_channel and slot else None
            reach = values.max(axis=tuple(each for each in range(values.ndim) if each != axis), initial=0.0)
        else:
            reach = np.asarray(self.reaches[tensor], np.float64)
        steps = np.where(reach > 0.0, reach / self.kind.largest, 1.0).astype(np.float32)
        zero = helper.make_tensor(f"{stem}_zero", self.kind.elem_type, steps.shape, bytes(steps.size), raw=True)
        scale = numpy_helper.from_array(steps, f"{stem}_scale")
        graph.initializer.extend([scale, zero])
        more: dict[str, Any] = {} if axis is None else {"axis": axis}
        for op, source, name in (
            ("QuantizeLinear", tensor, f"{stem}_Q"),
            ("DequantizeLinear", f"{stem}_Q", f"{stem}_DQ"),
        ):
            graph.node.append(helper.make_node(op, [source, scale.name, zero.name], [name], name=name, **more))
        return f"{stem}_DQ"


def _channel_axis(node: onnx.NodeProto, rank: int) -> int | None:
    """Return the axis of the output's channels in the second operand; None where it has none of its own."""
    if node.op_type == "Conv":
        return 0
    if node.op_type == "ConvTranspose":
        return 1 if integer(node, "group") in {None, 1} else None
    if rank < _OPERANDS:
        return None
    return 0 if node.op_type == "Gemm" and integer(node, "transB") else rank - 1


def scorer(oracle: Oracle, model: onnx.ModelProto) -> Callable[[Collection[str]], Scores]:
    """Return what scores a model of :class:`Pairs` with some of its products in FP32, in one session.

    Raises:
        RunError: ONNX Runtime cannot load it.
        SourceError: it is no valid model.
    """
    caster = Caster(rewritten(oracle.caster.prepared, model, ""), oracle.caster.storage)
    pairs = pairs_of(caster.survey)
    run = oracle.runner(switched(caster, pairs))
    owners = [pair.name.rpartition("__")[0] for pair in pairs]
    return lambda kept: oracle.compared(run({QUANTIZED: np.asarray([owner not in kept for owner in owners])}))
