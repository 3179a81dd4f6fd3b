"""Models whose large constants stay outside of their message, which holds at most 2 GiB: as files, and as values.

Constants of a cut model go back into its message as soon as they are few enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import numpy_helper

from trtforensics.bisect.precision.casting.saving import refer, write_data
from trtforensics.bisect.precision.casting.streaming import key_of
from trtforensics.console.output import write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import onnx

    from trtforensics.bisect.precision.casting.streaming import Streamed
    from trtforensics.bisect.precision.inputs.sample import Values

HELD = 256 << 20
"""Bytes of streamed constants that a cut model's message takes in."""


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
    outside = {tensor.name: (tensor, key) for tensor in copy.graph.initializer if (key := key_of(tensor)) is not None}
    places = write_data(data, {name: streamed[key] for name, (_, key) in outside.items()})
    for name, (tensor, _) in outside.items():
        refer(tensor, data.name, *places[name])
    write_bytes(path, copy.SerializeToString())
    return data


def data_file(path: Path) -> Path:
    """Return where the streamed constants of a model file are."""
    return path.with_name(f"{path.name}.data")
