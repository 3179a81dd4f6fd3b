"""Whether a node breaks a restriction of the table, in words; what the model does not tell breaks none."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.knowledge.operators import Restriction, taken_as
from trtforensics.knowledge.table import NEWEST, Release
from trtforensics.onnx_models.graphs import graphs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.onnx_models.checked_graph import CheckedNode

    Judge = Callable[[CheckedModel, str, Restriction], str]


_ENDLESS = 2**31 - 1
"""A trip count that TensorRT-RTX takes for none."""


def refusal(model: CheckedModel, node: CheckedNode, row: Restriction) -> str:
    """Return what is wrong with a node by one restriction; empty where it keeps it, or that cannot be told."""
    if row.must in _NODES:
        return f"the parser wants that {row.value}" if _NODES[row.must](model, node) else ""
    given = [name for name in row.names if node.attribute(name) is not None]
    tensors = given if row.of == "attribute" else model.slots(node, row.names, of=row.of)
    if row.must == "given":
        return "" if tensors else f"{' or '.join(row.names)} is not given"
    if row.of == "attribute":
        return next(filter(None, (_attribute(model, node, name, row) for name in row.names)), "")
    if row.must == "absent":
        return f"{' or '.join(row.names)} is given, which it must not be" if tensors else ""
    judge = _TENSORS.get(row.must)
    words = (judge(model, tensor, row) for tensor in tensors) if judge else ()
    return next((f"{' or '.join(row.names)} {text}" for text in words if text), "")


def _attribute(model: CheckedModel, node: CheckedNode, name: str, row: Restriction) -> str:
    (judge, must), value = _ATTRIBUTES.get(row.must, (None, "")), _setting(model, node, name)
    if judge is None or value is None or not judge(value, node.default(name, model.opset), row):
        return ""
    return f"{name} is {' '.join(_each(value))}, it must {must}{row.value.replace(' ', ', ')}"


def _each(value: Any) -> list[str]:  # noqa: ANN401 - of any of ONNX's types
    return list(map(str, value)) if isinstance(value, (list, tuple)) else [str(value)]


def _word(value: int) -> str:
    """Return the type that an attribute names by ONNX's number; none of DOUBLE, which no attribute may name."""
    from trtforensics.onnx_models.checked_graph import element_name  # noqa: PLC0415 - a report of a log imports no onnx

    return taken_as(element_name(value).replace("DOUBLE", ""), NEWEST)


_ATTRIBUTES: Mapping[str, tuple[Callable[[Any, Any, Restriction], bool], str]] = {
    "absent": (lambda value, default, _: value != default, "not be"),
    "at-least": (lambda value, _, row: any(float(each) < float(row.value) for each in _each(value)), "be at least "),
    "distinct": (lambda value, *_: len({*value}) < len(value), "name no axis twice"),
    "equal": (lambda value, _, row: bool({*_each(value)} - {row.value}), "be "),
    "in": (lambda value, _, row: bool({*_each(value)} - {*row.value.split()}), "be one of "),
    "not-type": (lambda value, _, row: _word(value) in row.value.split(), "be none of "),
    "positive": (lambda value, *_: not float(value) > 0, "be greater than 0"),
    "symmetric": (lambda value, *_: list(value[: len(value) // 2]) != list(value[len(value) // 2 :]), "be symmetric"),
    "type": (lambda value, given, row: value != given and _word(value) not in row.value.split(), "be "),
    "within": (lambda value, _, row: not _is_within(map(int, _each(value)), row), "be within "),
}
"""Whether a value breaks the restriction, and what it must, in words."""


def _is_within(numbers: Iterable[int | None], row: Restriction) -> bool:
    low, _, high = row.value.partition("-")
    return all(number is None or int(low) <= number <= int(high or low) for number in numbers)


def _rank(model: CheckedModel, tensor: str, row: Restriction) -> str:
    rank = model.rank(tensor)
    return "" if _is_within([rank], row) else f"has {rank} dimensions, it must have {row.value.replace('-', ' to ')}"


def _type(model: CheckedModel, tensor: str, row: Restriction) -> str:
    word = _type_of(model, tensor, row.last)
    if not word or (word in row.value.split()) is (row.must == "type"):
        return ""
    must = f"it must be {row.value.replace(' ', ' or ')}" if row.must == "type" else "which it must not be"
    return f"is {word}, {must}"


def _type_of(model: CheckedModel, tensor: str, release: Release | None = None) -> str:
    """Return the type that a release makes of a tensor's: DOUBLE is FP32 to all, INT64 is INT32 before 9.0."""
    return taken_as(model.elements.get(tensor, ""), release or NEWEST)


def _single(model: CheckedModel, tensor: str, _: Restriction) -> str:
    sizes = model.sizes.get(tensor, (None,))
    count = prod(size or 0 for size in sizes)
    return "" if None in sizes or count == 1 else f"has {count:,} elements, it must have one"


def _window(model: CheckedModel, tensor: str, row: Restriction) -> str:
    window = model.sizes.get(tensor, ())[2:]
    return "" if _is_within(window, row) else f"is a window of {'x'.join(map(str, window))}, {row.value} are taken"


def _constant(model: CheckedModel, tensor: str, _: Restriction) -> str:
    return "" if model.is_static(tensor) else "is computed at run time, it must be constant"


_NUMBERS: Mapping[str, tuple[Callable[[Any, str], Any], str]] = {
    "at-least": (lambda numbers, least: numbers < float(least), "has {first:g}, it must be at least {value}"),
    "distinct": (lambda numbers, _: np.unique(numbers).size < numbers.size, "names an axis twice"),
    "below": (lambda numbers, most: ~(numbers <= float(most)), "is {most:,}, it must be at most {value}"),
    "equal": (lambda numbers, wanted: numbers != float(wanted), "is not {value}, it must be"),
    "not-zero": (lambda numbers, _: numbers == 0, "has a 0, which it must not"),
    "positive": (lambda numbers, _: ~(numbers > 0), "has {first:g}, it must be above 0"),
    "zero": (lambda numbers, _: numbers != 0, "has {first:g}, it must be 0"),
}
"""Which numbers of a tensor break the restriction, and what is wrong then, in words."""


def _values(model: CheckedModel, tensor: str, row: Restriction) -> str:
    """Judge a tensor by its numbers, where these are known and there are any."""
    numbers = model.values(tensor, whole=True)
    if numbers is None and row.must != "at-least":  # of pads, importers look at constants alone
        numbers = model.computed.get(tensor)
    if numbers is None or numbers.dtype.kind not in "fiub" or not numbers.size:
        return ""
    breaks, text = _NUMBERS[row.must]
    broken = numbers[np.broadcast_to(breaks(numbers, row.value), numbers.shape)]
    return text.format(first=float(broken[0]), most=numbers.max(), value=row.value) if broken.size else ""


_TENSORS: Mapping[str, Judge] = {
    **dict.fromkeys(_NUMBERS, _values),
    "build-time": _constant,
    "constant": _constant,
    "constant-if": lambda model, tensor, row: (
        _constant(model, tensor, row) if _type_of(model, tensor) in row.value.split() else ""
    ),
    "no-input": lambda model, tensor, row: row.value if tensor in [value.name for value in model.inputs] else "",
    "not-constant": lambda model, tensor, _: "is constant, which it must not be" if tensor in model.constants else "",
    "not-type": _type,
    "rank": _rank,
    "single": _single,
    "static": lambda model, tensor, _: "is dynamic, it must not be" if None in model.sizes.get(tensor, ()) else "",
    "type": _type,
    "window": _window,
}
"""What breaks the restriction, in words."""


def _setting(model: CheckedModel, node: CheckedNode, name: str) -> Any:  # noqa: ANN401 - of any of ONNX's types
    given = node.attribute(name)
    return node.default(name, model.opset) if given is None else given


_TERMS, _PADDED = 2, 2


def _terms(node: CheckedNode) -> list[str]:
    return str(node.attribute("equation")).replace(" ", "").split("->")[0].replace("...", ".").split(",")


def _has_diagonal(_: CheckedModel, node: CheckedNode) -> bool:
    return any(len({*term}) < len(term) for term in _terms(node))


def _is_not_plain(model: CheckedModel, node: CheckedNode) -> bool:
    return len(_terms(node)) > _TERMS or "." in "".join(_terms(node)) or _has_diagonal(model, node)


def _scales_more(mode: str, most: int, model: CheckedModel, node: CheckedNode) -> bool:
    """Whether an interpolation by known scales, or linearly to known sizes, changes others than the last dimensions."""
    given, ends = (next(map(model.values, model.slots(node, (name,))), None) for name in ("scales", "sizes"))
    before, axes, stated = model.sizes.get(node.proto.input[0], ()), node.attribute("axes"), node.attribute("scales")
    scales = given if stated is None else np.array(stated)
    if mode == "linear" and scales is None and ends is not None and not axes and ends.size == len(before):
        scales = np.array([end != size is not None for end, size in zip(ends, before, strict=True)]) + 1
    if scales is None or _setting(model, node, "mode") != mode:
        return False
    rank = len(before) or scales.size
    places = zip(axes or range(scales.size), scales, strict=False)
    return any(scale != 1 and axis % rank < rank - most for axis, scale in places)


def _scatters_more(model: CheckedModel, node: CheckedNode) -> bool:
    data, *others = (model.sizes.get(name, ()) for name in node.proto.input)
    return any(None not in pair and pair > pair[::-1] for each in others for pair in zip(each, data, strict=False))


def _scales_late(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether scales that are no constant are for some axes, or for axes in another order."""
    axes, late = node.attribute("axes"), any(name not in model.constants for name in model.slots(node, ("scales",)))
    return bool(axes) and late and axes != [*range(model.rank(node.proto.input[0]) or len(axes))]


def _rounds_otherwise(model: CheckedModel, node: CheckedNode) -> bool:
    halves = _setting(model, node, "coordinate_transformation_mode") == "tf_half_pixel_for_nn"
    return halves and bool(_setting(model, node, "nearest_mode") != "round_prefer_floor")


def _rounds(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether an interpolation by the nearest element does not round down."""
    nearest = _setting(model, node, "mode") == "nearest"
    return nearest and _setting(model, node, "nearest_mode") not in {None, "floor"}


def _grows(_: CheckedModel, node: CheckedNode) -> bool:
    """Whether a loop's body joins a carried tensor with another."""
    body = node.attribute("body")
    makers = {name: maker for maker in body.node for name in maker.output}
    joins = (makers.get(after.name) for after in body.output[1:])
    return any(
        maker is not None and maker.op_type == "Concat" and before.name in maker.input
        for before, maker in zip(body.input[2:], joins, strict=False)
    )


def _lacks_condition(_: CheckedModel, node: CheckedNode) -> bool:
    """Whether a loop is given no condition, and its body reads one."""
    body, given = node.attribute("body"), [*node.proto.input[1:2]]
    read = {name for each in graphs(body) for inner in each.node for name in inner.input}
    return not any(given) and body.input[1].name in {*read, *(value.name for value in body.output)}


def _lacks_limit(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether a loop collects a value of each iteration without a trip count, or with the largest of INT32 or more."""
    body, limit = node.attribute("body"), model.values(next(iter(node.proto.input), ""))
    endless = not any(node.proto.input[:1]) or (limit is not None and limit.size and limit.flat[0] >= _ENDLESS)
    return bool(endless) and len(body.output) > len(body.input) - 1


def _starts_for_some(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether a Slice without axes has starts for the first dimensions alone."""
    starts = [model.sizes.get(name) for name in model.slots(node, ("starts",))]
    count, rank = starts[0][0] if starts and starts[0] else None, model.rank(node.proto.input[0])
    return not model.slots(node, ("axes",)) and None not in {count, rank} and count != rank


def _pads_outwards(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether ``output_shape`` is more than half an element on each side beyond what strides and kernel give."""
    shape, kernel = node.attribute("output_shape"), model.sizes.get(node.proto.input[1], ())[2:]
    before = model.sizes.get(node.proto.input[0], ())[2:]
    if not shape or None in {*before, *kernel} or len(before) != len(kernel):
        return False
    ones = [1] * len(kernel)
    strides, dilations = node.attribute("strides") or ones, node.attribute("dilations") or ones
    extra = node.attribute("output_padding") or [0] * len(kernel)
    ends = zip(before, kernel, strides, dilations, extra, shape[-len(kernel) :], strict=False)
    return any(
        (size - 1) * step + (width - 1) * gap + 1 + more - end < -1 for size, width, step, gap, more, end in ends
    )


def _pads_more(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether known pads change others than the last two dimensions."""
    given = next((model.values(name) for name in model.slots(node, ("pads",))), None)
    pads = node.attribute("pads") or ([] if given is None else given.reshape(-1).tolist())
    half = len(pads) // 2
    return any((*pads[: half - 2], *pads[half:-2])) if half > _PADDED else False


def _turns_otherwise(names: Sequence[str], _: CheckedModel, node: CheckedNode) -> bool:
    """Whether both directions of a recurrent layer have activations, or numbers of these, of their own."""
    given = [node.attribute(name) or [] for name in names]
    both = node.attribute("direction") == "bidirectional"
    return both and any(each[: len(each) // 2] != each[len(each) // 2 :] for each in given)


def _hides_axis(model: CheckedModel, node: CheckedNode) -> bool:
    sizes, axis = model.sizes.get(node.proto.input[0], ()), _setting(model, node, "axis")
    return -len(sizes) <= axis < len(sizes) and sizes[axis] is None


def _casts_bytes(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether a Cast is between UINT8 and anything but a floating type."""
    types = [_type_of(model, node.proto.input[0]), taken_as(node.casts_to, NEWEST)]
    return "UINT8" in types and not {*types} - {"UINT8", ""} <= {"FP32", "FP16"}


def _is_of_odd_size(model: CheckedModel, node: CheckedNode) -> bool:
    sizes = model.sizes.get(node.proto.input[0], (None,))
    odd = None not in sizes and prod(size or 0 for size in sizes) % 2
    return bool(odd) and _type_of(model, node.proto.input[0]) in {"FP4", "INT4"}


def _is_odd(model: CheckedModel, node: CheckedNode) -> bool:
    packed = (name for name in (node.proto.input[0], node.proto.output[0]) if _type_of(model, name) == "INT4")
    return any(((model.sizes.get(name) or (0,))[-1] or 0) % 2 for name in packed)


def _has_other_activations(_: CheckedModel, node: CheckedNode) -> bool:
    given, directions = node.attribute("activations"), 1 + (node.attribute("direction") == "bidirectional")
    return bool(given) and len(given) != directions * {"GRU": 2, "LSTM": 3, "RNN": 1}[node.op]


_NODES: Mapping[str, Callable[[CheckedModel, CheckedNode], bool]] = {
    "axes-and-scales": _scales_late,
    "floors": _rounds,
    "every-axis": _starts_for_some,
    "floats-and-bytes": _casts_bytes,
    "has-condition": _lacks_condition,
    "has-limit": _lacks_limit,
    "keeps-shape": _grows,
    "even-count": _is_of_odd_size,
    "even-rows": _is_odd,
    "known-axis": _hides_axis,
    "last-2": partial(_scales_more, "cubic", 2),
    "last-3": partial(_scales_more, "linear", 3),
    "lower-case": lambda _, node: str(node.attribute("equation")) != str(node.attribute("equation")).lower(),
    "mask-or-causal": lambda model, node: bool(node.attribute("is_causal") and model.slots(node, ("attn_mask",))),
    "min-of-bytes": lambda model, node: (
        _type_of(model, node.proto.input[0]) == "INT8" and [*node.proto.input][1:2] == [""]
    ),
    "no-blank": lambda _, node: [*node.proto.input][1:] == [""],
    "no-diagonal": _has_diagonal,
    "of-each-direction": _has_other_activations,
    "one-padding": lambda _, node: bool(node.attribute("pads")) and "SAME" in str(node.attribute("auto_pad")),
    "one-shape": lambda model, node: len({model.sizes.get(name) for name in node.proto.input[1:3]} - {None}) > 1,
    "padded": _pads_outwards,
    "pads-2": _pads_more,
    "plain-equation": _is_not_plain,
    "rounds-down": _rounds_otherwise,
    "same-directions": partial(_turns_otherwise, ("activations",)),
    "same-numbers": partial(_turns_otherwise, ("activation_alpha", "activation_beta")),
    "squeezable": lambda model, node: not model.names_axes(node) and None in model.sizes.get(node.proto.input[0], ()),
    "two-axes": lambda model, node: _setting(model, node, "batch_axis") == _setting(model, node, "time_axis"),
    "unreduced": lambda _, node: node.attribute("reduction") is not None,
    "within-data": _scatters_more,
    "unbatched": lambda model, node: [1, 2] < [model.rank(name) or 0 for name in node.proto.input] < [2],
    "whole": lambda model, node: (
        not node.attribute("fmod") and _type_of(model, node.proto.input[0]) not in {"", "INT32", "INT64"}
    ),
}
"""Whether a node breaks a restriction that takes more than one of its parts."""
