"""Derives the facts of an engine's layers from a build and, where one is given, its ONNX model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.engines.alternatives import Alternatives
from trtforensics.engines.facts import ChannelAlignment, EngineFacts, LayerFacts, TensorFacts
from trtforensics.engines.membership import node_operators, nodes_of
from trtforensics.engines.memory import bias_bytes, bits_of, channel_axis, dense_bytes, stored_bytes, weights_bytes
from trtforensics.engines.neighbours import Neighbours
from trtforensics.engines.work import work_of
from trtforensics.model.operation import operation_of
from trtforensics.model.times import NO_KERNEL
from trtforensics.parsers.notation.names import is_reformat, members

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.engines.alternatives import Result
    from trtforensics.model.log import Build, EngineLayer, EngineTensor
    from trtforensics.sources.onnx_model import OnnxModel

_HOST = frozenset({"TrainStation", "signal", "wait", "shape_call", "ShapeHostToDevice", "DeviceToShapeHost"})
"""Types of layers that synchronise streams or run on the host."""
_REFORMATS = frozenset({"Reformat", "MyelinReformat"})
_OPAQUE = frozenset({"Myelin", "kgen", "gemm", "runtime_fusion", "PluginV2", "PluginV3", "Plugin"})
"""Types of layers whose weights no dump tells."""
_TENSOR_CORE_BYTES = 16
_ALIGNED_TYPES = frozenset({"Half", "BFloat16", "BF16", "Int8", "FP8", "TF32"})
_ALIGNED_KINDS = frozenset({"Convolution", "Deconvolution", "ConvActPool"})


def facts_of(build: Build, source: str, model: OnnxModel | None = None) -> EngineFacts:
    """Return the engine of a build with the facts of its layers. ``source`` names the build for people."""
    derivation = _Derivation(build, model)
    layers = tuple(derivation.layer(index) for index in range(len(build.engine_layers)))
    sizes = tuple(result for result in build.results if result.key.endswith(("_bytes", "_mib")))
    return EngineFacts(source, build, layers, sizes)


class _Derivation:
    """The tables of a build that facts of its layers are looked up in."""

    def __init__(self, build: Build, model: OnnxModel | None) -> None:
        self._build = build
        self._neighbours = Neighbours(build)
        self._origins = Alternatives(build)
        self._operators = node_operators(build, model)
        self._shares, self._medians = _shares(build), _medians(build)

    def layer(self, index: int) -> LayerFacts:
        """Return the facts of one layer, by its index in the engine."""
        layer = self._build.engine_layers[index]
        kind, origin = operation_of(layer), self._origins.origin(layer)
        own = None if origin is None or self._origins.inside(layer) or is_reformat(layer.name) else origin
        nodes = nodes_of(layer, self._operators)
        before, after = self._reformats(layer)
        return LayerFacts(
            index=index,
            layer=layer,
            kind=kind,
            inputs=self._tensors(layer.inputs, own.inputs if own else ()),
            outputs=self._tensors(layer.outputs, own.outputs if own else ()),
            share=self._shares.get(index),
            median_ms=self._medians.get(index),
            weights_bytes=_known_weights(layer, weights_bytes(layer.fields)),
            bias_bytes=_known_weights(layer, bias_bytes(layer.fields)),
            work=work_of(layer, kind),
            alignment=alignment_of(layer, kind),
            reformats_before=before,
            reformats_after=after,
            onnx_nodes=nodes,
            operators=tuple(self._operators[node] for node in nodes if self._operators.get(node)),
            block=block_of(nodes or members(layer.name)),
            choice=origin,
            runs_kernel=layer.type not in NO_KERNEL and layer.type not in _HOST,
        )

    def _tensors(self, tensors: Sequence[EngineTensor], formats: Sequence[str]) -> tuple[TensorFacts, ...]:
        tuned = formats if len(formats) == len(tensors) else [""] * len(tensors)
        version = self._build.tensorrt_version
        return tuple(
            TensorFacts(
                tensor.name,
                tensor.dtype,
                tensor.format,
                tensor.dims,
                dense_bytes(tensor),
                stored_bytes(tensor, text, version),
            )
            for tensor, text in zip(tensors, tuned, strict=True)
        )

    def _reformats(self, layer: EngineLayer) -> tuple[int, int]:
        producers, consumers = self._neighbours.producers(layer), self._neighbours.consumers(layer)
        sides = ({id(one.layer): one.layer for one in side if one.layer is not None} for side in (producers, consumers))
        before, after = (sum(other.type in _REFORMATS for other in side.values()) for side in sides)
        return before, after


def _known_weights(layer: EngineLayer, counted: int | None) -> int | None:
    """Return a layer's weights; None where its dump leaves them out: it is not detailed, or hides what is inside."""
    hidden = layer.type in _OPAQUE or not (layer.fields or layer.type in _REFORMATS or layer.type in NO_KERNEL)
    return None if hidden and not counted else counted


def alignment_of(layer: EngineLayer, kind: str) -> ChannelAlignment | None:
    """Return the channels of a convolution beside what tensor cores want; None where they could not run it.

    Depthwise and other grouped convolutions have too few channels a group for tensor cores; FP32 uses none, and a layer
    that is not known to compute in TF32 counts as FP32. A dump that is not detailed does not tell the groups.
    """
    precision = layer.compute_precision.type if layer.compute_precision else ""
    bits = bits_of(precision)
    groups = layer.fields.get("Groups") or layer.fields.get("ConvGroups")
    if kind not in _ALIGNED_KINDS or precision not in _ALIGNED_TYPES or not bits or groups != "1":
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


def block_of(names: Sequence[str]) -> str:
    """Return the path that names of ONNX nodes begin with, without the nodes themselves; empty where none.

    Parts of a path stand between ``/``, of a name without ``/`` between ``.``. A name without a path, such as that of
    a node that an exporter adds, does not count where others have one.
    """
    paths = [path for name in names if len(path := _path(name)) > 1]
    if not paths:
        return ""
    first, last = min(paths), max(paths)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return "/".join(first[:same])


def _path(name: str) -> list[str]:
    parts = name.split("/") if "/" in name else ["", *name.split(".")]
    return parts[:-1] if parts[0] == "" else ["", *parts[:-1]]


def _shares(build: Build) -> Mapping[int, float]:
    """Return each layer's part of the time: of a profile all of its rows, else of the times of all layers."""
    if build.profile:
        whole = sum(row.total_ms for row in build.profile)
        rows = [row for row in build.profile if row.engine_layer is not None]
        return {row.engine_layer: row.total_ms / whole for row in rows if row.engine_layer is not None and whole}
    known = {index: layer.time_ms for index, layer in enumerate(build.engine_layers) if layer.time_ms is not None}
    whole = sum(known.values()) + _foreign_ms(build)
    return {index: ms / whole for index, ms in known.items()} if whole else {}


def _foreign_ms(build: Build) -> float:
    """Return the tuned time of ForeignNodes whose kernels are the engine's layers: each was tuned as a whole."""
    origins = Alternatives(build)
    wholes: dict[int, Result] = {}
    for layer in build.engine_layers:
        origin = origins.origin(layer)
        if layer.time_ms is None and origin is not None:
            wholes[id(origin)] = origin
    return sum(one.time_ms or 0.0 for one in wholes.values())


def _medians(build: Build) -> Mapping[int, float]:
    rows = [row for row in build.profile if row.engine_layer is not None]
    return {
        row.engine_layer: row.median_ms for row in rows if row.engine_layer is not None and row.median_ms is not None
    }
