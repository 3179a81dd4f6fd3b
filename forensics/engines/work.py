"""How much a layer computes, where its operation tells it: convolutions, matrix products, pooling, attention.

What other layers compute is unknown: nothing in an engine says what is inside a ForeignNode, a plugin or a kernel that
TensorRT generated.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from trtforensics.engines.memory import channel_axis, element_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.model.log import EngineLayer, EngineTensor

_NUMBERS = re.compile(r"-?\d+")
_PRODUCTS = re.compile(r"MatrixMultiply|gemm|MatMul", re.IGNORECASE)
_ATTENTION = re.compile(r"attention|f?mha", re.IGNORECASE)
_MATRIX_RANK, _ATTENTION_RANK, _ATTENTION_INPUTS = 2, 4, 3


class Work(NamedTuple):
    """The arithmetic of one inference: multiply-accumulates, and floating-point or integer operations.

    A multiply-accumulate is two operations; pooling has none, and one operation for each element of its windows.
    """

    macs: int
    operations: int


def work_of(layer: EngineLayer, kind: str) -> Work | None:
    """Return what a layer of a kind (``Convolution``, ``Pooling``, …) computes; None where that is unknown."""
    if kind in {"Convolution", "Deconvolution", "ConvActPool"}:
        macs = _convolution(layer, kind)
    elif kind == "FullyConnected":
        macs = _dense(layer)
    elif kind == "Pooling":
        window, size = _numbers(layer.fields, "WindowSize"), _size(layer.outputs)
        return Work(0, size * prod(window)) if size is not None and window else None
    elif _ATTENTION.search(kind):
        macs = _attention(layer)
    elif _PRODUCTS.search(kind):
        macs = _matrix_product(layer)
    else:
        return None
    return None if macs is None else Work(macs, 2 * macs)


def _convolution(layer: EngineLayer, kind: str) -> int | None:
    prefix = "Conv" if kind == "ConvActPool" else ""
    kernel = _numbers(layer.fields, f"{prefix}Kernel")
    groups, maps = (_numbers(layer.fields, f"{prefix}{name}") for name in ("Groups", "OutMaps"))
    if not kernel or not groups or not maps or not layer.inputs or not layer.outputs or groups[0] < 1:
        return None
    axis = channel_axis(layer.inputs[0], len(kernel))
    channels = None if axis is None else layer.inputs[0].dims[axis]
    if not isinstance(channels, int):
        return None
    if kind == "Deconvolution":
        places, factor = _size(layer.inputs), maps[0]
    elif prefix:
        places, factor = _size_before_pooling(layer, kernel, maps[0]), channels
    else:
        places, factor = _size(layer.outputs), channels
    return None if places is None else places * factor * prod(kernel) // groups[0]


def _size_before_pooling(layer: EngineLayer, kernel: Sequence[int], maps: int) -> int | None:
    """Return how many elements a convolution makes whose pooling is fused into it, so that no tensor shows them."""
    read = (_numbers(layer.fields, f"Conv{name}") for name in ("PrePadding", "PostPadding", "Stride", "Dilation"))
    before, after, stride, dilation = read
    dims = [size for size in layer.inputs[0].dims if isinstance(size, int)]
    parts = (before, after, stride, dilation)
    if len(dims) != len(layer.inputs[0].dims) or any(len(part) != len(kernel) for part in parts):
        return None
    spatial = len(dims) - len(kernel)
    sizes = [
        (size + pre + post - wide * (taps - 1) - 1) // step + 1
        for size, pre, post, wide, taps, step in zip(
            dims[spatial:], before, after, dilation, kernel, stride, strict=True
        )
    ]
    made: int = prod((*dims[: spatial - 1], maps, *sizes))
    return made


def _dense(layer: EngineLayer) -> int | None:
    """Return the products of a FullyConnected layer: each output element reads all channels of its input's image."""
    made, maps, size = _size(layer.outputs), _numbers(layer.fields, "OutMaps"), _size(layer.inputs)
    if made is None or size is None or not maps or made % maps[0]:
        return None
    return size * maps[0]


def _matrix_product(layer: EngineLayer) -> int | None:
    """Return the products of two matrices whose transposition is unknown, where all readings agree on their number."""
    if len(layer.inputs) < _MATRIX_RANK or not layer.outputs:
        return None
    first, second, made = layer.inputs[0].dims, layer.inputs[1].dims, layer.outputs[0].dims
    if min(map(len, (first, second, made))) < _MATRIX_RANK:
        return None
    rows, columns = made[-2:]
    depths = {
        size
        for place, size in enumerate(first[-2:])
        for other, same in enumerate(second[-2:])
        if size == same and first[-2:][1 - place] == rows and second[-2:][1 - other] == columns
    }
    size = element_count(made)
    depth = depths.pop() if len(depths) == 1 else None
    return size * depth if size is not None and isinstance(depth, int) else None


def _attention(layer: EngineLayer) -> int | None:
    """Return the two products of an attention of queries, keys and values: ``[batch, heads, length, width]`` each."""
    if len(layer.inputs) < _ATTENTION_INPUTS:
        return None
    queries, keys, values = (tensor.dims for tensor in layer.inputs[:_ATTENTION_INPUTS])
    if any(len(dims) != _ATTENTION_RANK for dims in (queries, keys, values)) or keys[-2] != values[-2]:
        return None
    size, length, width = element_count(queries), keys[-2], values[-1]
    if size is None or queries[-1] != keys[-1] or not isinstance(length, int) or not isinstance(width, int):
        return None
    rows = prod(int(one) for one in queries[:-1])
    return size * length + rows * length * width


def _numbers(fields: Mapping[str, str], name: str) -> list[int]:
    return [int(number) for number in _NUMBERS.findall(fields.get(name, ""))]


def _size(tensors: Sequence[EngineTensor]) -> int | None:
    return element_count(tensors[0].dims) if tensors else None
