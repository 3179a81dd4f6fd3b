"""Samples on which a repair may not hold: zeros, huge values, NaN, infinities, empty dimensions, other defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import numpy_helper

from trtforensics.repairs.graph import defaults_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx

    from trtforensics.onnx_models.samples import Sample, Values

_FILLS = {
    "zeros": (0.0,),
    "negative values": (-1.0, -2.5),
    "huge values": (np.inf, -np.inf),
    "NaN": (np.nan,),
    "infinities": (np.inf, -np.inf),
    "all of these": (0.0, -0.0, 1.5, -1.0, np.inf, np.nan, -np.inf, 1e-40),
}
_SIZES = (0, 1, 3)
_MOST_OF_BYTES = 240.0
"""A large number that every type of eight bits and of BF16 holds."""


def extreme_samples(model: onnx.ModelProto, sample: Sample) -> Iterator[tuple[str, Sample]]:
    """Yield samples like one, by what is extreme about them."""
    for name, values in _FILLS.items():
        yield name, {key: _filled(array, values, huge=name.startswith("huge")) for key, array in sample.items()}
    axes = {value.name: _dynamic(value) for value in model.graph.input if value.name in sample}
    dimensions = list(dict.fromkeys(key for keys in axes.values() for key in keys.values()))
    sizes = [(f"size {size} of dynamic dimensions", dict.fromkeys(dimensions, size)) for size in _SIZES]
    sizes += [(f"size 0 of {key}", {key: 0}) for key in dimensions]
    for name, wanted in sizes if len(dimensions) > 1 else sizes[: len(_SIZES) * len(dimensions)]:
        yield name, {key: _resized(array, axes.get(key, {}), wanted) for key, array in sample.items()}
    defaults = defaults_of(model)
    others = {t.name: _other(numpy_helper.to_array(t)) for t in model.graph.initializer if t.name in defaults}
    if others:
        yield "other values for defaults", {**sample, **others}


def _filled(array: Values, values: tuple[float, ...], *, huge: bool) -> Values:
    """Return an array of some values; of integers the largest are huge only where they cannot be sizes."""
    kind, numbers = array.dtype, np.asarray(values)
    if kind.kind == "O":
        return array
    if kind.kind in "iu":
        largest = int(np.iinfo(kind).max) if huge and array.ndim > 1 else 1
        least = -largest if kind.kind == "i" else 0  # the smallest one, divided by -1, would end the process
        whole = [0 if np.isnan(number) else int(max(least, min(largest, number))) for number in values]
        return np.resize(np.array(whole, kind), array.shape)
    if huge and kind.kind != "b":
        most = np.finfo(kind).max if kind.type.__module__ == "numpy" else _MOST_OF_BYTES
        numbers = np.clip(numbers, -most, most)
    with np.errstate(all="ignore"):
        return np.resize(numbers.astype(kind), array.shape)


def _dynamic(value: onnx.ValueInfoProto) -> dict[int, str]:
    """Return the dynamic axes of an input with the names of their dimensions, which others may share."""
    dims = enumerate(value.type.tensor_type.shape.dim)
    return {
        axis: dim.dim_param or f"axis {axis} of {value.name}" for axis, dim in dims if not dim.HasField("dim_value")
    }


def _resized(array: Values, axes: Mapping[int, str], sizes: Mapping[str, int]) -> Values:
    shape = [sizes.get(axes.get(axis, ""), size) for axis, size in enumerate(array.shape)]
    return np.resize(array, shape) if array.size else np.zeros(shape, array.dtype)


def _other(array: Values) -> Values:
    if array.dtype.kind == "O":
        return array
    return np.logical_not(array) if array.dtype.kind == "b" else np.asarray(array + 1).astype(array.dtype)
