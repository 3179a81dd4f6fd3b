"""Writes the models of probes. External constants are in one data file that all models of a folder share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto

from trtforensics.bisect.precision.casting.preparation import graphs
from trtforensics.bisect.precision.casting.streaming import key_of
from trtforensics.console.output import open_output, write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import onnx

    from trtforensics.bisect.precision.casting.caster import Caster

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
    places, end = {}, 0
    for name, content in contents.items():
        begin = end + -end % _ALIGNMENT
        places[name] = (begin, content.nbytes)
        end = begin + content.nbytes
    if not path.exists():  # it appears whole or not at all, and its content follows from the folder's job
        with open_output(path) as sink:
            written = 0
            for name, content in contents.items():
                sink.write(bytes(places[name][0] - written))
                for start in range(0, content.nbytes, _BLOCK):
                    sink.write(bytes(content[start : start + _BLOCK]))
                written = sum(places[name])
    return places


def _contents(caster: Caster) -> dict[str, memoryview]:
    """Return the bytes of every external constant and its 16-bit copy."""
    contents = {}
    for graph in graphs(caster.prepared.proto.graph):
        for tensor in graph.initializer:
            if tensor.name in caster.prepared.external:
                contents[tensor.name] = _bytes(caster, tensor)
                if tensor.name in caster.constants.narrow:
                    narrow = caster.constants.narrow[tensor.name]
                    contents[narrow.name] = _bytes(caster, narrow)
    return contents


def _bytes(caster: Caster, tensor: TensorProto) -> memoryview:
    key = key_of(tensor)
    if key is None:
        return memoryview(tensor.raw_data)
    return caster.streamed[key].reshape(-1).view(np.uint8).data


def refer(tensor: TensorProto, data: str, offset: int, length: int) -> None:
    """Have a tensor's values in a part of a data file."""
    tensor.ClearField("raw_data")
    tensor.ClearField("external_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", data), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
