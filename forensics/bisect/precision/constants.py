"""The 16-bit copies of a model's constants, made once and shared by every probe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import TensorProto, numpy_helper

from trtforensics.bisect.precision.storage import store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.bisect.precision.storage import Storage


@dataclass(frozen=True, slots=True)
class Altered:
    """A constant that 16 bits change more than rounding does: how many of its values, of how many."""

    name: str
    values: int
    clamped: int
    flushed: int


@dataclass(frozen=True, slots=True)
class Constants:
    """16-bit copies by the name of the FP32 constant, and those that were altered."""

    narrow: Mapping[str, TensorProto]
    altered: Mapping[str, Altered]


def convert(tensors: Mapping[str, TensorProto], suffix: str, storage: Storage) -> Constants:
    """Convert FP32 constants; a copy is named after its constant and the suffix."""
    narrow, altered = {}, {}
    for name, tensor in tensors.items():
        stored = store(numpy_helper.to_array(tensor), storage)
        narrow[name] = TensorProto(
            name=name + suffix, data_type=storage.elem_type, dims=tensor.dims, raw_data=stored.raw
        )
        if stored.clamped or stored.flushed:
            altered[name] = Altered(name, len(stored.raw) // 2, stored.clamped, stored.flushed)
    return Constants(narrow, altered)
