"""How many bytes tensors and weights take, by their dimensions, types and formats."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from trtforensics.parsers.notation.formats import parse_formats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.model.log import EngineTensor
    from trtforensics.parsers.notation.formats import Format

_BITS = {
    **dict.fromkeys(("Double", "Int64", "UInt64", "FloatComplex"), 64),
    **dict.fromkeys(("Float", "FP32", "TF32", "Int32", "UInt32"), 32),
    **dict.fromkeys(("Half", "FP16", "BFloat16", "BF16", "Int16", "UInt16"), 16),
    **dict.fromkeys(("Int8", "INT8", "UInt8", "Bool", "BOOL", "FP8", "E8M0"), 8),
    **dict.fromkeys(("Int4", "INT4", "FP4"), 4),
    "DoubleComplex": 128,
}
_COUNTED = re.compile(r'"?Type"?: ?"?(\w+)"?, ?"?Count"?: ?(\d+)')
_KERNEL_WEIGHTS = ("Weights", "ConvWeights", "weights")
"""Of convolutions, of convolutions fused with a pooling, of constants."""
_OTHER_WEIGHTS = ("Bias", "ConvBias", "Shift", "Scale", "Power")
_SPATIAL = re.compile(r"with (\d) spatial dimensions|DHWC")
_OLD = re.compile(r"[0-7]\.")


def bits_of(dtype: str) -> int | None:
    """Return how many bits an element of a type takes; None for a type that is not known."""
    return _BITS.get(dtype)


def element_count(dims: Sequence[int | str]) -> int | None:
    """Return how many elements a tensor has; None where a dimension is dynamic or symbolic. A scalar has one."""
    sizes = [size for size in dims if isinstance(size, int) and size >= 0]
    return prod(sizes) if len(sizes) == len(dims) else None


def dense_bytes(tensor: EngineTensor) -> int | None:
    """Return the bytes of a tensor's elements, without padding; None where its size or its type is not known."""
    return _bytes(element_count(tensor.dims), tensor.dtype)


def stored_bytes(tensor: EngineTensor, tuned: str = "", version: str | None = None) -> int | None:
    """Return the bytes that a tensor takes in its format, padding included; None where that is unknown.

    ``tuned`` is the autotuner's format of the tensor (``Half(100352,50176:2,224,1)``); its strides count in packs.
    Without it, channels are padded to whole packs. TensorRT 7 prints strides in another order, so that they are not
    used for it.
    """
    known = parse_formats(tuned) if tuned and not _OLD.match(version or "") else None
    if known is not None and len(known) == 1 and element_count(tensor.dims) is not None:
        packed = _by_strides(tensor, known[0])
        if packed is not None:
            return _bytes(packed, tensor.dtype)
    return _bytes(element_count(_padded(tensor)), tensor.dtype)


def _bytes(elements: int | None, dtype: str) -> int | None:
    bits = bits_of(dtype)
    return None if elements is None or bits is None else (elements * bits + 7) // 8


def _by_strides(tensor: EngineTensor, known: Format) -> int | None:
    """Return the elements between a tensor's first and the end of its last pack; None where the strides do not fit."""
    strides = [stride for stride in known.strides if isinstance(stride, int)]
    if len(strides) != len(tensor.dims) or len(strides) != len(known.strides):
        return None
    sizes = [int(size) for size in tensor.dims]
    if known.vectorized_dim >= 0:
        place = known.vectorized_dim
        sizes[place] = -(-sizes[place] // known.components)
    whole = max((size * stride for size, stride in zip(sizes, strides, strict=True)), default=1)
    elements = whole * known.components
    dense = element_count(tensor.dims)
    return elements if dense is not None and elements >= dense else None


def _padded(tensor: EngineTensor) -> list[int | str]:
    """Return a tensor's dimensions with its channels padded to whole packs."""
    dims = list(tensor.dims)
    place = channel_axis(tensor)
    if tensor.components > 1 and place is not None:
        channels = dims[place]
        if isinstance(channels, int):
            dims[place] = -(-channels // tensor.components) * tensor.components
    return dims


def channel_axis(tensor: EngineTensor, spatial: int | None = None) -> int | None:
    """Return which dimension holds the channels: the one before the spatial ones, two unless the caller says otherwise.

    None where the tensor has too few dimensions.
    """
    if spatial is None:
        found = _SPATIAL.search(tensor.format)
        spatial = int(found[1] or 3) if found else 2
    place = len(tensor.dims) - spatial - 1
    return place if place >= 0 else None


def weights_bytes(fields: Mapping[str, str]) -> int | None:
    """Return the bytes of a layer's weights (of a constant: its values); None where their type is not known."""
    return _counted(fields, _KERNEL_WEIGHTS)


def bias_bytes(fields: Mapping[str, str]) -> int | None:
    """Return the bytes of a layer's bias, or of the shift, scale and power of a Scale layer."""
    return _counted(fields, _OTHER_WEIGHTS)


def _counted(fields: Mapping[str, str], names: Sequence[str]) -> int | None:
    found = [_COUNTED.search(fields[name]) for name in names if name in fields]
    sizes = [_bytes(int(one[2]), one[1]) for one in found if one and int(one[2])]
    return None if None in sizes else sum(size or 0 for size in sizes)
