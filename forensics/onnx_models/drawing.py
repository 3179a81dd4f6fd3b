"""Draws random samples with a fixed seed, from the values that the user or the graph allows.

The graph says of integer inputs that they index an axis of some length, or are compared with constants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from trtforensics.errors import UsageError
from trtforensics.onnx_models.checked_graph import Survey
from trtforensics.onnx_models.graphs import integer
from trtforensics.onnx_models.reading import constant_of
from trtforensics.onnx_models.samples import Sample, Values, dtypes_of
from trtforensics.onnx_models.shapes import Sizes, defaulted, input_shapes, sizes_by_tensor

INTEGERS = frozenset({TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8, TensorProto.INT8, TensorProto.INT16})
"""The types of inputs that may index."""

_SHAPED = {"Expand", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"}
_MOVES = _SHAPED | {"Concat", "Slice", "Split", "Tile", "Transpose"}
_MOST_CONSTANTS = 64
"""Longer tables that an input is compared with are no choice of values."""

_INDEXING = frozenset({"Gather", "GatherElements"})
"""Their second operand indexes the first."""

_SEED = 1
_FAILING_NODE = re.compile(r"Name:'([^']*)'")
"""How ONNX Runtime names the node that fails (seen in 1.17 to 1.31)."""


@dataclass(frozen=True, slots=True)
class IntegerChoice:
    """The values that an integer input may have, and the node that says so."""

    values: range | tuple[int, ...]
    why: str


def integer_choices(model: onnx.ModelProto) -> dict[str, IntegerChoice]:
    """Return what is known of each integer input: the shortest axis that it indexes, else constants it equals."""
    readers = _Readers(Survey(model), sizes_by_tensor(model))
    known = {}
    for value in model.graph.input:
        choices = list(readers.choices(value.name)) if value.type.tensor_type.elem_type in INTEGERS else []
        axes = [choice for choice in choices if isinstance(choice.values, range)]
        if axes:
            known[value.name] = min(axes, key=lambda choice: len(choice.values))
        elif choices:
            values = sorted({number for choice in choices for number in choice.values})
            known[value.name] = replace(choices[0], values=tuple(values))
    return known


@dataclass(frozen=True, slots=True)
class _Readers:
    """The nodes that read integers, and what they say of them."""

    survey: Survey
    sizes: Mapping[str, Sizes]

    def choices(self, name: str) -> Iterator[IntegerChoice]:
        """Yield what the readers of a tensor say, those behind nodes that move it too."""
        ahead, visited = [name], {name}
        while ahead:
            for use in self.survey.uses.get(ahead.pop(), ()):
                node = self.survey.nodes[use.node]
                choice = self._indexed(node, use.slot) or self._compared(node, use.slot)
                if choice is not None:
                    yield choice
                moves = node.op_type in _MOVES and (use.slot == 0 or node.op_type == "Concat")
                if moves or (node.op_type == "Cast" and integer(node, "to") in INTEGERS):
                    ahead += [output for output in node.output if output not in visited]
                    visited.update(node.output)

    def _indexed(self, node: onnx.NodeProto, slot: int) -> IntegerChoice | None:
        depth = self._constant(node.input[1]) if node.op_type == "OneHot" and slot == 0 else None
        if depth is not None:
            classes = int(depth[0])
            return IntegerChoice(range(classes), f"{node.name} has {classes} classes") if classes > 0 else None
        if node.op_type not in _INDEXING or slot != 1:
            return None
        table = self.survey.constants.get(node.input[0])
        sizes = self.sizes.get(node.input[0], ()) if table is None else tuple(table.dims)
        axis = integer(node, "axis") or 0
        length = sizes[axis] if -len(sizes) <= axis < len(sizes) else None
        return IntegerChoice(range(length), f"{node.name} looks up one of {length}") if length else None

    def _compared(self, node: onnx.NodeProto, slot: int) -> IntegerChoice | None:
        values = self._constant(node.input[1 - slot]) if node.op_type == "Equal" else None
        if values is None or not 0 < values.size <= _MOST_CONSTANTS or values.dtype.kind not in "iu":
            return None
        return IntegerChoice(tuple(int(value) for value in values), f"{node.name} compares it with that")

    def _constant(self, name: str) -> Values | None:
        tensor = self.survey.constants.get(name)
        if tensor is None and name in self.survey.producers:
            tensor = constant_of(self.survey.nodes[self.survey.producers[name]])
        return None if tensor is None else numpy_helper.to_array(tensor).ravel()


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The smallest and the largest value of an input, both included."""

    low: float
    high: float


def random_samples(
    model: onnx.ModelProto,
    shapes: Mapping[str, Sequence[int]],
    count: int,
    *,
    ranges: Mapping[str, ValueRange] | None = None,
    choices: Mapping[str, IntegerChoice] | None = None,
) -> tuple[Sample, ...]:
    """Draw integers from ``choices``, else 0 and 1; floats evenly from ``ranges``, else from a normal distribution."""
    random = np.random.default_rng(_SEED)
    sizes = input_shapes(model, shapes)
    dtypes = dtypes_of(model)
    given, known = ranges or {}, choices or {}
    return tuple(
        {name: _drawn(random, dtypes[name], size, given.get(name), known.get(name)) for name, size in sizes.items()}
        for _ in range(count)
    )


def parse_ranges(model: onnx.ModelProto, texts: Sequence[str]) -> dict[str, ValueRange]:
    """Read ranges as Polygraphy spells them, ``[0,1]`` or ``ids:[0,50]``, the brackets optional; later ones win.

    Raises:
        UsageError: A text is no range, or names no input, or no integer input can have it.
    """
    dtypes = dtypes_of(model)
    ranges: dict[str, ValueRange] = {}
    for text in texts:
        name, colon, word = text.rpartition(":")
        if colon and name not in dtypes:
            raise UsageError("--val-range", f"the model has no input {name!r}", f"Its inputs are {', '.join(dtypes)}")
        each = _range(text, word)
        ranges.update(dict.fromkeys([name] if colon else dtypes, each))
    for name, each in ranges.items():
        if dtypes[name].kind in "iu" and np.floor(each.high) < np.ceil(each.low):
            raise UsageError("--val-range", f"no integer is in the range of {name}", "Give one such as ids:[0,50]")
    return ranges


def described(model: onnx.ModelProto, ranges: Mapping[str, ValueRange], choices: Mapping[str, IntegerChoice]) -> str:
    """Return a sentence on what random samples are and what they cannot show."""
    parts = []
    for name, dtype in dtypes_of(model).items():
        if dtype.kind in "iu" and name not in ranges and name in choices:
            values = choices[name].values
            spelled = f"{values[0]} to {values[-1]}" if isinstance(values, range) else ", ".join(map(str, values))
            parts.append(f"{name}: {spelled} ({choices[name].why})")
        elif dtype.kind in "biu" and (name not in ranges or dtype.kind == "b"):
            parts.append(f"{name}: 0 and 1")
        elif name in ranges:
            parts.append(f"{name}: {ranges[name].low:g} to {ranges[name].high:g}")
        else:
            parts.append(f"{name}: a normal distribution")
    return (
        f"the samples are random ({'; '.join(parts)}). Real data may reach other ranges, and has padded rows that "
        "random numbers have not: what passes here may fail there. Give real samples by --inputs"
    )


def _range(text: str, word: str) -> ValueRange:
    try:
        low, high = (float(each) for each in word.strip().removeprefix("[").removesuffix("]").split(","))
    except ValueError:
        low, high = np.nan, np.nan
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise UsageError("--val-range", f"{text!r} is not a range", "Write it as in [0,1] or ids:[0,50]")
    return ValueRange(low, high)


def _drawn(
    random: np.random.Generator,
    dtype: np.dtype[Any],
    size: tuple[int, ...],
    given: ValueRange | None,
    choice: IntegerChoice | None,
) -> Values:
    if dtype.kind == "b":
        return random.integers(0, 2, size).astype(dtype)
    if dtype.kind in "iu":
        if given is not None:
            low, high = int(np.ceil(given.low)), int(np.floor(given.high))
            return random.integers(low, high + 1, size).astype(dtype)
        values = np.asarray((0, 1) if choice is None else choice.values)
        return np.asarray(random.choice(values, size)).astype(dtype)
    if given is not None:
        return np.asarray(random.uniform(given.low, given.high, size)).astype(dtype)
    return np.asarray(random.standard_normal(size)).astype(dtype)


def inputs_behind(model: onnx.ModelProto, message: str) -> list[str]:
    """Return the model's inputs that lead to the node which an error of ONNX Runtime names; all, if it names none."""
    inputs = [value.name for value in model.graph.input]
    survey = Survey(model)
    named = _FAILING_NODE.search(message)
    if named is None or named.group(1) not in survey.nodes:
        return inputs
    read = {name for node in survey.behind(named.group(1)) for name in survey.nodes[node].input}
    return [name for name in inputs if name in read] or inputs


def how_to_give(model: onnx.ModelProto, names: list[str]) -> str:
    """Return the next step for inputs on which a model does not run, when they were random."""
    sizes = ",".join(defaulted(model, {}))
    sized = f", sizes by `--shapes {sizes}` (dynamic ones are 1 where none is given)" if sizes else ""
    types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    example = next((name for name in names if types[name] in INTEGERS), names[0])
    return f"Give real ones by --inputs FILE{sized}, or a range such as `--val-range {example}:[0,1]`"
