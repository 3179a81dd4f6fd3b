"""How many bytes an engine layer holds and moves, how much it computes, and whether its channels suit tensor cores.

Bytes follow from dimensions, types and formats. What a layer computes is known where its operation tells it:
convolutions, matrix products, pooling, attention. Nothing in an engine says what is inside a ForeignNode, a plugin or a
kernel that TensorRT generated.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from trtforensics.model.data_types import HALVES, bits_of
from trtforensics.model.layer_types import ATTENTION, CONVOLUTIONS, MATRIX_PRODUCTS, NO_KERNEL, OPAQUE, REFORMATS
from trtforensics.model.log import EngineLayer, EngineTensor
from trtforensics.parsers.notation.formats import Format, parse_formats

_COUNTED = re.compile(r'"?Type"?: ?"?(\w+)"?, ?"?Count"?: ?(\d+)')
_KERNEL_WEIGHTS = ("Weights", "ConvWeights", "weights")
"""Of convolutions, of convolutions fused with a pooling, of constants."""
_OTHER_WEIGHTS = ("Bias", "ConvBias", "Shift", "Scale", "Power")
_SPATIAL = re.compile(r"with (\d) spatial dimensions|DHWC")
_OLD = re.compile(r"[0-7]\.")
_TENSOR_CORE_BYTES = 16
_ALIGNED_TYPES = HALVES | {"Int8", "FP8", "TF32"}


@dataclass(frozen=True, slots=True)
class TensorFacts:
    """A tensor at a layer: bytes of its elements, and with the padding of its format; None where they are unknown."""

    name: str
    dtype: str
    format: str
    dims: tuple[int | str, ...]
    bytes: int | None
    stored_bytes: int | None


@dataclass(frozen=True, slots=True)
class ChannelAlignment:
    """The channels of a product beside the multiple that tensor cores want of its type (16 bytes of elements)."""

    input_channels: int
    output_channels: int
    multiple: int

    @property
    def aligned(self) -> bool:
        """Whether both numbers of channels are multiples."""
        return self.input_channels % self.multiple == 0 and self.output_channels % self.multiple == 0


def tensor_facts(tensors: Sequence[EngineTensor], tuned: Sequence[str], version: str | None) -> tuple[TensorFacts, ...]:
    """Return tensors with their sizes; ``tuned`` are the autotuner's formats of them, if it printed any."""
    formats = tuned if len(tuned) == len(tensors) else [""] * len(tensors)
    return tuple(
        TensorFacts(
            tensor.name,
            tensor.dtype,
            tensor.format,
            tensor.dims,
            _bytes(element_count(tensor.dims), tensor.dtype),
            stored_bytes(tensor, text, version),
        )
        for tensor, text in zip(tensors, formats, strict=True)
    )


def element_count(dims: Sequence[int | str]) -> int | None:
    """Return how many elements a tensor has; None where a dimension is dynamic or symbolic. A scalar has one."""
    sizes = [size for size in dims if isinstance(size, int) and size >= 0]
    return prod(sizes) if len(sizes) == len(dims) else None


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
    """Return the dimension of channels, before the spatial ones (two unless stated); None where there are too few."""
    if spatial is None:
        stated = _SPATIAL.search(tensor.format)
        spatial = int(stated[1] or 3) if stated else 2
    place = len(tensor.dims) - spatial - 1
    return place if place >= 0 else None


def weights_bytes(layer: EngineLayer) -> int | None:
    """Return the bytes of a layer's weights (of a constant: its values); None where nothing tells them."""
    return _counted(layer, _KERNEL_WEIGHTS)


def bias_bytes(layer: EngineLayer) -> int | None:
    """Return the bytes of a layer's bias, or of the shift, scale and power of a Scale layer; None as for weights."""
    return _counted(layer, _OTHER_WEIGHTS)


def _counted(layer: EngineLayer, names: Sequence[str]) -> int | None:
    """Add the weights of these names; 0 tells nothing where a dump is not detailed or hides what is inside."""
    counts = [_COUNTED.search(layer.fields[name]) for name in names if name in layer.fields]
    sizes = [_bytes(int(count[2]), count[1]) for count in counts if count and int(count[2])]
    whole = None if None in sizes else sum(size or 0 for size in sizes)
    hidden = layer.type in OPAQUE or not (layer.fields or layer.type in REFORMATS or layer.type in NO_KERNEL)
    return None if hidden and not whole else whole


def alignment_of(layer: EngineLayer, kind: str) -> ChannelAlignment | None:
    """Return the channels of a convolution beside what tensor cores want; None where they could not run it.

    Depthwise and other grouped convolutions have too few channels a group for tensor cores; FP32 uses none, and a layer
    that is not known to compute in TF32 counts as FP32. A dump that is not detailed does not tell the groups.
    """
    precision = layer.compute_precision.type if layer.compute_precision else ""
    bits = bits_of(precision)
    groups = layer.fields.get("Groups") or layer.fields.get("ConvGroups")
    if kind not in CONVOLUTIONS or precision not in _ALIGNED_TYPES or not bits or groups != "1":
        return None
    kernel = layer.fields.get("Kernel") or layer.fields.get("ConvKernel") or ""
    spatial = kernel.count(",") + 1 if kernel else None
    channels = [_channels(tensors[0], spatial) if tensors else None for tensors in (layer.inputs, layer.outputs)]
    if channels[0] is None or channels[1] is None:
        return None
    return ChannelAlignment(channels[0], channels[1], _TENSOR_CORE_BYTES * 8 // bits)


def _channels(tensor: EngineTensor, spatial: int | None) -> int | None:
    axis = channel_axis(tensor, spatial)
    size = None if axis is None else tensor.dims[axis]
    return size if isinstance(size, int) else None


_NUMBERS = re.compile(r"-?\d+")
_MATRIX_RANK, _ATTENTION_RANK, _ATTENTION_INPUTS = 2, 4, 3


class Work(NamedTuple):
    """What an inference computes: a multiply-accumulate is two operations, an element of a pooling's window one."""

    macs: int
    operations: int


def work_of(layer: EngineLayer, kind: str) -> Work | None:
    """Return what a layer of a kind (``Convolution``, ``Pooling``, …) computes; None where that is unknown."""
    if kind in CONVOLUTIONS:
        macs = _convolution(layer, kind)
    elif kind == "FullyConnected":
        macs = _dense(layer)
    elif kind == "Pooling":
        window, size = _numbers(layer.fields, "WindowSize"), _size(layer.outputs)
        return Work(0, size * prod(window)) if size is not None and window else None
    elif ATTENTION.search(kind):
        macs = _attention(layer)
    elif MATRIX_PRODUCTS.search(kind):
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
    channels = _channels(layer.inputs[0], len(kernel))
    if channels is None:
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
    parts = [_numbers(layer.fields, f"Conv{name}") for name in ("PrePadding", "PostPadding", "Stride", "Dilation")]
    before, after, stride, dilation = parts
    dims = [size for size in layer.inputs[0].dims if isinstance(size, int)]
    if len(dims) != len(layer.inputs[0].dims) or any(len(part) != len(kernel) for part in parts):
        return None
    spatial = len(dims) - len(kernel)
    sizes = [
        (size + pre + post - wide * (taps - 1) - 1) // step + 1
        for size, pre, post, wide, taps, step in zip(
            dims[spatial:], before, after, dilation, kernel, stride, strict=True
        )
    ]
    return int(prod((*dims[: spatial - 1], maps, *sizes)))


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
    rows = prod(int(size) for size in queries[:-1])
    return size * length + rows * length * width


def _numbers(fields: Mapping[str, str], name: str) -> list[int]:
    return [int(number) for number in _NUMBERS.findall(fields.get(name, ""))]


def _size(tensors: Sequence[EngineTensor]) -> int | None:
    return element_count(tensors[0].dims) if tensors else None


def known_sum(values: Sequence[int | None]) -> int | None:
    """Add numbers; None where one of them is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
