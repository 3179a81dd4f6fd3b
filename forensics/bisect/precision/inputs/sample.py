"""A sample: an array for each input of a model, of the type and shape that the model takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto

from trtforensics.errors import SourceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Values = npt.NDArray[Any]
    Sample = Mapping[str, Values]


@dataclass(frozen=True, slots=True)
class SampleSet:
    """The samples of a search; ``notes`` say how they came about. ``drawn`` says that they are random."""

    samples: tuple[Sample, ...]
    drawn: bool = False
    notes: tuple[str, ...] = ()


def dtypes_of(model: onnx.ModelProto) -> dict[str, np.dtype[Any]]:
    """Return numpy's type of every input.

    Raises:
        UsageError: An input is a sequence, or holds texts.
    """
    return {value.name: _dtype(value) for value in model.graph.input}


def fitted(model: onnx.ModelProto, arrays: Mapping[str, Any], path: str) -> Sample:
    """Return a sample of the model from arrays by name; further arrays are left out. ``path`` is named in errors.

    Raises:
        SourceError: An array is missing, or its type or shape does not fit.
    """
    dtypes = dtypes_of(model)
    missing = dtypes.keys() - arrays.keys()
    if missing:
        has = f"; it has {', '.join(map(str, arrays))}" if arrays else ""
        raise SourceError(path, f"has no array for the input {min(missing)}{has}", "Name arrays as the model does")
    sample = {}
    for value in model.graph.input:
        array = np.asarray(arrays[value.name])
        dtype = dtypes[value.name]
        whole = dtype.kind in "iu" and array.dtype.kind not in "iub"
        if array.dtype.kind not in "fiubV" or (whole and not np.array_equal(array, np.trunc(array))):
            what = f"has {array.dtype} for the input {value.name}, which the model takes as {dtype}"
            raise SourceError(path, what, f"Give it as {dtype}")
        wanted = [dim.dim_value if dim.HasField("dim_value") else None for dim in value.type.tensor_type.shape.dim]
        known = value.type.tensor_type.HasField("shape")
        if known and not _fits(wanted, array.shape):
            spelled = "x".join("?" if size is None else str(size) for size in wanted) or "a scalar"
            given = "x".join(map(str, array.shape)) or "a scalar"
            what = f"has {given} for the input {value.name}, which the model takes as {spelled}"
            raise SourceError(path, what, "Give arrays of the model's shapes")
        sample[value.name] = array.astype(dtype)
    return sample


def _fits(wanted: list[int | None], given: tuple[int, ...]) -> bool:
    return len(wanted) == len(given) and all(
        size is None or size == each for size, each in zip(wanted, given, strict=True)
    )


def _dtype(value: onnx.ValueInfoProto) -> np.dtype[Any]:
    kind = value.type.tensor_type.elem_type
    if value.type.WhichOneof("value") != "tensor_type" or kind in {TensorProto.UNDEFINED, TensorProto.STRING}:
        raise UsageError(
            value.name, "is an input of a type that is neither numbers nor booleans", "Cut the model there"
        )
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind))
