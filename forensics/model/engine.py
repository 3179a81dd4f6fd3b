"""The typed model of what TensorRT and trtexec export as JSON of a built engine: its layers, and how long each took.

Layers are the :class:`~trtforensics.model.log.EngineLayer` of the logs, so that whoever reads a log's engine dump reads
these too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import EngineLayer, SourceInfo
    from trtforensics.model.span import SourceSpan


@dataclass(frozen=True, slots=True)
class IoTensor:
    """An input or output of an engine. Up to TensorRT 10 (``Bindings``) only its name is known; the rest is empty.

    ``mode`` is ``Input`` or ``Output``.
    """

    name: str
    mode: str
    dtype: str
    dims: tuple[int | str, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Engine:
    """One document of an engine-layer file: what ``IEngineInspector`` says of one engine.

    ``detailed`` is False where the layers are names only (built without detailed profiling verbosity): then only
    ``name``, ``onnx_nodes`` and ``span`` of a layer say anything. ``split_formats`` tells TensorRT 11 and RTX, which
    print ``Datatype`` and ``Format`` apart.
    """

    layers: tuple[EngineLayer, ...]
    io: tuple[IoTensor, ...]
    detailed: bool
    split_formats: bool
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Repair:
    """A place where TensorRT wrote a name unescaped, so that the file is no JSON, and how it was mended."""

    span: SourceSpan
    what: str


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """An engine-layer file (``--exportLayerInfo``, ``get_engine_information(JSON)``); usually it holds one engine."""

    source: SourceInfo
    engines: tuple[Engine, ...]
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class LayerTime:
    """How long a layer took over a profiled run, in ms: in all, on average, in the median (TensorRT >= 8.2, else None).

    ``percentage`` is its share of the time of all layers.
    """

    name: str
    total_ms: float
    average_ms: float
    median_ms: float | None
    percentage: float
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class ProfileRun:
    """One document of a profile file: ``count`` iterations, and the layers in the engine's order."""

    count: int
    layers: tuple[LayerTime, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class ProfileInfo:
    """A profile file (``--exportProfile``); a file that several runs were appended to holds several."""

    source: SourceInfo
    runs: tuple[ProfileRun, ...]
    repairs: tuple[Repair, ...] = ()


def layer_times(engine: Engine, run: ProfileRun) -> tuple[LayerTime | None, ...]:
    """Return the time of each layer of an engine, None for a layer that was not timed.

    Layers join by name; of layers that share a name, the first takes the first time.
    """
    waiting: dict[str, list[LayerTime]] = {}
    for time in reversed(run.layers):
        waiting.setdefault(time.name, []).append(time)
    return tuple(times.pop() if (times := waiting.get(layer.name)) else None for layer in engine.layers)


def last_dump(layers: Sequence[EngineLayer]) -> tuple[EngineLayer, ...]:
    """Return the last complete dump among the engine layers of a build, in the log's order.

    A dump begins anew where, after a line that is no engine layer, the first layer of the dump
    comes again; a gap alone does not end one, because Polygraphy breaks a layer's line at each
    0x1E of its metadata. A dump that is shorter than another one was cut and is not complete.
    """
    dumps: list[list[EngineLayer]] = []
    previous = None
    for layer in layers:
        follows = previous is not None and layer.span.line == previous.span.line + 1
        if not dumps or (not follows and layer.name == dumps[-1][0].name):
            dumps.append([])
        dumps[-1].append(layer)
        previous = layer
    longest = max(map(len, dumps), default=0)
    return next((tuple(dump) for dump in reversed(dumps) if len(dump) == longest), ())
