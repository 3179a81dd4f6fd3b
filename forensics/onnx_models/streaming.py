"""Constants that stay outside of the model's message, which holds at most 2 GiB.

A streamed constant is external in the message: its ``location`` is a key, under which its values are found. ONNX
Runtime gets the values of a session by :func:`values_of`, as inputs, files by :func:`write_data`.
"""

import hashlib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, external_data_helper, helper

from trtforensics.console.output import open_output, write_bytes
from trtforensics.onnx_models.graphs import copied, copied_without, refill

Streamed = Mapping[str, npt.NDArray[Any]]

HELD = 256 << 20
"""Bytes of streamed constants that a cut model's message takes in."""
LEAST = 1 << 20
"""Bytes of a constant that is worth streaming; smaller ones are read by what looks for patterns."""

_FLOATS = {TensorProto.FLOAT: "<f4", TensorProto.FLOAT16: "<u2"}
_ALIGNMENT = 4096
_BLOCK = 1 << 24


def mapped(tensor: TensorProto, folder: Path) -> npt.NDArray[Any]:
    """Map an external tensor from its file; an OSError where it cannot be read, a ValueError where it is too short."""
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
    copy = copied(model)
    refill(copy.graph, "initializer", (tensor for tensor in copy.graph.initializer if key_of(tensor) is None))
    for tensor in streamed:
        copy.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return copy


def apart(model: onnx.ModelProto) -> tuple[onnx.ModelProto, Streamed]:
    """Return the model with references in place of its large floating-point constants, and their values.

    Each copy of a message copies its constants, and takes up to some seconds a gigabyte.
    """
    listed, large = {value.name for values in (model.graph.input, model.graph.output) for value in values}, {}
    for tensor in model.graph.initializer:
        if tensor.data_type in _FLOATS and tensor.name not in listed and is_worth_streaming(tensor):
            values = np.frombuffer(tensor.raw_data, _FLOATS[tensor.data_type])
            if values.size == prod(tensor.dims):
                large[tensor.name] = values.reshape(tensor.dims)
    if not large:
        return model, {}
    light = copied_without(model, "graph")
    light.graph.CopyFrom(copied_without(model.graph, "initializer"))
    for tensor in model.graph.initializer:
        outside = tensor.name in large
        light.graph.initializer.append(
            reference(tensor.name, tensor.data_type, tuple(tensor.dims)) if outside else tensor
        )
    return light, large


def write_data(path: Path, contents: Streamed) -> Mapping[str, tuple[int, int]]:
    """Write values to a data file, which appears whole or not at all; return offset and length of each, in bytes."""
    places, written = data_places(contents), 0
    with open_output(path) as sink:
        for name, values in contents.items():
            begin, length = places[name]
            sink.write(bytes(begin - written))
            rows = max(1, _BLOCK * len(values) // max(1, length))
            for start in range(0, len(values), rows):
                sink.write(np.ascontiguousarray(values[start : start + rows]).tobytes())
            written = begin + length
    return places


def data_places(contents: Streamed) -> dict[str, tuple[int, int]]:
    """Return offset and length of each in their data file, in bytes; each begins at a page of its own."""
    places, end = {}, 0
    for name, values in contents.items():
        begin = end + -end % _ALIGNMENT
        places[name] = (begin, values.nbytes)
        end = begin + values.nbytes
    return places


def refer(tensor: TensorProto, data: str, offset: int, length: int) -> None:
    """Have a tensor's values in a part of a data file."""
    tensor.ClearField("raw_data")
    tensor.ClearField("external_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", data), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))


def fill(tensor: TensorProto, values: npt.NDArray[Any]) -> None:
    """Give a streamed tensor values of its own, in place."""
    for field in ("external_data", "data_location"):
        tensor.ClearField(field)
    tensor.raw_data = values.tobytes()


def held(model: onnx.ModelProto, streamed: Streamed) -> Streamed:
    """Put streamed constants into a model where they are few; return those that stay outside: all, or none."""
    if not streamed or sum(array.nbytes for array in streamed.values()) > HELD:
        return dict(streamed)
    for tensor in model.graph.initializer:
        key = key_of(tensor)
        if key is not None:
            fill(tensor, streamed[key])
    return {}


def digest_of(model: onnx.ModelProto, streamed: Streamed) -> str:
    """Return the SHA-256 of a model with its streamed constants, in hex."""
    digest = hashlib.sha256(model.SerializeToString(deterministic=True))
    for values in streamed.values():
        digest.update(values.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def write_model(model: onnx.ModelProto, streamed: Streamed, path: Path) -> Path | None:
    """Write a model; its streamed constants go to a file beside it, which is returned."""
    if not streamed:
        write_bytes(path, model.SerializeToString())
        return None
    data = data_file(path)
    copy = copied(model)
    outside = {tensor.name: (tensor, key) for tensor in copy.graph.initializer if (key := key_of(tensor)) is not None}
    places = write_data(data, {name: streamed[key] for name, (_, key) in outside.items()})
    for name, (tensor, _) in outside.items():
        refer(tensor, data.name, *places[name])
    write_bytes(path, copy.SerializeToString())
    return data


def data_file(path: Path) -> Path:
    """Return where the streamed constants of a model file are."""
    return path.with_name(f"{path.name}.data")
