"""Normalisations that an exporter wrote as ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add.

TensorRT fuses such a chain into one kernel, and keeps the type of each node inside it: in FP16, squares overflow where
a value is further than 255 from the mean (names of kernels in logs of TensorRT-RTX 1.7.1). The operators
LayerNormalization (TensorRT 8.6 and later) and RMSNormalization (10.15 and later) compute their statistics in FP32.

A normalisation of groups of channels is a chain between two Reshapes. LayerNormalization replaces it inside of them,
with constants of the sizes of its axes; where these are not fixed, GroupNormalization replaces the Reshapes too. Its
operator set 21 has a scale for each channel, which TensorRT takes from 10.15 on (``addNormalizationV2``); ONNX has
withdrawn that of 18.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper, version_converter

from trtforensics.onnx_models.checked_graph import Survey
from trtforensics.onnx_models.graphs import copied, operator_set, read_in, refill
from trtforensics.onnx_models.samples import Values
from trtforensics.onnx_models.shapes import dims_of
from trtforensics.onnx_models.streaming import key_of

Size = int | str | None

LAYER, RMS, GROUP = "LayerNormalization", "RMSNormalization", "GroupNormalization"
_CHANNELS = 1
"""The axis of channels, and of groups of them."""

SINCE: Mapping[str, int] = {LAYER: 17, GROUP: 21, RMS: 23}
"""The ONNX operator set that has each operator."""


@dataclass(frozen=True, slots=True)
class NormChain:
    """A chain: ``result = operator(source)`` over the axes from ``axis`` on.

    ``scale`` and ``bias`` have the shape of those axes; with ``groups``, of the channels. What ``nodes`` compute is not
    used elsewhere.
    """

    operator: str
    source: str
    result: str
    axis: int
    epsilon: float
    scale: Values
    bias: Values | None
    nodes: frozenset[str]
    groups: int = 0


def chains_of(model: onnx.ModelProto, survey: Survey) -> list[NormChain]:
    """Return the chains of a model's main graph, in its order; each can be replaced by its operator."""
    search = _ChainSearch(model, survey)
    chains = (search.chain(node) for node in model.graph.node if node.op_type in {"Div", "Mul"})
    return [chain for chain in chains if chain is not None]


def other_axes(model: onnx.ModelProto, survey: Survey) -> list[str]:
    """Return the divisions of normalisations in the main graph that no operator computes.

    Their axes are not the last ones, or of unknown sizes and no groups of channels.
    """
    search = _ChainSearch(model, survey)
    divisions = (node for node in model.graph.node if node.op_type in {"Div", "Mul"})
    return [node.name for node in divisions if search.chain(node) is None and search.centred(node) is not None]


@dataclass(frozen=True, slots=True)
class _Statistics:
    """``Sqrt(ReduceMean(centred ** 2) + epsilon)``, or what that is the reciprocal of."""

    centred: str
    axes: tuple[int, ...]
    epsilon: float


class _ChainSearch:
    def __init__(self, model: onnx.ModelProto, survey: Survey) -> None:
        self._survey = survey
        values = (*model.graph.input, *model.graph.output, *model.graph.value_info)
        self._shapes = {value.name: dims for value in values if (dims := dims_of(value)) is not None}
        self._outputs = {value.name for value in model.graph.output}

    def chain(self, last: onnx.NodeProto) -> NormChain | None:
        """Return the chain whose division is this node."""
        normalisation = self.centred(last)
        if normalisation is None:
            return None
        operator, source, statistics = normalisation
        shape = self._shapes[source]
        axis = len(shape) - len(statistics.axes)
        if statistics.axes != tuple(range(axis, len(shape))):
            return None
        sizes = tuple(size for size in shape[axis:] if isinstance(size, int))
        if len(sizes) < len(statistics.axes):
            in_groups = operator == LAYER and axis == _CHANNELS + 1
            return self._of_groups(last.output[0], source, statistics.epsilon) if in_groups else None
        scale, bias, result = self._affine(operator, last.output[0], sizes)
        nodes = self._only_for(result, source)
        return NormChain(operator, source, result, axis, statistics.epsilon, scale, bias, nodes)

    def _of_groups(self, normal: str, grouped: str, epsilon: float) -> NormChain | None:
        """Return the chain from the tensor that is reshaped into groups of channels to the one that is so no more."""
        split = self._producer(grouped, "Reshape")
        join = self._reader(normal, "Reshape")
        if split is None or join is None or join.input[0] != normal:
            return None
        source, result = split.input[0], join.output[0]
        before, groups = self._shapes.get(source, ()), self._shapes[grouped][_CHANNELS]
        channels = before[_CHANNELS] if len(before) > _CHANNELS + 1 else None
        if not isinstance(channels, int) or not isinstance(groups, int) or channels % groups:
            return None
        if not (self._keeps_first(split) and self._undoes(join, source)):
            return None
        scale, bias, result = self._affine(LAYER, result, (channels, *(1 for _ in before[_CHANNELS + 1 :])))
        shift = np.zeros(channels, np.float32) if bias is None else bias.ravel()
        nodes = self._only_for(result, source)
        return NormChain(GROUP, source, result, _CHANNELS, epsilon, scale.ravel(), shift, nodes, groups)

    def _keeps_first(self, reshape: onnx.NodeProto) -> bool:
        """Whether the first axis of a Reshape's result is that of its operand."""
        target = self._constant(reshape.input[1])
        if target is not None and target.size and target.ravel()[0] == 0:
            return not any(attribute.name == "allowzero" and attribute.i for attribute in reshape.attribute)
        before, after = (self._shapes.get(name, ()) for name in (reshape.input[0], reshape.output[0]))
        return bool(before and after) and _same(before[0], after[0])

    def _undoes(self, reshape: onnx.NodeProto, source: str) -> bool:
        """Whether a Reshape's result has the shape of a tensor of as many values."""
        shape = self._producer(reshape.input[1], "Shape")
        if shape is not None and shape.input[0] == source and not shape.attribute:
            return True
        before, after = self._shapes.get(source, ()), self._shapes.get(reshape.output[0], ())
        if len(before) != len(after):
            return False
        known = [_same(size, wanted) for size, wanted in zip(before, after, strict=True)]
        return known[_CHANNELS] and known.count(False) <= 1  # one that is not known follows from all others

    def centred(self, last: onnx.NodeProto) -> tuple[str, str, _Statistics] | None:
        """Return the kind, the source and the statistics of the normalisation whose division is this node."""
        for value, statistics in self._divisions(last):
            source = self._mean_subtracted(statistics.centred, statistics.axes)
            if source is None:
                centred, operator = statistics.centred == value, RMS
                source = value
            else:
                centred, operator = self._mean_subtracted(value, statistics.axes) == source, LAYER
            if centred and source in self._shapes:
                return operator, source, statistics
        return None

    def _affine(self, operator: str, result: str, wanted: tuple[int, ...]) -> tuple[Values, Values | None, str]:
        """Take in the multiplication by constants that follows, and the addition; return them and their result."""
        scale, bias = np.ones(wanted, np.float32), None
        if (step := self._next(result, "Mul", wanted)) is not None:
            scale, result = step
        if operator == LAYER and (step := self._next(result, "Add", wanted)) is not None:
            bias, result = step
        return scale, bias, result

    def _next(self, tensor: str, op: str, shape: tuple[int, ...]) -> tuple[Values, str] | None:
        """Return the constant that the only reader of a tensor combines it with, in a shape, and its result."""
        node = self._reader(tensor, op)
        constant = None if node is None else self._constant(node.input[1 if node.input[0] == tensor else 0])
        if node is None or constant is None or constant.dtype != np.float32 or constant.size not in {1, prod(shape)}:
            return None
        if constant.size == 1:
            return np.full(shape, constant.ravel()[0], np.float32), node.output[0]
        if _without_leading_ones(constant.shape) != _without_leading_ones(shape):
            return None
        return constant.reshape(shape), node.output[0]

    def _divisions(self, node: onnx.NodeProto) -> Iterator[tuple[str, _Statistics]]:
        """Yield a tensor that the node divides by its statistics."""
        pairs = [(node.input[1 - slot], self._reciprocal(node.input[slot])) for slot in (0, 1)]
        if node.op_type == "Div":
            pairs = [(node.input[0], self._root(node.input[1]))]
        yield from ((value, statistics) for value, statistics in pairs if statistics is not None)

    def _reciprocal(self, tensor: str) -> _Statistics | None:
        node = self._producer(tensor, "Reciprocal", "Div", "Pow")
        if node is None:
            return None
        if node.op_type == "Reciprocal":
            return self._root(node.input[0])
        if node.op_type == "Pow":
            return self._sum(node.input[0]) if self._number(node.input[1]) == -0.5 else None  # noqa: PLR2004 - a root
        return self._root(node.input[1]) if self._number(node.input[0]) == 1.0 else None

    def _root(self, tensor: str) -> _Statistics | None:
        node = self._producer(tensor, "Sqrt", "Pow")
        if node is None or (node.op_type == "Pow" and self._number(node.input[1]) != 0.5):  # noqa: PLR2004 - a root
            return None
        return self._sum(node.input[0])

    def _sum(self, tensor: str) -> _Statistics | None:
        """Return the statistics of a mean of squares, plus a number or not."""
        add = self._producer(tensor, "Add")
        if add is None:
            return self._mean_square(tensor, 0.0)
        for slot in (0, 1):
            epsilon = self._number(add.input[slot])
            if epsilon is not None and epsilon >= 0.0:
                return self._mean_square(add.input[1 - slot], epsilon)
        return None

    def _mean_square(self, tensor: str, epsilon: float) -> _Statistics | None:
        mean = self._mean(tensor)
        square = None if mean is None else self._producer(mean[0], "Pow", "Mul")
        if mean is None or square is None:
            return None
        twice = square.input[0] == square.input[1] if square.op_type == "Mul" else self._number(square.input[1]) == 2.0  # noqa: PLR2004 - a square
        return _Statistics(square.input[0], mean[1], epsilon) if twice else None

    def _mean_subtracted(self, tensor: str, axes: tuple[int, ...]) -> str | None:
        """Return what a tensor is if its mean over the axes is subtracted from it."""
        node = self._producer(tensor, "Sub")
        mean = None if node is None else self._mean(node.input[1])
        return node.input[0] if node is not None and mean == (node.input[0], axes) else None

    def _mean(self, tensor: str) -> tuple[str, tuple[int, ...]] | None:
        """Return the tensor that a mean is of, and the axes counted from the front; reduced axes stay as 1."""
        node = self._producer(tensor, "ReduceMean")
        shape = None if node is None else self._shapes.get(node.input[0])
        if node is None or shape is None:
            return None
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        axes = attributes.get("axes")
        if len(node.input) > 1 and node.input[1]:
            given = self._constant(node.input[1])
            axes = None if given is None else given.ravel().tolist()
        if not axes or attributes.get("keepdims", 1) != 1:
            return None
        return node.input[0], tuple(sorted(int(axis) % len(shape) for axis in axes))

    def _reader(self, tensor: str, op: str) -> onnx.NodeProto | None:
        """Return the only reader of a tensor that nothing else needs, if it is such an operator."""
        uses = self._survey.uses.get(tensor, [])
        if len(uses) != 1 or tensor in self._outputs or uses[0].scope != 0:
            return None
        node = self._survey.nodes[uses[0].node]
        return node if node.op_type == op and not node.domain else None

    def _producer(self, tensor: str, *ops: str) -> onnx.NodeProto | None:
        node = self._survey.maker(tensor)
        here = node is not None and node.op_type in ops and not node.domain and self._survey.scopes[tensor] == 0
        return node if here else None

    def _constant(self, tensor: str) -> Values | None:
        constant = self._survey.constants.get(tensor)
        return None if constant is None or key_of(constant) is not None else numpy_helper.to_array(constant)

    def _number(self, tensor: str) -> float | None:
        value = self._constant(tensor)
        return float(value.ravel()[0]) if value is not None and value.size == 1 else None

    def _only_for(self, result: str, source: str) -> frozenset[str]:
        """Return the nodes between two tensors whose results nobody else reads."""
        survey = self._survey
        removed = {survey.producers[result]}
        ahead = [name for name in survey.nodes[survey.producers[result]].input if name != source]
        while ahead:
            tensor = ahead.pop()
            producer = survey.producers.get(tensor)
            readers = {use.node for use in survey.uses.get(tensor, [])}
            if producer is None or tensor == source or tensor in self._outputs or not readers <= removed:
                continue
            removed.add(producer)
            ahead += survey.nodes[producer].input
        return frozenset(removed)


def _same(size: Size, other: Size) -> bool:
    return size is not None and size == other


def _without_leading_ones(shape: Sequence[int]) -> Sequence[int]:
    """Return a shape as broadcasting sees it: aligned at the last axis."""
    first = next((number for number, size in enumerate(shape) if size != 1), len(shape))
    return tuple(shape[first:])


def with_operators(model: onnx.ModelProto, chains: Sequence[NormChain]) -> onnx.ModelProto | None:
    """Return the model with each chain's operator; None if its operator set cannot be raised."""
    needed = max(SINCE[chain.operator] for chain in chains)
    rewritten = copied(model)
    if operator_set(model) < needed:
        if any(key_of(tensor) is not None for tensor in model.graph.initializer):  # it loses where the values are
            return None
        try:
            rewritten = version_converter.convert_version(model, needed)
        except (RuntimeError, ValueError):  # the converter lacks an operator, or the model does not fit into a message
            return None
    _replace(rewritten.graph, chains)
    rewritten.graph.ClearField("value_info")
    return rewritten


def _replace(graph: onnx.GraphProto, chains: Sequence[NormChain]) -> None:
    gone = {name for chain in chains for name in chain.nodes}
    ends = {chain.result: chain for chain in chains}
    nodes = []
    for node in graph.node:
        chain = next((ends[name] for name in node.output if name in ends), None)
        if chain is not None:
            nodes.append(_operator(chain, node.name, graph))
        elif node.name not in gone:
            nodes.append(node)
    refill(graph, "node", nodes)
    reads = read_in(graph)
    refill(graph, "initializer", (tensor for tensor in graph.initializer if tensor.name in reads))


def _operator(chain: NormChain, name: str, graph: onnx.GraphProto) -> onnx.NodeProto:
    """Return the node that replaces a chain, named after its last one; add its constants to the graph."""
    inputs = [chain.source]
    for word, values in (("scale", chain.scale), ("bias", chain.bias)):
        if values is not None:
            graph.initializer.append(numpy_helper.from_array(values, f"{name}.{chain.operator}.{word}"))
            inputs.append(graph.initializer[-1].name)
    where: dict[str, Any] = {"num_groups": chain.groups} if chain.groups else {"axis": chain.axis}
    name = f"{name}.{chain.operator}"
    return helper.make_node(chain.operator, inputs, [chain.result], name=name, epsilon=chain.epsilon, **where)
