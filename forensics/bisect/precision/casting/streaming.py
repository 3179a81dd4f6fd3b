"""Constants that stay outside of the model's message, which holds at most 2 GiB.

A streamed constant is external in the message: its ``location`` is a key, under which its values are found. ONNX
Runtime gets the values of a session by :func:`values_of`, as inputs, files by ``saving``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, external_data_helper, helper

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy.typing as npt

    Streamed = Mapping[str, npt.NDArray[Any]]

LEAST = 1 << 20
"""Bytes of a constant that is worth streaming; smaller ones are read by what looks for patterns."""


def mapped(tensor: TensorProto, folder: Path) -> npt.NDArray[Any]:
    """Return the values of an external tensor, mapped from its file.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is too short.
    """
    place = external_data_helper.ExternalDataInfo(tensor)
    kind = helper.tensor_dtype_to_np_dtype(tensor.data_type)
    return np.memmap(folder / place.location, kind, "r", place.offset or 0, tuple(tensor.dims))


def is_worth_streaming(tensor: TensorProto) -> bool:
    """Whether an external tensor is large, and of a type whose values have whole bytes."""
    kind = helper.tensor_dtype_to_np_dtype(tensor.data_type)
    return (
        bool(tensor.dims) and kind.itemsize * int(np.prod(tensor.dims, dtype=np.int64)) >= LEAST and kind.kind in "fiub"
    )


def reference(name: str, elem_type: int, dims: tuple[int, ...]) -> TensorProto:
    """Return a tensor whose values are found under its name."""
    tensor = TensorProto(name=name, data_type=elem_type, dims=dims, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=name)
    return tensor


def key_of(tensor: TensorProto) -> str | None:
    """Return the key of a streamed tensor; None for one with values of its own."""
    if not external_data_helper.uses_external_data(tensor):
        return None
    return next(str(entry.value) for entry in tensor.external_data if entry.key == "location")


def values_of(model: onnx.ModelProto, streamed: Streamed) -> dict[str, npt.NDArray[Any]]:
    """Return the values of the streamed constants of a model's main graph, by name."""
    keys = {tensor.name: key_of(tensor) for tensor in model.graph.initializer}
    return {name: streamed[key] for name, key in keys.items() if key is not None}


def references_as_inputs(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with its streamed constants as inputs, for what would look for their files."""
    streamed = [tensor for tensor in model.graph.initializer if key_of(tensor) is not None]
    if not streamed:
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    kept = [tensor for tensor in model.graph.initializer if key_of(tensor) is None]
    copy.graph.ClearField("initializer")
    copy.graph.initializer.extend(kept)
    for tensor in streamed:
        copy.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return copy
