"""The 16-bit copies of a model's constants: made once, shared by every probe.

Constants that the model file holds stay in the probes. A model with external data gets one folder for all its probes:
the data files are copied there once, the 16-bit copies lie in one file beside them, and no probe writes either again.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import TensorProto, numpy_helper

from trtforensics import atomic
from trtforensics.errors import SourceError
from trtforensics.precision.preparation import external_places, is_external
from trtforensics.precision.storage import store

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from trtforensics.precision.preparation import Prepared
    from trtforensics.precision.storage import Floats, Storage

_ALIGNMENT = 4096


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


def convert(
    prepared: Prepared, tensors: Mapping[str, TensorProto], suffix: str, storage: Storage, folder: Path | None
) -> Constants:
    """Convert constants; ``folder`` is where probes of a model with external data will lie.

    Raises:
        SourceError: The model has external data and there is no folder for its probes.
        OutputError: The folder cannot be written.
    """
    narrow, altered = {}, {}
    writer = _writer(prepared, folder, storage)
    for name, tensor in tensors.items():
        stored = store(values(prepared, tensor), storage)
        copy = TensorProto(name=name + suffix, data_type=storage.elem_type, dims=tensor.dims)
        if writer is not None and is_external(tensor):
            writer.add(copy, stored.raw)
        else:
            copy.raw_data = stored.raw
        narrow[name] = copy
        if stored.clamped or stored.flushed:
            altered[name] = Altered(name, len(stored.raw) // 2, stored.clamped, stored.flushed)
    if writer is not None:
        writer.finish()
    return Constants(narrow, altered)


def values(prepared: Prepared, tensor: TensorProto) -> Floats:
    """Return the values of an FP32 constant, wherever they lie."""
    return numpy_helper.to_array(tensor, str(prepared.folder or ""))


class _Writer:
    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / name
        self._chunks: list[bytes] = []
        self._size = 0

    def add(self, tensor: TensorProto, raw: bytes) -> None:
        padding = -self._size % _ALIGNMENT
        self._chunks += [bytes(padding), raw]
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in _place(self._path.name, self._size + padding, len(raw)):
            tensor.external_data.add(key=key, value=value)
        self._size += padding + len(raw)

    def finish(self) -> None:
        with atomic.open_output(self._path) as sink:
            for chunk in self._chunks:
                sink.write(chunk)


def _place(name: str, offset: int, length: int) -> Iterable[tuple[str, str]]:
    return (("location", name), ("offset", str(offset)), ("length", str(length)))


def _writer(prepared: Prepared, folder: Path | None, storage: Storage) -> _Writer | None:
    if prepared.folder is None:
        return None
    if folder is None:
        raise SourceError(prepared.path, "has external data, and no folder is named for its probes", "Name one")
    places = external_places(prepared.proto)
    for place in places:
        target = folder / place
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            _copy(prepared.folder / place, target)
    name = f"{storage.name}.bin"
    while name in places:
        name = f"_{name}"
    return _Writer(folder, name)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as data, atomic.open_output(target) as sink:
        while chunk := data.read(shutil.COPY_BUFSIZE):
            sink.write(chunk)
