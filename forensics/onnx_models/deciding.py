"""What constants and sizes decide in a model: numbers of shape computations, and sizes that no node takes.

ONNX's inference of shapes propagates few values, and lets pass what is refused here.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper

from trtforensics.knowledge.operators import deciding_inputs, letters_of
from trtforensics.onnx_models.checked_graph import CheckedGraph, CheckedNode
from trtforensics.onnx_models.graphs import reachable
from trtforensics.onnx_models.samples import Values
from trtforensics.onnx_models.shapes import ShapeFault, Sizes

_UNKNOWN = 1 << 62
"""A size that is not known, beyond any window."""
_FEW = 64
"""Elements of what may be a shape."""


def _axes(node: CheckedNode, given: tuple[Values, ...]) -> Any:  # noqa: ANN401 - None is all of them to numpy
    axes = given[0].tolist() if given else node.attribute("axes")
    return None if axes is None else tuple(axes)


def _sliced(node: CheckedNode, data: Values, *given: Values) -> Values:
    starts, ends, axes, steps = (given[place].tolist() if place < len(given) else [] for place in range(4))
    places = [slice(None)] * data.ndim
    starts, ends = starts or node.attribute("starts"), ends or node.attribute("ends")
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        places[axes[number] if axes else number] = slice(start, end, steps[number] if steps else None)
    return data[tuple(places)]


def _filled(node: CheckedNode, sizes: Values) -> Values:
    values = numpy_helper.to_array(node.attribute("value") or TensorProto(data_type=TensorProto.FLOAT))
    if values.dtype.kind not in "iu" or prod(sizes.tolist()) > _FEW:
        raise ValueError
    return np.full(sizes, values.flat[0])


_COMPUTED: Mapping[str, Callable[..., Any]] = {
    "Add": lambda _, first, other: first + other,
    "Cast": lambda _, data: data,
    "ConstantOfShape": _filled,
    "Concat": lambda node, *parts: np.concatenate(parts, node.attribute("axis")),
    "Div": lambda _, first, other: np.fix(first / other).astype(first.dtype),
    "Gather": lambda node, data, places: np.take(data, places, node.attribute("axis") or 0),
    "Identity": lambda _, data: data,
    "Mul": lambda _, first, other: first * other,
    "Reshape": lambda _, data, shape: data.reshape(shape),
    "Slice": _sliced,
    "Squeeze": lambda node, data, *axes: np.squeeze(data, _axes(node, axes)),
    "Sub": lambda _, first, other: first - other,
    "Transpose": lambda node, data: np.transpose(data, node.attribute("perm")),
    "Unsqueeze": lambda node, data, *axes: np.expand_dims(data, _axes(node, axes)),
}
"""Operators that shapes are computed with."""


def computed(
    model: CheckedGraph, sizes: Mapping[str, Sizes], given: Mapping[str, Values] | None = None
) -> dict[str, Values]:
    """Return the few integers that nodes compute from sizes, constants and ``given`` tensors."""
    known = dict(given or {})
    for node in model.nodes:
        inputs = [name for name in node.proto.input if name]
        if node.op == "Shape" and None not in sizes.get(inputs[0], (None,)):
            whole = np.array(sizes[inputs[0]], np.int64)
            known[node.proto.output[0]] = whole[node.attribute("start") or 0 : node.attribute("end")]
        elif node.op in _COMPUTED and inputs:
            values = [known.get(name, model.values(name)) for name in inputs]
            if all(each is not None and each.dtype.kind in "iu" and each.size <= _FEW for each in values):
                try:
                    known[node.proto.output[0]] = np.asarray(_COMPUTED[node.op](node, *values), np.int64)
                except (ValueError, IndexError, TypeError, ArithmeticError):  # what the node itself has wrong
                    continue
    return known


def shape_inputs(model: CheckedGraph) -> list[str]:
    """Return the inputs of integers whose values decide sizes: a profile needs bounds of their values."""

    def operands(name: str) -> Sequence[str]:
        maker = model.makers.get(name)
        return maker.proto.input if maker and maker.op in _COMPUTED else ()

    wanted = (name for node in model.nodes for name in model.slots(node, deciding_inputs(node.op)))
    decisive = {*reachable(wanted, operands)}
    return [value.name for value in model.inputs if value.name in decisive and value.element in {"INT32", "INT64"}]


def impossible(model: CheckedGraph, sizes: Mapping[str, Sizes], known: Mapping[str, Values]) -> ShapeFault | None:
    """Return the first node that does not take the sizes of its inputs, which inference lets pass."""
    for node in model.nodes:
        before = sizes.get(node.proto.input[0]) if node.proto.input and node.is_standard else None
        why = "" if before is None else _of_other_sizes(model, node, before, sizes)
        if before and not why and node.op == "Reshape" and len(node.proto.input) > 1:
            why = _reshaped(node, before, known.get(node.proto.input[1], model.values(node.proto.input[1])))
        elif before and not why and node.op == "Gather":
            why = _gathered(model, node, before, known)
        elif before and not why and node.op in _JUDGES:
            why = _JUDGES[node.op](model, node, before, sizes)
        if why:
            return ShapeFault(node.proto.name, f"Error] {why}")
    return None


def _gathered(model: CheckedGraph, node: CheckedNode, before: Sizes, known: Mapping[str, Values]) -> str:
    """Return that the last number of a Range, which is the index, lies behind an axis, in words."""
    maker = model.makers.get(node.proto.input[1])
    while maker is not None and maker.op in {"Cast", "Expand", "Identity", "Reshape", "Unsqueeze"}:
        maker = model.makers.get(maker.proto.input[0])
    end = known.get(maker.proto.input[1]) if maker is not None and maker.op == "Range" else None
    size = before[node.attribute("axis") or 0]
    beyond = end is not None and size is not None and end.size == 1 and int(end.flat[0]) > size
    return f"index {int(end.flat[0]) - 1} of an axis of {size}" if beyond and end is not None else ""


def dropped(
    model: CheckedGraph, sizes: Mapping[str, Sizes], stated: Mapping[str, Sizes], known: Collection[str]
) -> ShapeFault | None:
    """Return the first Squeeze without axes that would drop a dimension which is dynamic by the ``stated`` sizes.

    ``known`` tensors have values that follow from sizes, so that their own sizes are not dynamic.
    """
    bare = (node for node in model.nodes if node.op == "Squeeze" and not model.names_axes(node))
    for node in (each for each in bare if each.proto.input[0] not in known):
        both = zip(sizes.get(node.proto.input[0], ()), stated.get(node.proto.input[0], ()), strict=False)
        for place, (size, before) in enumerate(both):
            if size == 1 and before is None:
                return ShapeFault(node.proto.name, f"Error] without axes it drops dimension {place}, a dynamic one")
    return None


_PLACES = ("axis", "batch_axis", "time_axis")
_BEYOND = {"Flatten": 1, "OneHot": 1, "QuantizeLinear": 99, "DequantizeLinear": 99}
"""How far ``axis`` may lie behind the last dimension; of Q/DQ TF187 tells."""


def _of_other_sizes(model: CheckedGraph, node: CheckedNode, before: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge axes, and the inputs by their letters, where the first has as many dimensions as these."""
    axes = [values for name in model.slots(node, ("axes", "axis")) if (values := model.values(name)) is not None]
    given = [axis for values in axes for axis in values.reshape(-1).tolist()]
    given += node.attribute("axes") or node.default("axes", model.opset) or ()
    rank = len(before)
    more = len(given) if node.op == "Unsqueeze" else _BEYOND.get(node.op, 0)
    for place in (place for place in (*given, *map(node.attribute, _PLACES)) if isinstance(place, int)):
        if not -rank - more <= place < rank + more:
            return f"axis {place} of {rank} dimensions"
        if node.op == "Squeeze" and before[place] not in {None, 1}:
            return f"axis {place} has {before[place]} elements, one is dropped"
    terms = letters_of(node.op)
    free = 1 if node.op == "InstanceNormalization" else None  # TensorRT-RTX broadcasts its scales
    turned = bool(node.attribute("layout")) or node.attribute("batch_axis") == 0
    return (
        "" if turned or (not terms[0].endswith("*") and len(terms[0]) != rank) else _unified(node, terms, sizes, free)
    )


def _unified(node: CheckedNode, terms: Sequence[str], sizes: Mapping[str, Sizes], free: int | None = None) -> str:
    """Return which letter has two sizes, or which input another rank, in words; ``free`` is a size that fits all."""
    known: dict[str, int] = {}
    for term, name in zip(terms, node.proto.input, strict=False):
        shape = sizes.get(name)
        if shape is None:
            continue
        if len(shape) != len(term) and not term.endswith("*"):
            return f"an input of {len(shape)} dimensions, {len(term)} are wanted"
        for letter, size in zip(term.rstrip("*"), shape, strict=False):
            if size is None or size == free:
                continue
            wanted = int(letter) if letter.isdigit() else known.setdefault(letter, size)
            if wanted != size:
                return f"{letter} is {wanted} and {size}" if letter.isalpha() else f"{size} where {wanted} is wanted"
    return ""


def _reshaped(node: CheckedNode, before: Sizes, shape: Values | None) -> str:
    """Judge a Reshape to sizes of another volume than its input's."""
    if shape is not None and shape.ndim != 1:
        return f"a shape of {shape.ndim} dimensions"
    if shape is None or None in before or (node.attribute("allowzero") and 0 in shape):
        return ""
    copied = [*before, *[1] * shape.size]  # a 0 copies a size
    target = [size or copied[place] or 0 for place, size in enumerate(shape.tolist())]
    volume, wanted = prod(size or 0 for size in before), abs(prod(target))
    words = " to ".join("x".join(map(str, each)) for each in (before, target))
    unlike = wanted and volume % wanted if -1 in target else volume - wanted
    return f"{words}, of another number of elements" if unlike else ""


def emptied(model: CheckedGraph, sizes: Mapping[str, Sizes]) -> dict[str, Sizes]:
    """Return the results without an element, and their sizes: of poolings of the main graph by too large a window."""
    empty = {}
    for node in model.nodes if sizes else ():
        after = sizes.get(node.proto.output[0]) if node.op in {"MaxPool", "AveragePool"} and not node.holder else None
        ends = [*_spans(node, sizes.get(node.proto.input[0], ()), node.attribute("kernel_shape"))] if after else []
        if any(padded < span for _, padded, span in ends):
            kept = (
                0 if padded < span else end for (_, padded, span), end in zip(ends, (after or ())[2:], strict=False)
            )
            empty[node.proto.output[0]] = (*(after or ())[:2], *kept)
    return empty


def _spans(node: CheckedNode, before: Sizes, window: Sequence[int | None] | None) -> Iterator[tuple[int, int, int]]:
    """Yield a size, what it is with its pads, and what a window takes of it; nothing where padding is automatic."""
    automatic = node.attribute("ceil_mode") or str(node.attribute("auto_pad"))[:4] == "SAME"
    if window is None or automatic or len(before) != len(window) + 2:
        return
    pads, gaps = node.attribute("pads") or [0] * 2 * len(window), node.attribute("dilations") or [1] * len(window)
    for size, low, high, width, gap in zip(before[2:], pads, pads[len(window) :], window, gaps, strict=False):
        known = _UNKNOWN if size is None else size
        yield known, known + low + high, (width or 0) * gap - gap + 1


def _windowed(model: CheckedGraph, node: CheckedNode, before: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge the channels of a convolution, and a window that is larger than the padded input."""
    weights = sizes.get(node.proto.input[1], ()) if node.op == "Conv" and len(node.proto.input) > 1 else ()
    if len(weights) == len(before) > 1 and None not in {*weights[:2], before[1]}:
        groups = node.attribute("group") or 1
        if (weights[1] or 0) * groups != before[1] or (weights[0] or 0) % groups:
            return f"weights {'x'.join(map(str, weights))} in {groups} groups on {before[1]} channels"
    if weights and (why := _unlike(model, node, before, sizes)):
        return why
    window = node.attribute("kernel_shape") or weights[2:]
    steps = [0] * len(window) if weights else node.attribute("strides") or [1] * len(window)
    for (size, padded, span), step in zip(_spans(node, before, window), steps, strict=False):
        if size and padded < span - step:  # TensorRT-RTX pools no element to none, and takes none
            return f"a window of {span} on {padded} elements"
    return ""


def _unlike(_: CheckedGraph, node: CheckedNode, __: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge ``kernel_shape`` and ``output_shape`` of a convolution against its weights."""
    window, stated = sizes.get(node.proto.input[1], ())[2:], node.attribute("kernel_shape")
    after = node.attribute("output_shape") or window
    if len(after) < len(window):
        return f"output_shape {after} where {len(window)} sizes are wanted"
    unlike = stated and window and None not in window and list(stated)[: len(window)] != list(window)
    return f"kernel_shape {stated} beside weights of {'x'.join(map(str, window))}" if unlike else ""


def _divided(_: CheckedGraph, node: CheckedNode, before: Sizes, __: Mapping[str, Sizes]) -> str:
    block = node.attribute("blocksize") or 1
    parts = {"DepthToSpace": block * block}.get(node.op, block)
    sizes = before[2:] if node.op == "SpaceToDepth" else before[1:2]
    return next((f"{size} elements in parts of {parts}" for size in sizes if size is not None and size % parts), "")


_BY_CHANNELS = 21
"""The operator set from which on GroupNormalization has a scale for each channel, not for each group."""


def _scaled(model: CheckedGraph, node: CheckedNode, before: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge the lengths of scale and bias of a normalisation."""
    wanted, groups = before, node.attribute("num_groups")
    if groups and len(before) > 1:
        if (before[1] or 0) % groups:
            return f"{before[1]} elements in parts of {groups}"
        wanted = before[1:2] if model.opset >= _BY_CHANNELS else (groups,)
    for each in (sizes.get(name, ()) for name in node.proto.input[1:]):
        pairs = zip(reversed(each), reversed(wanted), strict=False)
        if any(None not in pair and pair[0] not in {1, pair[1]} for pair in pairs):
            return f"{'x'.join(map(str, each))} scales on {'x'.join(map(str, wanted))}"
    return ""


def _split(_: CheckedGraph, node: CheckedNode, before: Sizes, __: Mapping[str, Sizes]) -> str:
    parts, size = len(node.proto.output), before[node.attribute("axis") or 0]
    wanted = node.attribute("num_outputs") or parts
    if wanted != parts or (size is not None and -(size // -wanted) * (wanted - 1) > size):
        return f"num_outputs is {wanted}, for {parts} outputs of {size or 'unknown'} elements"
    is_given = len(node.proto.input) > 1 or node.attribute("split") or node.attribute("num_outputs")
    return "" if is_given or size is None or size % parts == 0 else f"{size} elements in {parts} equal parts"


def _summed(_: CheckedGraph, node: CheckedNode, __: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge the sizes that the letters of an equation have."""
    terms = str(node.attribute("equation")).replace(" ", "").split("->")[0].split(",")
    return _unified(node, terms, sizes, free=1) if all(term.isalpha() for term in terms) else ""


def _of_one_rank(_: CheckedGraph, node: CheckedNode, before: Sizes, sizes: Mapping[str, Sizes]) -> str:
    ranks = {len(sizes[name]) for name in node.proto.input[1:] if name in sizes} - {len(before)}
    return f"an input of {min(ranks)} dimensions beside {len(before)}" if ranks else ""


def _framed(model: CheckedGraph, node: CheckedNode, before: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge the window of an STFT, or its frame's length, against its signal."""
    signal = before[1] if len(before) > 1 else None
    spans = [sizes[name][0] for name in model.slots(node, ("window",)) if sizes.get(name)]
    lengths = (model.values(name) for name in model.slots(node, ("frame_length",)))
    spans += [int(each) for each in lengths if each is not None and each.size == 1]
    longest = max((span for span in spans if span is not None), default=0)
    return f"a window of {longest} on {signal} elements" if signal is not None and longest > signal else ""


_GATES = {"GRU": 3, "LSTM": 4, "RNN": 1}
_JOINED = 3
"""Dimensions of a tensor whose last holds the elements of all heads."""


def _recurrent(_: CheckedGraph, node: CheckedNode, __: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge ``hidden_size`` against the weights; TensorRT-RTX takes a GRU of larger ones."""
    hidden, gates = node.attribute("hidden_size"), _GATES[node.op]
    if not hidden:
        return ""
    for name, *wanted in zip(node.proto.input[1:], (gates, gates, 2 * gates), (0, 1, 0), strict=False):
        for size, times in zip(sizes.get(name, ())[1:], wanted, strict=False):
            least = times * hidden
            if least and size is not None and (size < least or (node.op != "GRU" and size > least)):
                return f"{name} has {size} where hidden_size {hidden} wants {least}"
    return ""


def _headed(_: CheckedGraph, node: CheckedNode, before: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge into how many heads the last dimension of inputs of three dimensions parts, and the sizes of heads."""
    attributes = ("q_num_heads", "kv_num_heads", "kv_num_heads") if node.op == "Attention" else ("num_heads",)
    heads, counts = [], []
    for name, attribute in zip(node.proto.input, attributes, strict=False):
        shape, count = sizes.get(name, ()), node.attribute(attribute) or 0
        size = shape[-1] if shape else None
        if len(shape) == _JOINED and (not count or (size or 0) % count):
            return f"{size} elements in {count} heads ({attribute})"
        heads.append(size // count if size and len(shape) == _JOINED else size)
        counts.append(count if len(shape) == _JOINED else shape[1] if shape else None)
    if node.op == "Attention":
        uneven = None not in counts[:2] and (counts[0] or 0) % (counts[1] or 1)
        unlike = None not in heads[:2] and heads[0] != heads[1]
        words = f"{counts[0]} heads of {heads[0]} elements for {counts[1]} of {heads[1]}"
        return words if uneven or unlike else ""
    return _turned(node, heads[0], before, sizes)


def _turned(node: CheckedNode, head: int | None, before: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge what a RotaryEmbedding turns of each head, and its caches of cosines and sines."""
    turned = node.attribute("rotary_embedding_dim") or head
    if turned and head and (turned % 2 or turned > head):
        return f"{turned} of {head} elements are turned in pairs"
    by_position = not "".join(node.proto.input[3:4])
    rank = 2 + by_position
    for shape in filter(None, map(sizes.get, node.proto.input[1:3])):
        if len(shape) != rank:
            return f"a cache of {len(shape)} dimensions, {rank} are wanted"
        if turned and shape[-1] not in {None, turned // 2}:
            return f"a cache of {shape[-1]} elements where half of {turned} is wanted"
        if by_position and None not in (shape[1], before[-2]) and shape[1] != before[-2]:
            return f"a cache of {shape[1]} positions for {before[-2]}"
    return ""


_JUDGES: Mapping[str, Callable[[CheckedGraph, CheckedNode, Sizes, Mapping[str, Sizes]], str]] = {
    "ConvTranspose": _unlike,
    "Einsum": _summed,
    "STFT": _framed,
    **dict.fromkeys(_GATES, _recurrent),
    **dict.fromkeys(("Attention", "RotaryEmbedding"), _headed),
    "Split": _split,
    **dict.fromkeys(("GatherElements", "Scatter", "ScatterElements"), _of_one_rank),
    **dict.fromkeys(("Conv", "MaxPool", "AveragePool", "LpPool"), _windowed),
    **dict.fromkeys(("GroupNormalization", "LayerNormalization", "PRelu"), _scaled),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), _divided),
}
"""What is wrong with the sizes of a node's inputs, in words."""
