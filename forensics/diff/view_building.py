"""Makes a build of the common form (``builds/views.py``) of a parsed source: one function for each kind of source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trtforensics.diff.builds import runs, tensor_views
from trtforensics.diff.builds.views import BuildView, LayerView
from trtforensics.model.operation import operation_of, operation_of_type
from trtforensics.parsers.notation.names import is_foreign_node, is_reformat
from trtforensics.sources.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.model.engine import EngineInfo, ProfileInfo
    from trtforensics.model.log import Build, BuildLog, CachedResult, Choice, EngineLayer, MyelinOperation
    from trtforensics.model.profile import LayerTime
    from trtforensics.model.replay import Replay
    from trtforensics.model.samples import InferenceTimes
    from trtforensics.model.timing_cache import TimingCache

_NO_RUNNER = {"Myelin"}
"""Types whose tactic is always 0 and says nothing of the kernels inside: ForeignNodes."""


def of_log(log: BuildLog) -> BuildView | None:
    """Return the last build with an engine dump, else the last with tuning or a profile, else the last with results.

    None where no build has any of them.
    """
    candidates = [b for b in log.builds if b.engine_layers or b.layer_names]
    candidates = candidates or [b for b in log.builds if _tells_of_layers(b)]
    candidates = candidates or [b for b in log.builds if runs.of_build(b).totals]
    if not candidates:
        return None
    build = candidates[-1]
    several = f"build {build.index + 1} of {len(log.builds)}" if len(log.builds) > 1 else ""
    layers, notes = _log_layers(build)
    chosen = [f for f in build.fusions if f.pass_index is None or build.passes[f.pass_index].chosen is not False]
    return BuildView(
        source=log.source.path,
        kind=Kind.BUILD_LOG,
        what=several,
        layers=layers,
        operations=_operations(_timed_by_myelin(build)),
        fusions=tuple(chosen) or None,
        tensorrt_version=build.tensorrt_version,
        notes=notes,
        run=runs.of_build(_timed_build(log, build)),
    )


def _tells_of_layers(build: Build) -> bool:
    return bool(build.choices or build.cached or build.timing_cache_keys or build.fusions or build.profiles)


def _timed_build(log: BuildLog, build: Build) -> Build:
    """Return the build itself where it was run, else the run of its engine that follows it in the log."""
    if runs.of_build(build).totals:
        return build
    for later in log.builds[build.index + 1 :]:
        if later.engine_layers or later.layer_names or _tells_of_layers(later):
            break
        if runs.of_build(later).totals:
            return later
    return build


def _log_layers(build: Build) -> tuple[tuple[LayerView, ...] | None, tuple[str, ...]]:
    dump = build.engine_layers
    if dump:
        return tuple(_dumped(build, layer) for layer in dump), ()
    if build.profile:
        return tuple(_profiled(row) for row in build.profile), (
            "it prints no engine layers: those of its profile count",
        )
    tuned = _tuned(build)
    undecided = sum(bool(layer.undecided) for layer in tuned)
    notes = ["it prints no engine layers: its layers are those that it tunes"] if tuned else []
    if undecided:
        notes.append(f"of {undecided} layers it tunes several combinations of formats and does not tell which won")
    return tuple(tuned) or None, tuple(notes)


def _dumped(build: Build, layer: EngineLayer) -> LayerView:
    """Make a layer of the engine dump; formats and times are those of the choice it came from, where known."""
    origin: Choice | CachedResult | None = None
    runner_up = None
    if layer.choice is not None:
        origin = build.choices[layer.choice]
        runner_up = build.choices[layer.choice].runner_up_ms
    elif layer.cached is not None:
        origin = build.cached[layer.cached]
    if origin is not None and origin.layer != layer.name and not is_reformat(layer.name):
        origin = runner_up = None  # a kernel of a ForeignNode: formats and time are those of the whole node
    tensors = tensor_views.of_engine(layer.inputs, layer.outputs)
    if origin is not None and (origin.inputs or origin.outputs):
        tensors = tensor_views.of_formats(origin.inputs, origin.outputs)
    return LayerView(
        name=layer.name,
        span=layer.span,
        runner=layer.type or None,
        runner_id=build.runner_ids.get(origin.runner) if origin is not None else None,
        tactic=None if layer.type in _NO_RUNNER else layer.tactic,
        kernel=layer.tactic_name or None,
        tensors=tensors,
        time_ms=origin.time_ms if origin is not None else None,
        runner_up_ms=runner_up,
        onnx_nodes=layer.onnx_nodes,
        reads=tuple(tensor.name for tensor in layer.inputs),
        writes=tuple(tensor.name for tensor in layer.outputs),
        operation=operation_of(layer),
        shape=tuple(tensor.dims for tensor in (*layer.inputs[:1], *layer.outputs)),
        **_measured(None if layer.profile is None else build.profile[layer.profile]),
    )


def _measured(row: LayerTime | None) -> dict[str, Any]:
    return {} if row is None else {"measured_ms": row.average_ms, "median_ms": row.median_ms, "time_span": row.span}


def _profiled(row: LayerTime) -> LayerView:
    """Make a layer of a profile's row, which tells its name and its time."""
    return LayerView(row.name, row.span, **_measured(row))


def _tuned(build: Build) -> list[LayerView]:
    """Make the layers of a log without an engine dump from the choices and cached results that may be final."""
    by_layer: dict[str, list[Choice | CachedResult]] = {}
    every: list[Choice | CachedResult] = [*build.choices, *build.cached]
    for one in sorted(every, key=lambda result: result.span.line):
        discarded = one.pass_index is not None and build.passes[one.pass_index].chosen is False
        if one.final is not False and not discarded:
            by_layer.setdefault(one.layer, []).append(one)
    return [_tuned_layer(build, layer, tuned) for layer, tuned in by_layer.items()]


def _tuned_layer(build: Build, name: str, tuned: list[Choice | CachedResult]) -> LayerView:
    """Make a layer of what was tuned for it; combinations that differ leave it undecided."""
    first = tuned[0]
    if any(_pinned(one) != _pinned(first) for one in tuned):
        return LayerView(name, first.span, undecided=True)
    return LayerView(
        name=name,
        span=first.span,
        runner=first.runner,
        runner_id=build.runner_ids.get(first.runner),
        tactic=None if first.runner in _NO_RUNNER else first.tactic,
        kernel=first.kernel or None,
        tensors=tensor_views.of_formats(first.inputs, first.outputs),
        time_ms=first.time_ms,
        runner_up_ms=getattr(first, "runner_up_ms", None),
        operation=operation_of_type(first.runner),
    )


def _pinned(one: Choice | CachedResult) -> tuple[int | None, str, tuple[str, ...], tuple[str, ...]]:
    return one.tactic, one.runner, one.inputs, one.outputs


def of_replay(replay: Replay) -> BuildView:
    """Return the layers that a replay pins, as a build."""
    layers = tuple(
        LayerView(
            name=entry.layer,
            span=entry.span,
            runner_id=entry.runner_id,
            tactic=entry.tactic,
            tensors=tensor_views.of_replay(entry.inputs, entry.outputs),
        )
        for entry in replay.entries
    )
    notes = [f"{len(replay.shadowed)} entries stand twice; the last of each counts"] if replay.shadowed else []
    notes += [f"{len(replay.problems)} problems in it: `trtforensics replay lint` tells"] if replay.problems else []
    what = f"form {replay.form}" if replay.form else ""
    return BuildView(replay.source.path, Kind.REPLAY, what, layers, notes=tuple(notes))


def of_engine_info(info: EngineInfo) -> tuple[BuildView, ...]:
    """Return the engines of an engine-layer file."""
    count = len(info.engines)
    repaired = (f"{len(info.repairs)} names in it are not escaped",) if info.repairs else ()
    return tuple(
        BuildView(
            source=info.source.path,
            kind=Kind.LAYER_INFO,
            what=f"document {number} of {count}" if count > 1 else "",
            layers=tuple(_engine_layer(layer) for layer in engine.layers),
            notes=repaired if engine.detailed else (*repaired, "it holds names only: built without detailed profiling"),
        )
        for number, engine in enumerate(info.engines, 1)
    )


def _engine_layer(layer: EngineLayer) -> LayerView:
    return LayerView(
        name=layer.name,
        span=layer.span,
        runner=layer.type or None,
        tactic=None if layer.type in _NO_RUNNER else layer.tactic,
        kernel=layer.tactic_name or None,
        tensors=tensor_views.of_engine(layer.inputs, layer.outputs),
        onnx_nodes=layer.onnx_nodes,
        reads=tuple(tensor.name for tensor in layer.inputs),
        writes=tuple(tensor.name for tensor in layer.outputs),
        operation=operation_of(layer),
        shape=tuple(tensor.dims for tensor in (*layer.inputs[:1], *layer.outputs)),
    )


def of_profile(profile: ProfileInfo) -> BuildView:
    """Return the layers of a profile file, of its last run."""
    count = len(profile.runs)
    what = f"run {count} of {count}" if count > 1 else ""
    return BuildView(profile.source.path, Kind.PROFILE, what, tuple(_profiled(row) for row in profile.runs[-1].layers))


def of_times(times: InferenceTimes) -> BuildView:
    """Return the times of the last run in a times file."""
    count = len(times.runs)
    what = f"run {count} of {count}" if count > 1 else ""
    return BuildView(times.source.path, Kind.TIMES, what, None, run=runs.of_samples(times.runs[-1]))


def of_timing_cache(cache: TimingCache) -> BuildView:
    """Return the operations of a timing cache."""
    what = f"made from {cache.made_from}" if cache.made_from and cache.made_from != cache.source.path else ""
    operations = _operations(cache.keys) or ()
    return BuildView(cache.source.path, Kind.TIMING_CACHE, what, None, operations, None, cache.tensorrt_version)


def _timed_by_myelin(build: Build) -> Iterable[MyelinOperation]:
    """Return the operations with a timing-cache key, and those without one that the engine's own choices contain."""
    used = (choice for choice in build.choices if choice.final and is_foreign_node(choice.layer))
    keyless = (operation for choice in used for operation in build.operations_of(choice) if not operation.key)
    return (*build.timing_cache_keys, *keyless)


def _operations(keys: Iterable[MyelinOperation]) -> tuple[LayerView, ...] | None:
    """Make views of operations, of each key the last.

    Without a ``selected`` line the first candidate counts as taken: TensorRT prints candidates sorted by cost.
    """
    found = {key.key or (key.foreign_node, key.op): _operation(key) for key in keys}
    return tuple(found.values()) or None


def _operation(key: MyelinOperation) -> LayerView:
    first = key.candidates[0] if key.candidates else None
    tactic = key.selected if key.selected is not None else first.tactic if first else None
    taken = next((one for one in key.candidates if one.tactic == tactic), None)
    others = [one.time_ms for one in key.candidates if one.tactic != tactic and one.time_ms is not None]
    return LayerView(
        name=key.op or key.key,
        span=key.span,
        tactic=tactic,
        kernel=taken.kernel if taken and taken.kernel else None,
        time_ms=key.time_ms if key.time_ms is not None else taken.time_ms if taken else None,
        runner_up_ms=min(others, default=None),
        key=key.key,
    )
