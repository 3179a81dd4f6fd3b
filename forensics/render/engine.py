"""Engine-layer and profile files: the JSON document of ``parse --json``, schema 2, and the text of ``parse``.

docs/reference/commands/parse.md describes every field.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from trtforensics.console.terminal import visible
from trtforensics.model.engine import Engine, EngineInfo, ProfileInfo, Repair
from trtforensics.model.log import EngineLayer
from trtforensics.model.timings import LayerTime, TimeSource
from trtforensics.render.json_text import JsonObject, document_of, dumps
from trtforensics.sources.engine import EngineFiles

SCHEMA = 2

_SLOWEST = 10
_TYPES = 8


def to_json(files: EngineFiles) -> str:
    """Render the document in ASCII. Tactic ids are strings, durations milliseconds."""
    infos: tuple[EngineInfo | ProfileInfo, ...] = (*files.layers, *files.profiles)
    repairs = [repair for info in infos for repair in info.repairs]
    document = {
        "schema": SCHEMA,
        "kind": "engine",
        "sources": [document_of("source", info.source) for info in infos],
        "repairs": [document_of("repair", repair) for repair in repairs],
        "engines": [
            {**document_of("engine", engine), "layers": list(map(_layer, engine.layers, files.times(engine)))}
            for info in files.layers
            for engine in info.engines
        ],
        "profiles": [document_of("profile", run) for profile in files.profiles for run in profile.runs],
    }
    return f"{dumps(document, indent=1)}\n"


def _layer(layer: EngineLayer, time: LayerTime | None) -> JsonObject:
    return {
        **document_of("layer", layer),
        "time_ms": time.average_ms if time else None,
        "time_is": TimeSource.MEASURED.value if time else None,
        "line": layer.span.line,
    }


def summarise(files: EngineFiles) -> str:
    """Return the summary, without control characters from the files."""
    lines: list[str] = []
    for info in files.layers:
        for number, engine in enumerate(info.engines, 1):
            several = f", document {number} of {len(info.engines)}" if len(info.engines) > 1 else ""
            lines += [f"{info.source.path}: {len(engine.layers)} engine layers{several}", *_engine_lines(engine, files)]
        lines += _repairs(info.repairs)
    for profile in files.profiles:
        for number, run in enumerate(profile.runs, 1):
            several = f", run {number} of {len(profile.runs)}" if len(profile.runs) > 1 else ""
            times = "iteration" if run.iterations == 1 else "iterations"
            timed = f"{len(run.layers)} layers timed over {run.iterations} {times}"
            lines.append(f"{profile.source.path}: {timed}{several}")
            if not files.layers:
                slowest = sorted(run.layers, key=lambda layer: -layer.average_ms)[:_SLOWEST]
                lines += [f"  {_time(time)}  {time.name}  (line {time.span.line})" for time in slowest]
        lines += _repairs(profile.repairs)
    return "".join(f"{visible(line)}\n" for line in lines)


def _engine_lines(engine: Engine, files: EngineFiles) -> Iterator[str]:
    if not engine.detailed:
        yield "  names only: built without `--profilingVerbosity=detailed`"
    else:
        yield f"  types        {_tally(layer.type for layer in engine.layers)}"
        yield f"  computes in  {_tally(_computes(layer) for layer in engine.layers)}"
        yield f"  outputs      {_tally(', '.join(layer.output_types) or 'unknown' for layer in engine.layers)}"
        form = "TensorRT 11 or RTX" if engine.split_formats else "TensorRT 8.2 to 10"
        yield f"  form         {form}"
    timed = [(time, layer) for layer, time in zip(engine.layers, files.times(engine), strict=True) if time is not None]
    if files.profiles and not timed:
        yield "  times        none: the profiles are of an engine with other layers"
    for time, layer in sorted(timed, key=lambda pair: -pair[0].average_ms)[:_SLOWEST]:
        outputs = ", ".join(layer.output_types)
        yield f"  {_time(time)}  {layer.name}  {layer.type} {_computes(layer)} to {outputs}  (line {layer.span.line})"


def _computes(layer: EngineLayer) -> str:
    return "unknown" if layer.compute_precision is None else layer.compute_precision.type


def _time(time: LayerTime) -> str:
    return f"{time.average_ms:10.6f} ms {time.percentage:5.1f} %"


def _repairs(repairs: Iterable[Repair]) -> Iterator[str]:
    return (f"  line {repair.span.line}: {repair.what}" for repair in repairs)


def _tally(values: Iterable[str]) -> str:
    counts = Counter(values).most_common()
    shown = ", ".join(f"{count} {value}" for value, count in counts[:_TYPES])
    return shown + (f", {sum(count for _, count in counts[_TYPES:])} others" if len(counts) > _TYPES else "")
