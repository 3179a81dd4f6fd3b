"""Whether a node breaks a restriction of the table, in words; what the model does not tell breaks none."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.knowledge.operators import taken_as
from trtforensics.knowledge.table import NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trtforensics.knowledge.operators import Restriction
    from trtforensics.onnx_models.checked import CheckedModel, CheckedNode

    Judge = Callable[[CheckedModel, str, Restriction], str]


def refusal(model: CheckedModel, node: CheckedNode, row: Restriction) -> str:
    """Return what is wrong with a node by one restriction; empty where it keeps it, or that cannot be told."""
    if row.must in _NODES:
        return row.value if _NODES[row.must](model, node) else ""
    if row.of == "attribute":
        return next(filter(None, (_attribute(node, name, row) for name in row.names)), "")
    tensors = model.slots(node, row.names, of=row.of)
    if row.must == "absent":
        return f"{' or '.join(row.names)} is given, which it must not be" if tensors else ""
    judge = _TENSORS.get(row.must)
    words = (judge(model, tensor, row) for tensor in tensors) if judge else ()
    return next((f"{' or '.join(row.names)} {text}" for text in words if text), "")


def _attribute(node: CheckedNode, name: str, row: Restriction) -> str:
    judge, default, given = _ATTRIBUTES.get(row.must), node.default(name), node.attribute(name)
    value = default if given is None else given
    if judge is None or value is None or not judge(value, default, row):
        return ""
    return f"{name} is {_spelled(value)}, it must {_WORDS[row.must]}{row.value.replace(' ', ', ')}"


def _spelled(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _all_equal(value: Any, row: Restriction) -> bool:  # noqa: ANN401 - of any of ONNX's types
    return all(str(each) == row.value for each in (value if isinstance(value, (list, tuple)) else (value,)))


def _halves(value: Any) -> bool:  # noqa: ANN401 - of any of ONNX's types
    middle = len(value) // 2
    return list(value[:middle]) == list(value[middle:])


_ELEMENTS: Mapping[int, str] = {1: "FP32", 10: "FP16", 16: "BF16"}
"""Types that an attribute names by ONNX's numbers."""

_ATTRIBUTES: Mapping[str, Callable[[Any, Any, Restriction], bool]] = {
    "absent": lambda value, default, _: value != default,
    "equal": lambda value, _, row: not _all_equal(value, row),
    "in": lambda value, _, row: str(value) not in row.value.split(),
    "symmetric": lambda value, *_: not _halves(value),
    "type": lambda value, _, row: _ELEMENTS.get(int(value), "") not in row.value.split(),
}
"""Whether a value breaks the restriction."""

_WORDS = {"absent": "not be", "equal": "be ", "in": "be one of ", "symmetric": "be symmetric", "type": "be "}


def _word(element: str) -> str:
    return taken_as(element, NEWEST) if element != "DOUBLE" else "FP64"


def _rank(model: CheckedModel, tensor: str, row: Restriction) -> str:
    rank = model.rank(tensor)
    low, _, high = row.value.partition("-")
    fits = rank is None or int(low) <= rank <= int(high or low)
    return "" if fits else f"has {rank} dimensions, it must have {row.value.replace('-', ' to ')}"


def _type(model: CheckedModel, tensor: str, row: Restriction) -> str:
    word = _type_of(model, tensor)
    return "" if not word or word in row.value.split() else f"is {word}, it must be {row.value.replace(' ', ' or ')}"


def _not_type(model: CheckedModel, tensor: str, row: Restriction) -> str:
    word = _type_of(model, tensor)
    return f"is {word}, which it must not be" if word and word in row.value.split() else ""


def _type_of(model: CheckedModel, tensor: str) -> str:
    return _word(model.elements.get(tensor, ""))


def _constant(model: CheckedModel, tensor: str, _: Restriction) -> str:
    return "" if model.is_static(tensor) else "is computed at run time, it must be constant"


def _static(model: CheckedModel, tensor: str, _: Restriction) -> str:
    return "is dynamic, it must be of fixed size" if None in model.sizes.get(tensor, ()) else ""


def _not_constant(model: CheckedModel, tensor: str, _: Restriction) -> str:
    return "is constant, which it must not be" if tensor in model.constants else ""


def _of_values(judge: Callable[[Any, str], str]) -> Judge:
    """Judge a tensor by its numbers, where these are known and there are any."""

    def judged(model: CheckedModel, tensor: str, row: Restriction) -> str:
        values = model.values(tensor, whole=True)
        known = values is not None and values.dtype.kind in "fiub" and values.size
        return judge(values, row.value) if known else ""

    return judged


def _positive(values: Any, _: str) -> str:  # noqa: ANN401 - an array of any type
    bad = int(np.count_nonzero(~(values > 0)))
    return f"has {bad:,} values that are not positive" if bad else ""


def _zero(values: Any, _: str) -> str:  # noqa: ANN401 - an array of any type
    bad = int(np.count_nonzero(values))
    return f"has {bad:,} values that are not zero, they must be" if bad else ""


def _equal(values: Any, wanted: str) -> str:  # noqa: ANN401 - an array of any type
    return f"is not {wanted}, it must be" if np.any(values != float(wanted)) else ""


def _below(values: Any, most: str) -> str:  # noqa: ANN401 - an array of any type
    return "" if values.max() <= float(most) else f"is {values.max():,}, it must be at most {most}"


_TENSORS: Mapping[str, Judge] = {
    "below": _of_values(_below),
    "build-time": _constant,
    "constant": _constant,
    "equal": _of_values(_equal),
    "no-input": lambda model, tensor, row: row.value if tensor in [value.name for value in model.inputs] else "",
    "not-constant": _not_constant,
    "not-type": _not_type,
    "positive": _of_values(_positive),
    "rank": _rank,
    "static": _static,
    "type": _type,
    "zero": _of_values(_zero),
}
"""What breaks the restriction, in words."""


def _setting(node: CheckedNode, name: str) -> Any:  # noqa: ANN401 - of any of ONNX's types
    given = node.attribute(name)
    return node.default(name) if given is None else given


def _is_not_plain(_: CheckedModel, node: CheckedNode) -> bool:
    terms = str(node.attribute("equation")).replace(" ", "").split("->")[0].split(",")
    return any("." in term or len({*term}) < len(term) for term in terms)


def _scales_more(mode: str, most: int, model: CheckedModel, node: CheckedNode) -> bool:
    """Whether an interpolation by known scales changes others than the last dimensions."""
    scales = next((model.values(name) for name in model.slots(node, ("scales",))), None)
    if scales is None or _setting(node, "mode") != mode:
        return False
    axes = node.attribute("axes") or range(scales.size)
    rank = model.rank(node.proto.input[0]) or scales.size
    return any(scale != 1 and axis % rank < rank - most for axis, scale in zip(axes, scales, strict=False))


def _rounds_otherwise(_: CheckedModel, node: CheckedNode) -> bool:
    halves = _setting(node, "coordinate_transformation_mode") == "tf_half_pixel_for_nn"
    return halves and bool(_setting(node, "nearest_mode") != "round_prefer_floor")


def _grows(_: CheckedModel, node: CheckedNode) -> bool:
    """Whether a loop's body joins a carried tensor with another."""
    body = node.attribute("body")
    makers = {name: maker for maker in body.node for name in maker.output}
    joins = (makers.get(after.name) for after in body.output[1:])
    return any(
        maker is not None and maker.op_type == "Concat" and before.name in maker.input
        for before, maker in zip(body.input[2:], joins, strict=False)
    )


def _cannot_squeeze(model: CheckedModel, node: CheckedNode) -> bool:
    has_axes = node.attribute("axes") or model.slots(node, ("axes",))
    return not has_axes and None in model.sizes.get(node.proto.input[0], ())


def _pads_outwards(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether ``output_shape`` is more than half an element on each side beyond what strides and kernel give."""
    shape, kernel = node.attribute("output_shape"), model.sizes.get(node.proto.input[1], ())[2:]
    before = model.sizes.get(node.proto.input[0], ())[2:]
    if not shape or None in {*before, *kernel} or len(before) != len(kernel):
        return False
    ones = [1] * len(kernel)
    strides, dilations = node.attribute("strides") or ones, node.attribute("dilations") or ones
    extra = node.attribute("output_padding") or [0] * len(kernel)
    ends = zip(before, kernel, strides, dilations, extra, shape[-len(kernel) :], strict=True)
    return any(
        (size - 1) * step + (width - 1) * gap + 1 + more - end < -1 for size, width, step, gap, more, end in ends
    )


def _ranks(model: CheckedModel, node: CheckedNode) -> list[int]:
    return [model.rank(name) or 0 for name in node.proto.input]


_NODES: Mapping[str, Callable[[CheckedModel, CheckedNode], bool]] = {
    "keeps-shape": _grows,
    "last-2": partial(_scales_more, "cubic", 2),
    "last-3": partial(_scales_more, "linear", 3),
    "mask-or-causal": lambda model, node: bool(node.attribute("is_causal") and model.slots(node, ("attn_mask",))),
    "one-shape": lambda model, node: len({model.sizes.get(name) for name in node.proto.input[1:3]} - {None}) > 1,
    "padded": _pads_outwards,
    "plain-equation": _is_not_plain,
    "rounds-down": _rounds_otherwise,
    "squeezable": _cannot_squeeze,
    "unbatched": lambda model, node: [1, 2] < _ranks(model, node) < [2],
    "whole": lambda model, node: not node.attribute("fmod") and "F" in _type_of(model, node.proto.input[0]),
}
"""Whether a node breaks a restriction that takes more than one of its parts."""
