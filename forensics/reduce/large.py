"""Models whose large constants stay outside of their message, which holds at most 2 GiB: as files, and as values.

Constants of a cut model go back into its message as soon as they are few enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import numpy_helper

from trtforensics.bisect.precision.casting.saving import refer
from trtforensics.bisect.precision.casting.streaming import key_of
from trtforensics.console.output import open_output, write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import onnx

    from trtforensics.bisect.precision.casting.streaming import Streamed
    from trtforensics.bisect.precision.inputs.sample import Values

HELD = 256 << 20
"""Bytes of streamed constants that a cut model's message takes in."""

_ALIGNMENT = 4096
_BLOCK = 1 << 24


def held(model: onnx.ModelProto, streamed: Mapping[str, Values]) -> Streamed:
    """Put streamed constants into a model where they are few; return those that stay outside: all, or none."""
    if not streamed or sum(array.nbytes for array in streamed.values()) > HELD:
        return dict(streamed)
    for tensor in model.graph.initializer:
        key = key_of(tensor)
        if key is not None:
            tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(streamed[key]), tensor.name))
    return {}


def write_model(model: onnx.ModelProto, streamed: Streamed, path: Path) -> Path | None:
    """Write a model; its streamed constants go to a file beside it, which is returned.

    Raises:
        OutputError: a file cannot be written; no half-written one is left.
    """
    if not streamed:
        write_bytes(path, model.SerializeToString())
        return None
    data = data_file(path)
    copy = type(model)()
    copy.CopyFrom(model)
    end = 0
    with open_output(data) as sink:
        for tensor in copy.graph.initializer:
            key = key_of(tensor)
            if key is None:
                continue
            array = streamed[key]
            begin = end + -end % _ALIGNMENT
            sink.write(bytes(begin - end))
            for start in range(0, len(array), rows := max(1, _BLOCK * len(array) // array.nbytes)):
                sink.write(np.ascontiguousarray(array[start : start + rows]).tobytes())
            end = begin + array.nbytes
            refer(tensor, data.name, begin, array.nbytes)
    write_bytes(path, copy.SerializeToString())
    return data


def data_file(path: Path) -> Path:
    """Return where the streamed constants of a model file are."""
    return path.with_name(f"{path.name}.data")
