"""The typed model of what files hold of an engine: layers as TensorRT exports them, their times, a timing cache.

Layers are the :class:`~trtforensics.model.log.EngineLayer` of the logs, so that code for a log's engine dump takes
these too.
"""

from dataclasses import dataclass

from trtforensics.model.log import EngineLayer, MyelinOperation
from trtforensics.model.span import SourceInfo, SourceSpan
from trtforensics.model.timings import ProfileRun


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
    print ``Datatype`` and ``Format`` apart. ``profile`` holds the times that a file of another program states.
    """

    layers: tuple[EngineLayer, ...]
    io: tuple[IoTensor, ...]
    detailed: bool
    split_formats: bool
    span: SourceSpan
    profile: ProfileRun | None = None


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
class ProfileInfo:
    """A profile file (``--exportProfile``); a file that several runs were appended to holds several."""

    source: SourceInfo
    runs: tuple[ProfileRun, ...]
    repairs: tuple[Repair, ...] = ()


SCHEMA = 1
KIND = "timing-cache"


@dataclass(frozen=True, slots=True)
class TimingCache:
    """A timing-cache export: the keys of an editable timing cache (TensorRT >= 10.8).

    A key is an operation inside a ForeignNode, its value the tactic that the next build uses for it. TensorRT has no
    text form of it; a verbose log (``Autotuning op X(key: 0x…)``) and the binary cache are where it is found.
    ``made_from`` is the path of the log or the cache that it was read from.

    A key from a binary cache has no ``op`` (empty) and no candidates: only a log names them. Spans are of the file
    that was read: the export's own lines, or the log's.
    """

    source: SourceInfo
    made_from: str
    tensorrt_version: str | None
    keys: tuple[MyelinOperation, ...]
