"""The two 16-bit types of stored tensors, the conversion of FP32 values, and the 16-bit copies of constants."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import starmap
from math import prod
from typing import IO, TypeVar

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, numpy_helper

from trtforensics.console.output import explained
from trtforensics.onnx_models.streaming import Streamed, reference

Floats = npt.NDArray[np.float32]
Bits = npt.NDArray[np.uint16]

_FP32 = np.finfo(np.float32)

_MAGNITUDE = np.uint16(0x7FFF)
"""All bits but that of the sign."""
_PART = 1 << 18
"""Values that are converted at once: more would leave the cache."""
_MANY = 1 << 22
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Storage:
    """A 16-bit floating-point type.

    ``digits`` counts the bits of the significand, the hidden one included. ``log_word`` is what TensorRT's ONNX
    parser prints for it (seen in logs of TensorRT-RTX 1.7.1), ``type_name`` what ONNX schemas call it.
    """

    name: str
    elem_type: int
    type_name: str
    log_word: str
    largest: float
    smallest: float
    digits: int

    @property
    def smallest_normal(self) -> float:
        """The smallest magnitude that has all digits."""
        return self.smallest * 2.0 ** (self.digits - 1)

    @property
    def half_unit(self) -> float:
        """The largest relative error of rounding one value in range."""
        return 2.0**-self.digits


FP16 = Storage("fp16", TensorProto.FLOAT16, "tensor(float16)", "HALF", 65504.0, 2.0**-24, 11)
BF16 = Storage("bf16", TensorProto.BFLOAT16, "tensor(bfloat16)", "BF16", (2.0 - 2.0**-7) * 2.0**127, 2.0**-133, 8)
STORAGES = {storage.name: storage for storage in (FP16, BF16)}


def store(values: Floats, storage: Storage) -> tuple[Bits, int, int]:
    """Round to nearest even, clamp finite overflow, keep infinities and NaN.

    Return the bits, and how many values were clamped to the largest finite value, since infinity makes NaN of a product
    with zero, and how many became zero.
    """
    stored = np.empty(values.size, "<u2")

    def store_part(place: slice, part: Floats) -> tuple[int, int]:
        stored[place], *changed = _stored(part, storage)
        return changed[0], changed[1]

    counts = _by_parts(values, store_part)
    return stored.reshape(values.shape), sum(clamped for clamped, _ in counts), sum(flushed for _, flushed in counts)


def _parts(values: Floats) -> Iterator[tuple[slice, Floats]]:
    flat = np.ascontiguousarray(values, np.float32).reshape(-1)
    return ((slice(at, at + _PART), flat[at : at + _PART]) for at in range(0, flat.size, _PART))


def _by_parts(values: Floats, work: Callable[[slice, Floats], _Result]) -> list[_Result]:
    """Work on each part of some values, of many in threads: NumPy works beside Python's lock."""
    if values.size <= _MANY:
        return list(starmap(work, _parts(values)))
    with ThreadPoolExecutor() as pool:
        return list(pool.map(work, *zip(*_parts(values), strict=True)))


def _stored(values: Floats, storage: Storage) -> tuple[Bits, int, int]:
    bits, clamped = _bits(values, storage), 0
    if (bits & _MAGNITUDE).max(initial=0) >= _exponent(storage):
        overflow = np.isfinite(values) & ((bits & _exponent(storage)) == _exponent(storage))
        bits = _bits(np.where(overflow, np.copysign(np.float32(storage.largest), values), values), storage)
        clamped = int(np.count_nonzero(overflow))
    flushed = np.count_nonzero(values) - np.count_nonzero(bits & _MAGNITUDE)
    return bits.astype("<u2", copy=False), clamped, int(flushed)


@dataclass(frozen=True, slots=True)
class AlteredConstant:
    """A constant that 16 bits change by more than rounding: how many of its values are clamped, and flushed to zero."""

    name: str
    values: int
    clamped: int
    flushed: int


@dataclass(frozen=True, slots=True)
class Constants:
    """The 16-bit copies by the name of the FP32 constant, made once for all probes, and the altered constants."""

    narrow: Mapping[str, TensorProto]
    altered: Mapping[str, AlteredConstant]
    streamed: Streamed
    """The bits of those copies that are streamed, by the name of the copy; dtype uint16."""


def convert_constants(
    tensors: Mapping[str, TensorProto], suffix: str, storage: Storage, streamed: Streamed
) -> Constants:
    """Convert FP32 constants; a copy is named after its constant and the suffix. Of streamed ones it is streamed."""
    narrow, altered, copies = {}, {}, {}
    with explained(tempfile.gettempdir()), tempfile.TemporaryFile() as file:
        for name, tensor in tensors.items():
            copy, dims = name + suffix, tuple(tensor.dims)
            if name in streamed:
                narrow[name] = reference(copy, storage.elem_type, dims)
                copies[copy], changed = _stored_apart(streamed[name], storage, file)
            else:
                bits, *changed = store(numpy_helper.to_array(tensor), storage)
                narrow[name] = TensorProto(name=copy, data_type=storage.elem_type, dims=dims, raw_data=bits.tobytes())
            if any(changed):
                altered[name] = AlteredConstant(name, prod(dims), *changed)
    return Constants(narrow, altered, copies)


def _stored_apart(values: Floats, storage: Storage, file: IO[bytes]) -> tuple[Bits, list[int]]:
    """Return a 16-bit copy, and how many values are clamped and flushed; of what is mapped, it is put behind a file."""
    # the file may be closed and without a name: what is mapped keeps it
    if not isinstance(values, np.memmap):
        stored, *changed = store(values, storage)
        return stored, changed
    begin, clamped, flushed = file.tell(), 0, 0
    for _, part in _parts(values):
        bits, more_clamped, more_flushed = _stored(part, storage)
        file.write(bits.tobytes())
        clamped, flushed = clamped + more_clamped, flushed + more_flushed
    file.flush()
    return np.memmap(file, "<u2", "r", begin, values.shape), [clamped, flushed]


def rounded(values: Floats, storage: Storage) -> Floats:
    """Round to the digits of the type, as if its exponent had no limits; what FP32 cannot hold is its largest value."""
    dropped = _FP32.nmant + 1 - storage.digits
    result = np.empty(values.size, np.float32)

    def round_part(place: slice, part: Floats) -> None:
        bits, into = part.view(np.uint32), result[place]
        nearest = bits + (((bits >> dropped) & 1) + np.uint32((1 << (dropped - 1)) - 1))
        np.bitwise_and(nearest, np.uint32(-1 << dropped & 0xFFFFFFFF), out=into.view(np.uint32))
        if not (np.isfinite(into).all() and np.isfinite(part).all()):  # a NaN may have become zero
            into[:] = np.where(np.isfinite(part), np.clip(into, -_FP32.max, _FP32.max), part)

    _by_parts(values, round_part)
    return result.reshape(values.shape)


def _exponent(storage: Storage) -> int:
    """Return the bits that are all set in infinities and NaN only."""
    return 0x7C00 if storage.digits == FP16.digits else 0x7F80


def _bits(values: Floats, storage: Storage) -> Bits:
    if storage.digits == FP16.digits:
        with np.errstate(over="ignore"):
            return values.astype(np.float16).view(np.uint16)
    wide = np.ascontiguousarray(values, np.float32).view(np.uint32)
    nearest = wide + (0x7FFF + ((wide >> 16) & 1))
    quiet = (wide >> 16) | 0x40
    return np.asarray(np.where(np.isnan(values), quiet, nearest >> 16), np.uint16)
