"""The JSON document of engine-layer and profile files (``parse --json``), schema 2.

docs/reference/commands/parse.md describes every field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trtforensics.model.profile import TimeSource
from trtforensics.model.timings import tactic_text
from trtforensics.render.json_text import dumps, source_members

if TYPE_CHECKING:
    from trtforensics.model.data_types import ComputePrecision
    from trtforensics.model.engine import Engine, EngineInfo, ProfileInfo
    from trtforensics.model.log import EngineLayer, EngineTensor
    from trtforensics.model.profile import LayerTime, ProfileRun
    from trtforensics.sources.engine import EngineFiles

SCHEMA = 2

JsonObject = dict[str, Any]


def to_json(files: EngineFiles) -> str:
    """Render the document in ASCII."""
    return f"{dumps(document(files), indent=1)}\n"


def document(files: EngineFiles) -> JsonObject:
    """Return the files as an object for ``json.dump``. Tactic ids are strings, durations milliseconds."""
    infos: tuple[EngineInfo | ProfileInfo, ...] = (*files.layers, *files.profiles)
    repairs = [repair for info in infos for repair in info.repairs]
    return {
        "schema": SCHEMA,
        "kind": "engine",
        "sources": [source_members(info.source) for info in infos],
        "repairs": [{"path": repair.span.file, "line": repair.span.line, "what": repair.what} for repair in repairs],
        "engines": [_engine(engine, files) for info in files.layers for engine in info.engines],
        "profiles": [_run(run) for profile in files.profiles for run in profile.runs],
    }


def _engine(engine: Engine, files: EngineFiles) -> JsonObject:
    times = files.times(engine)
    return {
        "line": engine.span.line,
        "detailed": engine.detailed,
        "split_formats": engine.split_formats,
        "io": [
            {"name": tensor.name, "mode": tensor.mode or None, "dtype": tensor.dtype or None, "dims": list(tensor.dims)}
            for tensor in engine.io
        ],
        "layers": [_layer(layer, time) for layer, time in zip(engine.layers, times, strict=True)],
    }


def _layer(layer: EngineLayer, time: LayerTime | None) -> JsonObject:
    return {
        "name": layer.name,
        "type": layer.type or None,
        "tactic": tactic_text(layer.tactic),
        "tactic_name": layer.tactic_name or None,
        "output_types": list(layer.output_types),
        "compute_precision": _precision(layer.compute_precision),
        "onnx_nodes": list(layer.onnx_nodes),
        "inputs": [_tensor(tensor) for tensor in layer.inputs],
        "outputs": [_tensor(tensor) for tensor in layer.outputs],
        "fields": dict(layer.fields),
        "time_ms": time.average_ms if time else None,
        "time_is": TimeSource.MEASURED.value if time else None,
        "line": layer.span.line,
    }


def _precision(known: ComputePrecision | None) -> JsonObject | None:
    return None if known is None else {"type": known.type, "from": known.source.value}


def _tensor(tensor: EngineTensor) -> JsonObject:
    return {"name": tensor.name, "dtype": tensor.dtype, "dims": list(tensor.dims), "format": tensor.format or None}


def _run(run: ProfileRun) -> JsonObject:
    layers = [
        {
            "name": layer.name,
            "total_ms": layer.total_ms,
            "average_ms": layer.average_ms,
            "median_ms": layer.median_ms,
            "percentage": layer.percentage,
            "line": layer.span.line,
        }
        for layer in run.layers
    ]
    return {"count": run.iterations, "line": run.span.line, "layers": layers}
