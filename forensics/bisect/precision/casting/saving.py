"""Writes the models of probes. External constants are in one data file that all models of a folder share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto

from trtforensics.bisect.precision.casting.preparation import graphs
from trtforensics.bisect.precision.casting.streaming import key_of
from trtforensics.console.output import open_output, write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy.typing as npt
    import onnx

    from trtforensics.bisect.precision.casting.caster import Caster
    from trtforensics.bisect.precision.casting.streaming import Streamed

DATA = "weights.bin"
_ALIGNMENT = 4096
_BLOCK = 1 << 24


def save(caster: Caster, model: onnx.ModelProto, path: Path, data: str = DATA) -> None:
    """Write a model of the caster, or its twin; the first model of a folder also writes the data file.

    Models of two casters in one folder need ``data`` files of two names.

    Raises:
        OutputError: a file cannot be written.
    """
    if caster.prepared.external:
        places = _data_file(caster, path.parent / data)
        for graph in graphs(model.graph):
            for tensor in graph.initializer:
                if tensor.name in places:
                    refer(tensor, data, *places[tensor.name])
    write_bytes(path, model.SerializeToString())


def _data_file(caster: Caster, path: Path) -> Mapping[str, tuple[int, int]]:
    """Return offset and length of every external constant and its 16-bit copy in the data file."""
    contents = _contents(caster)
    if path.exists():  # its content follows from the folder's job
        return _laid_out(contents)
    return write_data(path, contents)


def _contents(caster: Caster) -> Streamed:
    """Return the values of every external constant and its 16-bit copy."""
    contents = {}
    for graph in graphs(caster.prepared.proto.graph):
        for tensor in graph.initializer:
            if tensor.name in caster.prepared.external:
                contents[tensor.name] = _values(caster, tensor)
                if tensor.name in caster.constants.narrow:
                    narrow = caster.constants.narrow[tensor.name]
                    contents[narrow.name] = _values(caster, narrow)
    return contents


def _values(caster: Caster, tensor: TensorProto) -> npt.NDArray[Any]:
    key = key_of(tensor)
    return np.frombuffer(tensor.raw_data, np.uint8) if key is None else caster.streamed[key]


def write_data(path: Path, contents: Streamed) -> Mapping[str, tuple[int, int]]:
    """Write values to a data file, which appears whole or not at all; return offset and length of each, in bytes.

    Raises:
        OutputError: the file cannot be written.
    """
    places, written = _laid_out(contents), 0
    with open_output(path) as sink:
        for name, values in contents.items():
            begin, length = places[name]
            sink.write(bytes(begin - written))
            rows = max(1, _BLOCK * len(values) // max(1, length))
            for start in range(0, len(values), rows):
                sink.write(np.ascontiguousarray(values[start : start + rows]).tobytes())
            written = begin + length
    return places


def _laid_out(contents: Streamed) -> dict[str, tuple[int, int]]:
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
