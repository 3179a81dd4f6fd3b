"""What constants and sizes decide in a model: numbers of shape computations, and sizes that no node takes.

ONNX's inference of shapes propagates few values, and lets pass what is refused here.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.onnx_models.shapes import ShapeFault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from trtforensics.onnx_models.checked_graph import CheckedGraph, CheckedNode
    from trtforensics.onnx_models.shapes import Sizes

    Numbers = npt.NDArray[Any]

_FEW = 64
"""Elements of what may be a shape."""


def _axes(node: CheckedNode, given: tuple[Numbers, ...]) -> Any:  # noqa: ANN401 - None is all of them to numpy
    axes = given[0].tolist() if given else node.attribute("axes")
    return None if axes is None else tuple(axes)


def _sliced(node: CheckedNode, data: Numbers, *given: Numbers) -> Numbers:
    starts, ends, axes, steps = (given[place].tolist() if place < len(given) else [] for place in range(4))
    places = [slice(None)] * data.ndim
    starts, ends = starts or node.attribute("starts"), ends or node.attribute("ends")
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        places[axes[number] if axes else number] = slice(start, end, steps[number] if steps else None)
    return data[tuple(places)]


_COMPUTED: Mapping[str, Callable[..., Any]] = {
    "Add": lambda _, first, other: first + other,
    "Cast": lambda _, data: data,
    "Concat": lambda node, *parts: np.concatenate(parts, node.attribute("axis")),
    "Div": lambda _, first, other: np.fix(first / other).astype(first.dtype),
    "Gather": lambda node, data, places: np.take(data, places, node.attribute("axis") or 0),
    "Identity": lambda _, data: data,
    "Mul": lambda _, first, other: first * other,
    "Reshape": lambda _, data, shape: data.reshape(shape),
    "Slice": _sliced,
    "Squeeze": lambda node, data, *axes: np.squeeze(data, _axes(node, axes)),
    "Sub": lambda _, first, other: first - other,
    "Unsqueeze": lambda node, data, *axes: np.expand_dims(data, _axes(node, axes)),
}
"""Operators that shapes are computed with."""


def computed(
    model: CheckedGraph, sizes: Mapping[str, Sizes], given: Mapping[str, Numbers] | None = None
) -> dict[str, Numbers]:
    """Return the few integers that nodes of the main graph compute from sizes, constants and ``given`` tensors."""
    known = dict(given or {})
    for node in model.nodes:
        inputs = [name for name in node.proto.input if name]
        if node.op == "Shape" and None not in sizes.get(inputs[0], (None,)):
            whole = np.array(sizes[inputs[0]], np.int64)
            known[node.proto.output[0]] = whole[node.attribute("start") or 0 : node.attribute("end")]
        elif node.op in _COMPUTED and not node.holder and not known.keys().isdisjoint(inputs):
            values = [known.get(name, model.values(name)) for name in inputs]
            if all(each is not None and each.dtype.kind in "iu" and each.size <= _FEW for each in values):
                try:
                    known[node.proto.output[0]] = np.asarray(_COMPUTED[node.op](node, *values), np.int64)
                except (ValueError, IndexError, TypeError, ArithmeticError):  # what the node itself has wrong
                    continue
    return known


_SHAPES = {
    "ConstantOfShape": ("input",),
    "CumSum": ("axis",),
    "Expand": ("shape",),
    "OneHot": ("depth",),
    "Pad": ("pads",),
    "Range": ("start", "limit", "delta"),
    "Reshape": ("shape",),
    "Resize": ("sizes",),
    "Slice": ("starts", "ends"),
    "Tile": ("repeats",),
    "TopK": ("K",),
}
"""Inputs whose numbers decide the sizes of a result, by ONNX's names."""


def shape_inputs(model: CheckedGraph) -> list[str]:
    """Return the inputs of integers whose values decide sizes: a profile needs bounds of their values."""
    wanted = [name for node in model.nodes for name in model.slots(node, _SHAPES.get(node.op, ()))]
    reached = set(wanted)
    while wanted:
        maker = model.makers.get(wanted.pop())
        fresh = [name for name in maker.proto.input if name not in reached] if maker and maker.op in _COMPUTED else []
        reached |= {*fresh}
        wanted += fresh
    return [value.name for value in model.inputs if value.name in reached and value.element in {"INT32", "INT64"}]


def impossible(model: CheckedGraph, sizes: Mapping[str, Sizes]) -> ShapeFault | None:
    """Return the first node that does not take the sizes of its inputs, which inference lets pass."""
    for node in model.nodes:
        before = sizes.get(node.proto.input[0]) if node.op in _JUDGES and node.proto.input else None
        why = _JUDGES[node.op](model, node, before, sizes) if before else ""
        if why:
            return ShapeFault(node.proto.name, f"Error] {why}")
    return None


def _reshaped(model: CheckedGraph, node: CheckedNode, before: Sizes, _: Mapping[str, Sizes]) -> str:
    """Judge a Reshape to fixed sizes of another volume than its input's."""
    target = model.values(node.proto.input[1]) if len(node.proto.input) > 1 else None
    if target is None or None in before or (target == 0).any():
        return ""
    volume, known = prod(size or 0 for size in before), abs(prod(int(size) for size in target))
    words = " to ".join("x".join(map(str, each)) for each in (before, target.tolist()))
    return f"{words}, of another number of elements" if (volume % known if -1 in target else volume - known) else ""


def _windowed(_: CheckedGraph, node: CheckedNode, before: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge the channels of a convolution, and a window that is larger than the padded input."""
    weights = sizes.get(node.proto.input[1], ()) if node.op == "Conv" and len(node.proto.input) > 1 else ()
    if weights and None not in {*weights[:2], before[1]}:
        groups = node.attribute("group") or 1
        if (weights[1] or 0) * groups != before[1] or (weights[0] or 0) % groups:
            return f"weights {'x'.join(map(str, weights))} in {groups} groups on {before[1]} channels"
    window = node.attribute("kernel_shape") or weights[2:]
    if node.attribute("ceil_mode") or len(before) != len(window) + 2 or str(node.attribute("auto_pad"))[:4] == "SAME":
        return ""
    pads, gaps = node.attribute("pads") or [0] * 2 * len(window), node.attribute("dilations") or [1] * len(window)
    for size, begin, end, width, gap in zip(before[2:], pads, pads[len(window) :], window, gaps, strict=False):
        span = (width or 0) * gap - gap + 1
        if size is not None and size + begin + end < span:
            return f"a window of {span} on {size} elements"
    return ""


def _transposed(_: CheckedGraph, node: CheckedNode, before: Sizes, __: Mapping[str, Sizes]) -> str:
    order = node.attribute("perm") or range(len(before))
    return "" if sorted(order) == [*range(len(before))] else f"perm {order} of {len(before)} dimensions"


def _divided(_: CheckedGraph, node: CheckedNode, before: Sizes, __: Mapping[str, Sizes]) -> str:
    block = node.attribute("blocksize" if "Depth" in node.op else "num_groups") or 1
    parts = {"DepthToSpace": block * block}.get(node.op, block)
    sizes = before[2:] if node.op == "SpaceToDepth" else before[1:2]
    return next((f"{size} elements in parts of {parts}" for size in sizes if size is not None and size % parts), "")


def _scaled(_: CheckedGraph, node: CheckedNode, before: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge the lengths of scale and bias of a normalisation."""
    wanted = before[1:2] if node.op == "InstanceNormalization" else before
    for each in (sizes.get(name, ()) for name in node.proto.input[1:]):
        pairs = zip(reversed(each), reversed(wanted), strict=False)
        if any(None not in pair and pair[0] not in {1, pair[1]} for pair in pairs):
            return f"{'x'.join(map(str, each))} scales on {'x'.join(map(str, wanted))}"
    return ""


def _channelled(_: CheckedGraph, node: CheckedNode, before: Sizes, sizes: Mapping[str, Sizes]) -> str:
    weights = sizes.get(node.proto.input[1], (None,))
    unlike = None not in {weights[0], before[1]} and weights[0] != before[1]
    return f"weights of {weights[0]} channels on {before[1]}" if unlike else ""


def _split(_: CheckedGraph, node: CheckedNode, before: Sizes, __: Mapping[str, Sizes]) -> str:
    parts, size = len(node.proto.output), before[node.attribute("axis") or 0]
    is_given = len(node.proto.input) > 1 or node.attribute("split") or node.attribute("num_outputs")
    return "" if is_given or size is None or size % parts == 0 else f"{size} elements in {parts} equal parts"


def _padded(model: CheckedGraph, node: CheckedNode, before: Sizes, _: Mapping[str, Sizes]) -> str:
    pads = model.values(node.proto.input[1]) if len(node.proto.input) > 1 else None
    axes = next((model.values(name) for name in model.slots(node, ("axes",))), np.arange(len(before)))
    wrong = pads is not None and axes is not None and pads.size != 2 * axes.size
    return f"{pads.size if pads is not None else 0} pads of {len(before)} dimensions" if wrong else ""


def _summed(_: CheckedGraph, node: CheckedNode, __: Sizes, sizes: Mapping[str, Sizes]) -> str:
    """Judge the sizes that the letters of an equation have."""
    known: dict[str, int] = {}
    terms = str(node.attribute("equation")).replace(" ", "").split("->")[0].split(",")
    for term, name in zip(terms, node.proto.input, strict=False):
        for letter, size in zip(term, sizes.get(name, ()), strict=False) if term.isalpha() else ():
            if size not in {None, 1} and known.setdefault(letter, size or 0) != size:
                return f"{letter} is {known[letter]} and {size}"
    return ""


_JUDGES: Mapping[str, Callable[[CheckedGraph, CheckedNode, Sizes, Mapping[str, Sizes]], str]] = {
    "ConvTranspose": _channelled,
    "Einsum": _summed,
    "Pad": _padded,
    "Reshape": _reshaped,
    "Split": _split,
    "Transpose": _transposed,
    **dict.fromkeys(("Conv", "MaxPool", "AveragePool", "LpPool"), _windowed),
    **dict.fromkeys(("InstanceNormalization", "LayerNormalization"), _scaled),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth", "GroupNormalization"), _divided),
}
"""What is wrong with the sizes of a node's inputs, in words."""
