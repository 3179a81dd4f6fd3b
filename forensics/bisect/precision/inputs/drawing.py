"""Draws random samples with a fixed seed, from the values that the user or the graph allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.bisect.precision.inputs.sample import dtypes_of
from trtforensics.bisect.precision.inputs.shapes import input_shapes
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import onnx

    from trtforensics.bisect.precision.inputs.integers import IntegerChoice
    from trtforensics.bisect.precision.inputs.sample import Sample, Values

_SEED = 1


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
    """Draw samples: evenly from ``ranges``, integers from ``choices``, other floats from a normal distribution.

    Integers that nothing is known of, and booleans, are 0 and 1.

    Raises:
        UsageError: An input has dynamic dimensions that no shape is given for, or a type without random values.
    """
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
