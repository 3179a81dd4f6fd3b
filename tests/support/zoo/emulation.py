"""An emulation of 16-bit storage in numpy, independent of the product: it runs nodes one by one in ONNX's reference.

A node computes in FP32 from operands that were stored, and its results are stored: once rounded, in FP16 or BF16, or in
FP32. Finite constants beyond the range become the largest value; results beyond it become infinite.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from onnx import AttributeProto, TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import numpy.typing as npt
    import onnx

    from tests.support.zoo.model import Feed, ZooModel

    Values = npt.NDArray[Any]
    Store = Callable[[Values], Values]

_NEVER = frozenset({"Cast", "Constant", "DequantizeLinear", "If", "Loop", "QuantizeLinear"})
_MOVES = frozenset({"Gather", "Identity", "Relu", "Reshape", "Transpose", "Unsqueeze"})
"""They have the type of the data that they move; of the zoo's models only."""

_TYPES: Mapping[str, Any] = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16}
_LARGEST: Mapping[str, float] = {"fp16": 65504.0, "bf16": (2.0 - 2.0**-7) * 2.0**127}
_DIGITS: Mapping[str, int] = {"fp16": 11, "bf16": 8}
CAPS: Mapping[str, float] = {"fp16": 1e-2, "bf16": 5e-2}
"""The largest error that any default tolerance may let pass: by the largest difference, and by relative L2."""

_DISAGREEMENT = 1e-3
"""The largest share of unequal integers."""


def stored(kind: str, values: Values) -> Values:
    """Round FP32 values to a 16-bit type and back."""
    return values.astype(_TYPES[kind]).astype(np.float32)


def digits_only(kind: str, values: Values) -> Values:
    """Round FP32 values to the digits of a 16-bit type, as if its exponent had no limits."""
    parts, exponents = np.frexp(values.astype(np.float64))
    scale = 2.0 ** _DIGITS[kind]
    return np.clip(np.ldexp(np.rint(parts * scale) / scale, exponents), -3.4e38, 3.4e38).astype(np.float32)


@dataclass
class Emulation:
    """One model with some of its nodes in FP32; ``seen`` has every tensor that a run made, by name."""

    model: onnx.ModelProto
    keep: Collection[str]
    kind: str = "fp16"
    accumulate: str = "fp32"
    store: Store | None = None
    seen: dict[str, list[Values]] = field(default_factory=dict)
    narrow: set[str] = field(default_factory=set)
    _programs: dict[str, ReferenceEvaluator] = field(default_factory=dict)

    def run(self, feed: Feed) -> Values:
        """Return the output ``y``."""
        with np.errstate(all="ignore"):
            return self._graph(self.model.graph, dict(feed))["y"]

    def _graph(self, graph: onnx.GraphProto, values: dict[str, Values]) -> dict[str, Values]:
        constants = {tensor.name for tensor in graph.initializer}
        values.update({tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer})
        for node in graph.node:
            if node.op_type == "Constant":
                constants.add(node.output[0])
            for name, result in zip(node.output, self._node(node, values, constants), strict=True):
                values[name] = result
                self.seen.setdefault(name, []).append(result)
        return values

    def _node(self, node: onnx.NodeProto, values: dict[str, Values], constants: set[str]) -> list[Values]:
        bodies = {attribute.name: attribute.g for attribute in node.attribute if attribute.type == AttributeProto.GRAPH}
        if node.op_type == "If":
            body = bodies["then_branch" if values[node.input[0]] else "else_branch"]
            inner = self._graph(body, dict(values))
            return [inner[value.name] for value in body.output]
        if node.op_type == "Loop":
            return self._loop(node, bodies["body"], values)
        operands = [values[name] if name else None for name in node.input]
        if not self._is_narrow(node, values):
            return list(self._computed(node, operands))
        store = self.store or partial(stored, self.kind)
        self.narrow.update(node.output)
        for slot, name in enumerate(node.input):
            wide = operands[slot]
            if wide is None or wide.dtype != np.float32 or (node.op_type == "BatchNormalization" and slot):
                continue
            if name in constants and self.store is None:
                limit = _LARGEST[self.kind]
                wide = np.where(np.isfinite(wide), np.clip(wide, -limit, limit), wide)
            operands[slot] = store(wide)
        if self.accumulate == "fp16" and node.op_type in _SUMS:
            return [store(_SUMS[node.op_type](node, operands, store))]
        return [store(result) if result.dtype == np.float32 else result for result in self._computed(node, operands)]

    def _loop(self, node: onnx.NodeProto, body: onnx.GraphProto, values: dict[str, Values]) -> list[Values]:
        going, states = values[node.input[1]], [values[name] for name in node.input[2:]]
        for step in range(int(values[node.input[0]])):
            names = [value.name for value in body.input]
            inner = self._graph(body, {**values, **dict(zip(names, [np.asarray(step), going, *states], strict=True))})
            states = [inner[value.name] for value in body.output[1:]]
        return states

    def _is_narrow(self, node: onnx.NodeProto, values: Mapping[str, Values]) -> bool:
        if node.name in self.keep or node.op_type in _NEVER:
            return False
        if node.op_type in _MOVES:
            return node.input[0] in self.narrow
        return any(name and values[name].dtype == np.float32 for name in node.input)

    def _computed(self, node: onnx.NodeProto, operands: list[Values | None]) -> list[Values]:
        program = self._programs.get(node.name)
        if program is None:
            versions = {entry.domain: entry.version for entry in self.model.opset_import}
            program = self._programs[node.name] = ReferenceEvaluator(node, opsets=versions)
        feed = {name: each for name, each in zip(node.input, operands, strict=True) if each is not None}
        if node.op_type == "Constant":
            return [numpy_helper.to_array(node.attribute[0].t)]
        if node.op_type == "Cast":
            return [_cast(feed[node.input[0]], node.attribute[0].i)]
        return [np.asarray(result) for result in program.run(None, feed)]


def _product(_node: onnx.NodeProto, operands: Sequence[Any], store: Store) -> Values:
    """Multiply matrices; the sum is stored after each 16 terms."""
    left, right = operands
    total = np.zeros((*left.shape[:-1], right.shape[-1]), np.float32)
    for start in range(0, left.shape[-1], 16):
        part = slice(start, start + 16)
        total = store((left[..., part].astype(np.float64) @ right[part].astype(np.float64) + total).astype(np.float32))
    return total


def _convolution(_node: onnx.NodeProto, operands: Sequence[Any], store: Store) -> Values:
    """Convolve 3 x 3, padded by 1; the sum over channels and then places is stored after each 16 terms."""
    (image,), filters, bias = operands
    padded = np.pad(image, [(0, 0), (1, 1), (1, 1)])
    result = np.empty((1, len(filters), *image.shape[1:]), np.float32)
    for row, column in np.ndindex(*image.shape[1:]):
        patch = padded[:, row : row + 3, column : column + 3].reshape(1, -1)
        sums = _product(_node, [patch, filters.reshape(len(filters), -1).T], store)
        result[0, :, row, column] = sums[0] + bias
    return result


_SUMS: Mapping[str, Callable[[onnx.NodeProto, Sequence[Any], Store], Values]] = {
    "Conv": _convolution,
    "MatMul": _product,
}
"""Of the zoo's models with FP16 sums only."""


def _cast(values: Values, kind: int) -> Values:
    types: Mapping[int, Any] = {
        TensorProto.FLOAT: np.float32,
        TensorProto.FLOAT16: np.float16,
        TensorProto.BFLOAT16: ml_dtypes.bfloat16,
        TensorProto.DOUBLE: np.float64,
        TensorProto.BOOL: np.bool_,
    }
    return values.astype(types[kind])


@dataclass(frozen=True, slots=True)
class Errors:
    """The worst errors of an output over all samples; infinite where it is not finite though the reference is.

    ``disagreement`` is the share of unequal values of an output of integers.
    """

    largest: float
    relative_l2: float
    disagreement: float = 0.0

    def exceed(self, limits: Errors) -> bool:
        """Whether the output is too far away by one of the measures."""
        return (
            not (self.largest <= limits.largest and self.relative_l2 <= limits.relative_l2)
            or self.disagreement > limits.disagreement
        )


def errors(model: onnx.ModelProto, zoo: ZooModel, keep: Collection[str], store: Store | None = None) -> Errors:
    """Return the errors of the model with some nodes in FP32."""
    everything = _all_nodes(model.graph)
    worst = Errors(0.0, 0.0)
    for feed in zoo.samples:
        wanted = Emulation(model, everything, zoo.precision).run(feed)
        seen = Emulation(model, keep, zoo.precision, zoo.accumulate, store).run(feed)
        worst = _worse(worst, _compared(wanted, seen))
    return worst


def tolerance(model: onnx.ModelProto, zoo: ZooModel) -> Errors:
    """Return the default tolerances: from the rounding floor, and never more than the cap."""
    floor = errors(model, zoo, (), partial(digits_only, zoo.precision))
    least = 2.0 * 2.0 ** -_DIGITS[zoo.precision]
    largest, relative = (
        min(CAPS[zoo.precision], max(4.0 * each, least)) for each in (floor.largest, floor.relative_l2)
    )
    return Errors(largest, relative, _DISAGREEMENT)


def safe_nodes(model: onnx.ModelProto, zoo: ZooModel, repair: Collection[str]) -> frozenset[str]:
    """Return the repair with every node that computes and touches a tensor that the repair leaves lost.

    A tensor is lost where the emulation has NaN, infinity or nothing but zeros, and FP32 has not. What is lost only
    because an operand was lost counts when its operands are kept.
    """
    everything, safe, before = _all_nodes(model.graph), frozenset(repair), None
    while safe != before:
        before = safe
        for feed in zoo.samples:
            exact = Emulation(model, everything, zoo.precision)
            twin = Emulation(model, safe, zoo.precision, zoo.accumulate)
            exact.run(feed)
            twin.run(feed)
            masks = _read_by_softmax_only(model)
            lost = {
                name
                for name, made in twin.seen.items()
                if any(map(partial(_is_lost, mask=name in masks), exact.seen[name], made))
            }
            first = {
                name
                for node in _nodes(model.graph)
                for name in node.output
                if name in lost and not lost.intersection(node.input)
            }
            safe |= _touching(model, first)
    return safe


def _touching(model: onnx.ModelProto, tensors: Collection[str]) -> frozenset[str]:
    touched = set(tensors)
    for node in _nodes(model.graph):
        if node.op_type in _MOVES and touched.intersection(node.input[:1]):
            touched.update(node.output)
    return frozenset(
        node.name
        for node in _nodes(model.graph)
        if touched.intersection((*node.input, *node.output)) and node.op_type not in _NEVER | _MOVES
    )


def _read_by_softmax_only(model: onnx.ModelProto) -> set[str]:
    others = {name for node in _nodes(model.graph) if node.op_type != "Softmax" for name in node.input}
    return {node.input[0] for node in _nodes(model.graph) if node.op_type == "Softmax"} - others


def _is_lost(exact: Values, twin: Values, *, mask: bool) -> bool:
    if exact.dtype != np.float32:
        return False
    if mask:
        twin = np.where((exact < -_LARGEST["fp16"]) & (twin == -np.inf), exact, twin)
    return bool((np.isfinite(exact) & ~np.isfinite(twin)).any() or (exact.any() and not twin.any()))


def _compared(wanted: Values, seen: Values) -> Errors:
    if wanted.dtype.kind != "f":
        return Errors(0.0, 0.0, float(np.mean(wanted != seen)))
    exact, found = wanted.astype(np.float64).ravel(), seen.astype(np.float64).ravel()
    if not np.isfinite(found[np.isfinite(exact)]).all():
        return Errors(np.inf, np.inf)
    difference = np.abs(exact - found)
    return Errors(
        float(difference.max() / np.abs(exact).max()), float(np.linalg.norm(difference) / np.linalg.norm(exact))
    )


def _worse(one: Errors, other: Errors) -> Errors:
    return Errors(
        max(one.largest, other.largest),
        max(one.relative_l2, other.relative_l2),
        max(one.disagreement, other.disagreement),
    )


def _nodes(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    found = []
    for node in graph.node:
        found.append(node)
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                found += _nodes(attribute.g)
    return found


def _all_nodes(graph: onnx.GraphProto) -> frozenset[str]:
    return frozenset(node.name for node in _nodes(graph))
